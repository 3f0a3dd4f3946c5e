//! Compares a disk with closed forms for seeks, rotation and queueing.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;

use lanlab_medium::Random;

use super::*;

const TURN_NS: u64 = 16_666_667;

/// A 20 MB disk of about 1985.
fn plan() -> SimulatedDisk {
    SimulatedDisk {
        cylinders: 615,
        heads: 4,
        sectors_per_track: 17,
        interleave: 1,
        turn_ns: TURN_NS,
        seek_each_ns: 15_000_000,
        seek_per_root_ns: 3_000_000,
        overhead_ns: 0,
        per_byte_ps: 0,
        elevator: false,
        verifies: false,
    }
}

fn one(sector: u64) -> Access {
    Access { sector, count: 1, is_write: false }
}

fn timed(
    plan: SimulatedDisk,
    pause_ns: u64,
    accesses: impl IntoIterator<Item = Access>,
) -> Vec<u64> {
    let time = VirtualTime::new();
    let disk = Disk::new(plan, time.clone());
    let (clock, accesses) = (time.clone(), Vec::from_iter(accesses));
    let work = async move {
        let mut took = Vec::new();
        for access in accesses {
            clock.sleep_ns(pause_ns).await;
            let began = clock.now();
            disk.access(access).await;
            took.push(clock.now().nanos_since(began));
        }
        took
    };
    time.run(work).unwrap()
}

fn mean(times: &[u64]) -> f64 {
    times.iter().map(|time| *time as f64).sum::<f64>() / times.len() as f64
}

#[track_caller]
fn assert_near(found: f64, expected: f64, ratio: f64) {
    assert!((found / expected - 1.0).abs() <= ratio, "found {found}, expected {expected}");
}

#[test]
fn disk_capacity_is_the_sum_of_its_sectors() {
    assert_eq!((plan().sectors(), plan().bytes()), (41_820, 21_411_840));
}

#[test]
fn random_accesses_take_mean_seek_plus_half_a_turn() {
    let plan = plan();
    let mut random = Random::new(1, 0);
    let sectors = plan.sectors();
    let accesses: Vec<_> =
        (0..200_000).map(|_| one((random.unit() * sectors as f64) as u64)).collect();
    let found = mean(&timed(plan, 0, accesses));
    // Two cylinders drawn uniformly from n are d apart with probability 2 (n − d) / n².
    let n = f64::from(plan.cylinders);
    let seek_ns: f64 = (1..plan.cylinders)
        .map(f64::from)
        .map(|d| {
            let ns = plan.seek_each_ns as f64 + plan.seek_per_root_ns as f64 * d.sqrt();
            2.0 * (n - d) / (n * n) * ns
        })
        .sum();
    let turn_ns = TURN_NS as f64;
    assert_near(found, seek_ns + turn_ns / 2.0 + turn_ns / 17.0, 0.005);
}

#[test]
fn a_late_processor_costs_a_turn_per_sector() {
    // Without a pause the next sector is under the head at once.
    let one_after_the_other = || (0..17).map(one);
    let in_time = timed(plan(), 0, one_after_the_other());
    assert_near(mean(&in_time), TURN_NS as f64 / 17.0, 0.001);
    // After a pause it has just passed, and the wait is a turn less the pause.
    let pause_ns = 300_000;
    let late = timed(plan(), pause_ns, one_after_the_other());
    assert_near(mean(&late[1..]), (TURN_NS - pause_ns) as f64 + TURN_NS as f64 / 17.0, 0.001);
    // With an interleave of 2, the next sector is one place further.
    let interleaved = SimulatedDisk { interleave: 2, ..plan() };
    let late = timed(interleaved, pause_ns, one_after_the_other());
    let places_ns = 2.0 * TURN_NS as f64 / 17.0;
    assert_near(mean(&late[1..8]), places_ns - pause_ns as f64, 0.001);
}

#[test]
fn a_track_takes_as_many_turns_as_its_interleave() {
    for (interleave, turns) in [(1, 1.0), (3, 3.0), (5, 5.0)] {
        let plan = SimulatedDisk { interleave, ..plan() };
        let track = Access { sector: 0, count: 17, is_write: false };
        // From the first place to the last sector, without the rest of the turn.
        let expected_ns =
            turns * TURN_NS as f64 - f64::from(interleave - 1) * TURN_NS as f64 / 17.0;
        assert_near(mean(&timed(plan, 0, [track])), expected_ns, 0.06);
    }
}

#[test]
fn every_sector_of_a_track_has_its_own_place() {
    for sectors in 1..=64 {
        for interleave in 1..=sectors {
            let mut places = places(sectors, interleave);
            assert_eq!(places[0], 0);
            places.sort_unstable();
            assert!(places.into_iter().eq(0..sectors));
        }
    }
}

#[test]
fn verification_reads_in_the_next_turn() {
    let write = Access { sector: 3, count: 1, is_write: true };
    let plain = timed(plan(), 0, [write])[0];
    let verified = timed(SimulatedDisk { verifies: true, ..plan() }, 0, [write])[0];
    assert_eq!(verified, plain + TURN_NS);
}

#[test]
fn a_ram_disk_takes_only_controller_time() {
    let memory = SimulatedDisk {
        turn_ns: 0,
        seek_each_ns: 1,
        overhead_ns: 1_000,
        per_byte_ps: 10_000,
        ..plan()
    };
    let took = timed(memory, 0, [Access { sector: 9_999, count: 2, is_write: true }]);
    assert_eq!(took, [1_000 + 2 * 512 * 10]);
}

/// The order in which accesses are served that arrive during one at cylinder 100.
fn served(elevator: bool, cylinders: &[u32]) -> Vec<u32> {
    let time = VirtualTime::new();
    let plan = SimulatedDisk { elevator, ..plan() };
    let disk = Disk::new(plan, time.clone());
    let done = Rc::new(RefCell::new(Vec::new()));
    let sector = |cylinder: u32| u64::from(cylinder) * 4 * 17;
    let tasks: Vec<_> = std::iter::once(&100)
        .chain(cylinders)
        .map(|cylinder| {
            let (disk, done, cylinder) = (disk.clone(), Rc::clone(&done), *cylinder);
            time.spawn(async move {
                disk.access(one(sector(cylinder))).await;
                done.borrow_mut().push(cylinder);
            })
        })
        .collect();
    time.run(async move {
        for task in tasks {
            task.await;
        }
    })
    .unwrap();
    done.take()
}

#[test]
fn the_elevator_keeps_direction_and_fifo_keeps_order() {
    let asked = [50, 300, 120, 50, 99];
    assert_eq!(served(false, &asked), [100, 50, 300, 120, 50, 99]);
    assert_eq!(served(true, &asked), [100, 120, 300, 99, 50, 50]);
}

#[test]
fn disk_waits_match_an_m_g_1_queue() {
    let turn_ns = TURN_NS as f64;
    // Sectors are small, because an access begins at the end of another, not at a random angle.
    let plan = SimulatedDisk { cylinders: 1, heads: 1, sectors_per_track: 1024, ..plan() };
    let time = VirtualTime::new();
    let disk = Disk::new(plan, time.clone());
    let (count, load) = (1_000_000_u64, 0.5);
    // A uniform wait of up to one turn, and one place of 1024.
    let service_ns = turn_ns / 2.0 + turn_ns / 1024.0;
    let second_moment = service_ns * service_ns + turn_ns * turn_ns / 12.0;
    let between_ns = service_ns / load;
    let (clock, arrivals) = (time.clone(), disk.clone());
    let left = Rc::new(Cell::new(count));
    let arriving = async move {
        let mut random = Random::new(7, 0);
        for _ in 0..count {
            clock.sleep_ns((-random.unit().max(1e-12).ln() * between_ns) as u64).await;
            let access = one((random.unit() * 1024.0) as u64);
            let (disk, left) = (arrivals.clone(), Rc::clone(&left));
            clock.spawn(async move {
                disk.access(access).await;
                left.set(left.get() - 1);
            });
        }
        while left.get() > 0 {
            clock.sleep_ns(1_000_000_000).await;
        }
    };
    time.run(arriving).unwrap();
    let facts = disk.facts();
    assert_eq!(facts.disk_accesses, count);
    assert_near(facts.disk_busy_ns as f64 / count as f64, service_ns, 0.005);
    let wait_ns = load / service_ns * second_moment / (2.0 * (1.0 - load));
    assert_near(facts.disk_waited_ns as f64 / count as f64, wait_ns, 0.005);
}

#[test]
fn the_times_of_a_disk_add_up() {
    let plan = plan();
    let time = VirtualTime::new();
    let disk = Disk::new(plan, time.clone());
    let (clock, used) = (time.clone(), disk.clone());
    let work = async move {
        for sector in [0, 5_000, 41_000, 3, 77] {
            used.access(Access { sector, count: 4, is_write: false }).await;
        }
        clock.now()
    };
    let end = time.run(work).unwrap();
    let facts = disk.facts();
    let counts = (facts.disk_accesses, facts.disk_sectors, facts.disk_waited_ns);
    assert_eq!(counts, (5, 20, 0));
    assert_eq!(facts.disk_busy_ns, end.as_nanos());
    let read_ns = facts.disk_busy_ns - facts.disk_seek_ns - facts.disk_rotation_ns;
    assert_near(read_ns as f64, 20.0 * TURN_NS as f64 / 17.0, 0.001);
}

#[test]
fn a_cancelled_access_makes_room_for_the_next() {
    let time = VirtualTime::new();
    let disk = Disk::new(plan(), time.clone());
    let (clock, used) = (time.clone(), disk.clone());
    let work = async move {
        let mut given_up = Box::pin(used.access(one(40_000)));
        let once = poll_fn(|context| {
            let _ = given_up.as_mut().poll(context);
            Poll::Ready(())
        });
        once.await;
        drop(given_up);
        used.access(one(0)).await;
        clock.now()
    };
    // The arm moves there and back.
    let end = time.run(work).unwrap();
    assert!(end.as_nanos() > 2 * 15_000_000, "{end:?}");
    assert_eq!(disk.facts().disk_accesses, 2);
}
