//! What files cost on a simulated machine: hits, misses, reading ahead, writing behind, and one at a time.
#![cfg(feature = "services")]

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;

use lanlab_medium::{LossPlan, Plan, Topology};
use lanlab_sim::file_service::{DiskPlan, Order, Store, StoreFacts, StorePlan};
use lanlab_sim::programs::{HostNode, IpNode};
use lanlab_sim::{Bounds, Cost, Ended, Machine, World, WorldPlan};
use lanlab_stack::ip::TcpProfile;
use lanlab_units::Instant;

const MS: u64 = 1_000_000;
const BLOCK: u64 = 4096;
const FILE: u64 = 1;
const SIZE: u64 = 100 * BLOCK;

/// A disk that takes 1 ms for each access and nothing for bytes.
fn plan() -> StorePlan {
    let cost = Cost::ZERO;
    StorePlan {
        open: cost,
        read: cost,
        write: cost,
        close: cost,
        other: cost,
        overlaps: true,
        block_bytes: BLOCK as u32,
        cache_blocks: 0,
        is_cache_of_client: false,
        read_ahead_blocks: 0,
        write_behind_blocks: 0,
        write_behind_ns: 100 * MS,
        name_sectors: 0,
        change_sectors: 0,
        disk: DiskPlan {
            cylinders: 100,
            heads: 2,
            sectors_per_track: 100,
            interleave: 1,
            turn_ns: 0,
            seek_each_ns: 0,
            seek_per_root_ns: 0,
            overhead_ns: MS,
            per_byte_ps: 0,
            order: Order::FirstCome,
            verifies: false,
        },
    }
}

/// Use a store; gives how long that took, ms, and what the store has done.
fn used<F: Future<Output = ()> + 'static>(
    plan: StorePlan,
    using: impl FnOnce(Store) -> F,
) -> (f64, StoreFacts) {
    let medium = Plan {
        topology: Topology::Cable,
        rate_bps: Some(10_000_000),
        ports: 2,
        propagation_ns: 0,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 0,
    };
    let tcp = TcpProfile {
        mss_bytes: None,
        receive_buffer_bytes: 8192,
        send_buffer_bytes: 8192,
        delayed_ack_ns: None,
        nagle: true,
    };
    let machines = ["server", "client"].map(Machine::without_costs).to_vec();
    let node = |host, _| HostNode::of_ip(IpNode::new(host, 2, tcp, 1));
    let world = World::new(&WorldPlan { medium, machines }, 1, node).unwrap();
    let host = world.host(0);
    let store = Store::new(host.clone(), plan).unwrap();
    let ended_at = Rc::new(Cell::new(Instant::ZERO));
    let (at, clock, work) = (Rc::clone(&ended_at), host.clone(), using(store.clone()));
    host.spawn("user", async move {
        work.await;
        at.set(clock.now());
    });
    let far = Bounds { events: 1_000_000, until: Instant::from_nanos(10_000 * MS) };
    assert_eq!(world.run(&far), Ended::ProgramsDone);
    (ended_at.get().as_nanos() as f64 / MS as f64, store.facts())
}

#[test]
fn a_block_in_the_cache_is_not_read_again() {
    let cached = StorePlan { cache_blocks: 8, ..plan() };
    let (took_ms, facts) = used(cached, |store| async move {
        for _ in 0..3 {
            store.read(0, FILE, SIZE, 0, 2 * BLOCK).await;
        }
    });
    assert_eq!((took_ms, facts.hits, facts.misses, facts.disk.accesses), (2.0, 4, 2, 2));
    // Without a cache each is read each time.
    let (took_ms, facts) = used(plan(), |store| async move {
        for _ in 0..3 {
            store.read(0, FILE, SIZE, 0, 2 * BLOCK).await;
        }
    });
    assert_eq!((took_ms, facts.disk.accesses), (6.0, 6));
}

#[test]
fn clients_share_a_cache_or_have_their_own() {
    for (is_cache_of_client, accesses) in [(false, 1), (true, 2)] {
        let plan = StorePlan { cache_blocks: 8, is_cache_of_client, ..plan() };
        let (_, facts) = used(plan, |store| async move {
            store.read(1, FILE, SIZE, 0, 512).await;
            store.read(2, FILE, SIZE, 0, 512).await;
        });
        assert_eq!(facts.disk.accesses, accesses);
    }
}

#[test]
fn what_is_read_ahead_comes_while_the_client_does_something_else() {
    let ahead = StorePlan { cache_blocks: 32, read_ahead_blocks: 4, ..plan() };
    let (took_ms, facts) = used(ahead, |store| async move {
        for block in 0..20 {
            store.read(0, FILE, SIZE, block * BLOCK, BLOCK).await;
        }
    });
    assert!(facts.disk.accesses < 12, "{facts:?}");
    assert!(took_ms < 12.0, "{took_ms}");
    assert_eq!(facts.misses, 1);
}

#[test]
fn a_write_is_answered_from_the_disk_or_before() {
    let writing = |store: Store| async move {
        for block in 0..4 {
            store.write(0, FILE, block * BLOCK, BLOCK).await;
        }
    };
    let (took_ms, facts) = used(StorePlan { cache_blocks: 8, ..plan() }, writing);
    assert_eq!((took_ms, facts.disk.accesses, facts.dirty_blocks), (4.0, 4, 0));
    let behind = StorePlan { cache_blocks: 8, write_behind_blocks: 8, ..plan() };
    let (took_ms, facts) = used(behind, writing);
    assert_eq!((took_ms, facts.disk.accesses, facts.dirty_blocks), (0.0, 0, 4));
    // What does not wait longer than it may is on the disk, in one access.
    let (_, facts) = used(behind, |store| async move {
        writing(store.clone()).await;
        let host = store.host().clone();
        host.clock().sleep_until(Instant::from_nanos(150 * MS)).await;
    });
    assert_eq!((facts.disk.accesses, facts.disk.sectors, facts.dirty_blocks), (1, 32, 0));
}

#[test]
fn no_more_waits_than_may() {
    let behind = StorePlan { cache_blocks: 64, write_behind_blocks: 4, ..plan() };
    let (took_ms, facts) = used(behind, |store| async move {
        for block in 0..40 {
            store.write(0, FILE, block * BLOCK, BLOCK).await;
            assert!(store.facts().dirty_blocks <= 4);
        }
    });
    assert!(took_ms > 0.0 && facts.disk.accesses >= 4, "{took_ms} {facts:?}");
}

#[test]
fn what_is_flushed_is_on_the_disk_and_what_is_removed_never_is() {
    let behind = StorePlan { cache_blocks: 8, write_behind_blocks: 8, ..plan() };
    let (_, facts) = used(behind, |store| async move {
        store.write(0, FILE, 0, 2 * BLOCK).await;
        store.flush(0, FILE).await;
        store.write(0, 2, 0, 2 * BLOCK).await;
        store.forget(2);
    });
    assert_eq!((facts.disk.sectors, facts.dirty_blocks), (16, 0));
}

#[test]
fn a_part_of_a_block_is_written_in_whole_sectors() {
    let (_, facts) = used(plan(), |store| async move {
        store.write(0, FILE, 1_000, 100).await;
        store.write(0, FILE, BLOCK - 1, 2).await;
    });
    // Sectors 1 and 2; then the last of a block and the first of the next.
    assert_eq!(facts.disk.sectors, 2 + 2);
}

/// Two clients, each call 1 ms of the processor and 1 ms of the disk.
#[test]
fn a_server_that_overlaps_works_for_one_while_the_disk_does_for_the_other() {
    for (overlaps, expected_ms) in [(false, 8), (true, 5)] {
        let read = Cost { each_ns: MS, per_byte_ps: 0 };
        let plan = StorePlan { overlaps, read, ..plan() };
        let (took_ms, _) = used(plan, |store| async move {
            let reading = |store: Store, client: u32| async move {
                for block in 0..2 {
                    let _turn = store.turn().await;
                    store.read(client, FILE, SIZE, block * BLOCK, BLOCK).await;
                }
            };
            let host = store.host().clone();
            let other = host.spawn("other", reading(store.clone(), 2));
            reading(store, 1).await;
            other.await;
        });
        assert_eq!(took_ms.round() as u64, expected_ms, "overlaps: {overlaps}");
    }
}
