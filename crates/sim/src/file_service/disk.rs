//! A disk: position of its arm, rotation, and waiting accesses.

use std::cell::RefCell;
use std::rc::Rc;

use lanlab_messages::{SECTOR_BYTES, SimulatedDisk, SimulatedStoreFacts};
use lanlab_units::{Clock as _, Instant};
use lanlab_workloads::virtual_time::VirtualTime;

use super::turns::{Order, Turns};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub sector: u64,
    pub count: u32,
    pub is_write: bool,
}

#[derive(Clone)]
pub struct Disk {
    state: Rc<RefCell<State>>,
    turns: Turns,
    time: VirtualTime,
}

struct State {
    plan: SimulatedDisk,
    places: Vec<u32>,
    cylinder: u32,
    free_at: Instant,
    facts: SimulatedStoreFacts,
}

impl Disk {
    /// A disk with its arm at the first cylinder.
    pub fn new(plan: SimulatedDisk, time: VirtualTime) -> Self {
        let state = State {
            places: places(plan.sectors_per_track, plan.interleave),
            plan,
            cylinder: 0,
            free_at: Instant::ZERO,
            facts: SimulatedStoreFacts::default(),
        };
        let turns = Turns::new(
            if plan.elevator { Order::Elevator } else { Order::FirstCome },
            time.clone(),
        );
        Self { state: Rc::new(RefCell::new(state)), turns, time }
    }

    pub fn facts(&self) -> SimulatedStoreFacts {
        self.state.borrow().facts
    }

    /// Read or write, in turn with others. If the future is dropped, an access that has started
    /// continues, and a waiting one is cancelled.
    pub async fn access(&self, access: Access) {
        let asked = self.time.now();
        let cylinder = cylinder_of(&self.state.borrow().plan, access.sector);
        let _turn = self.turns.take(cylinder, "its turn at the disk").await;
        let until = {
            let mut state = self.state.borrow_mut();
            let begins = self.time.now().max(state.free_at);
            state.facts.disk_waited_ns += begins.nanos_since(asked);
            state.free_at = state.work(begins, access);
            self.turns.move_to(state.cylinder);
            state.free_at
        };
        self.time.sleep_until(until).await;
    }
}

impl State {
    fn work(&mut self, now: Instant, access: Access) -> Instant {
        let Access { sector, count, is_write } = access;
        let plan = self.plan;
        let bytes_ns = u64::from(count) * SECTOR_BYTES * plan.per_byte_ps / 1000;
        let ready = now.plus_nanos(plan.overhead_ns);
        let mut at = ready;
        if plan.turn_ns > 0 {
            at = self.pass(at, sector, count);
            if is_write && plan.verifies {
                at = self.pass(at, sector, count);
            }
        }
        let end = at.max(ready.plus_nanos(bytes_ns));
        self.facts.disk_accesses += 1;
        self.facts.disk_sectors += u64::from(count);
        self.facts.disk_busy_ns += end.nanos_since(now);
        end
    }

    fn pass(&mut self, from: Instant, first: u64, count: u32) -> Instant {
        let mut at = from;
        let plan = self.plan;
        let of_track = u64::from(plan.sectors_per_track);
        for sector in first..first + u64::from(count) {
            at = self.seek(at, cylinder_of(&plan, sector));
            let place = u64::from(self.places[(sector % of_track) as usize]);
            let turned_ns = at.as_nanos() % plan.turn_ns;
            let [begins_ns, ends_ns] =
                [place, place + 1].map(|place| plan.turn_ns * place / of_track);
            let wait_ns = (begins_ns + plan.turn_ns - turned_ns) % plan.turn_ns;
            self.facts.disk_rotation_ns += wait_ns;
            at = at.plus_nanos(wait_ns + ends_ns - begins_ns);
        }
        at
    }

    fn seek(&mut self, at: Instant, cylinder: u32) -> Instant {
        let distance = self.cylinder.abs_diff(cylinder);
        if distance == 0 {
            return at;
        }
        self.cylinder = cylinder;
        let root_ns = self.plan.seek_per_root_ns as f64 * f64::from(distance).sqrt();
        let seek_ns = self.plan.seek_each_ns + root_ns.round() as u64;
        self.facts.disk_seek_ns += seek_ns;
        at.plus_nanos(seek_ns)
    }
}

fn cylinder_of(plan: &SimulatedDisk, sector: u64) -> u32 {
    let of_cylinder = u64::from(plan.heads) * u64::from(plan.sectors_per_track);
    ((sector / of_cylinder) % u64::from(plan.cylinders)) as u32
}

fn places(sectors: u32, interleave: u32) -> Vec<u32> {
    let mut is_taken = vec![false; sectors as usize];
    let mut place = 0;
    (0..sectors)
        .map(|_| {
            while is_taken[place as usize] {
                place = (place + 1) % sectors;
            }
            is_taken[place as usize] = true;
            let found = place;
            place = (place + interleave) % sectors;
            found
        })
        .collect()
}

#[cfg(test)]
mod tests;
