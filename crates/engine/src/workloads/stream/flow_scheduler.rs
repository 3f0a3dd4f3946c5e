//! Scheduling of a thread's flows: no socket here, and time is an argument.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lanlab_units::Instant;

use crate::messages::Receive;

/// Interval at which an idle flow gets a turn, to check for a stop.
const CHECK_NS: u64 = 10_000_000;
/// The interval grows with the number of flows, so that checks do not dominate the cost.
const CHECK_PER_FLOW_NS: u64 = 500_000;
const LONGEST_CHECK_NS: u64 = 100_000_000;
/// Up to this many flows, polling each is cheaper than asking which are ready.
const FEW_FLOWS: usize = 4;

fn check_interval_ns(flows: usize) -> u64 {
    (flows as u64 * CHECK_PER_FLOW_NS).clamp(CHECK_NS, LONGEST_CHECK_NS)
}

/// Whether a receiving thread has a single flow, which may block in the system call.
pub fn is_alone(flows: usize, receive: Receive) -> bool {
    flows == 1 && receive == Receive::Block
}

/// Whether a sending thread has a single flow, which may block in the system call.
pub fn waits_for_room(flows: usize) -> bool {
    flows == 1
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    None,
    Until(Instant),
    /// Wait for room to write, at most this many nanoseconds.
    ForRoom(u64),
}

/// The flows of a sending thread: queued by the time of their next turn, waiting for room, or ended.
#[derive(Debug)]
pub struct Agenda {
    queue: BinaryHeap<Reverse<(Instant, usize)>>,
    waiting: Vec<bool>,
    waiting_count: usize,
    left: usize,
    check_ns: u64,
    next_check: Instant,
}

impl Agenda {
    pub fn new(flows: usize, now: Instant) -> Self {
        let check_ns = check_interval_ns(flows);
        Self {
            queue: (0..flows).map(|flow| Reverse((Instant::ZERO, flow))).collect(),
            waiting: vec![false; flows],
            waiting_count: 0,
            left: flows,
            check_ns,
            next_check: now.plus_nanos(check_ns),
        }
    }

    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    pub fn pause(&self, now: Instant) -> Pause {
        let due = self.queue.peek().map_or(self.next_check, |Reverse((due, _))| *due);
        if self.waiting_count > 0 {
            Pause::ForRoom(due.min(self.next_check).nanos_since(now))
        } else if due > now {
            Pause::Until(due)
        } else {
            Pause::None
        }
    }

    pub fn has_room(&mut self, flow: usize, now: Instant) {
        if std::mem::take(&mut self.waiting[flow]) {
            self.waiting_count -= 1;
            self.queue.push(Reverse((now, flow)));
        }
    }

    /// Make all waiting flows due now and then, to check for a stop.
    pub fn check(&mut self, now: Instant) {
        if now >= self.next_check {
            self.next_check = now.plus_nanos(self.check_ns);
            for flow in 0..self.waiting.len() {
                self.has_room(flow, now);
            }
        }
    }

    /// The flow whose turn it is at `now`. Report the outcome with one of the following methods.
    pub fn due(&mut self, now: Instant) -> Option<usize> {
        let (due, flow) = self.queue.peek()?.0;
        if due > now {
            return None;
        }
        self.queue.pop();
        Some(flow)
    }

    pub fn queue(&mut self, flow: usize, at: Instant) {
        self.queue.push(Reverse((at, flow)));
    }

    pub fn wait_for_room(&mut self, flow: usize) {
        self.waiting[flow] = true;
        self.waiting_count += 1;
    }

    pub fn end(&mut self) {
        self.left -= 1;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    All,
    Ready(u64),
}

#[derive(Debug)]
pub struct Looks {
    receive: Receive,
    few: bool,
    check_ns: u64,
    next_check: Instant,
}

impl Looks {
    pub fn new(flows: usize, receive: Receive) -> Self {
        let few = flows <= FEW_FLOWS && receive != Receive::Block;
        Self { receive, few, check_ns: check_interval_ns(flows), next_check: Instant::ZERO }
    }

    pub fn watches(&self) -> bool {
        !self.few
    }

    pub fn sleeps(&self, is_drained: bool) -> bool {
        is_drained && self.receive == Receive::Poll
    }

    pub fn next(&mut self, now: Instant) -> Look {
        if self.few || now >= self.next_check {
            self.next_check = now.plus_nanos(self.check_ns);
            Look::All
        } else if self.receive == Receive::Block {
            Look::Ready(self.next_check.nanos_since(now))
        } else {
            Look::Ready(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(1_000_000 * ms)
    }

    #[test]
    fn many_flows_are_checked_less_often() {
        let ms = |flows| check_interval_ns(flows) / 1_000_000;
        assert_eq!([1, 20, 40, 200, 1_000].map(ms), [10, 10, 20, 100, 100]);
    }

    #[test]
    fn a_single_blocking_flow_waits_in_the_system_call() {
        let cases = [
            is_alone(1, Receive::Block),
            is_alone(2, Receive::Block),
            is_alone(1, Receive::Poll),
            is_alone(2, Receive::Spin),
        ];
        assert_eq!(cases, [true, false, false, false]);
        assert_eq!([waits_for_room(1), waits_for_room(2)], [true, false]);
    }

    #[test]
    fn the_earliest_due_flow_runs_first() {
        let mut agenda = Agenda::new(2, ms(100));
        assert_eq!(agenda.pause(ms(100)), Pause::None);
        assert_eq!([agenda.due(ms(100)), agenda.due(ms(100))], [Some(0), Some(1)]);
        agenda.queue(0, ms(107));
        agenda.queue(1, ms(105));
        assert_eq!(agenda.pause(ms(104)), Pause::Until(ms(105)));
        assert_eq!(agenda.due(ms(104)), None);
        // A flow on time is not early.
        assert_eq!(agenda.pause(ms(105)), Pause::None);
        assert_eq!([agenda.due(ms(105)), agenda.due(ms(106))], [Some(1), None]);
        assert_eq!(agenda.due(ms(120)), Some(0));
    }

    #[test]
    fn a_flow_waiting_for_room_delays_no_other() {
        let mut agenda = Agenda::new(3, ms(100));
        for flow in 0..3 {
            assert_eq!(agenda.due(ms(100)), Some(flow));
        }
        agenda.wait_for_room(0);
        agenda.wait_for_room(1);
        // The check is at 110 ms.
        assert_eq!(agenda.pause(ms(101)), Pause::ForRoom(9_000_000));
        agenda.queue(2, ms(104));
        assert_eq!(agenda.pause(ms(101)), Pause::ForRoom(3_000_000));
        assert_eq!(agenda.pause(ms(104)), Pause::ForRoom(0), "room is looked for all the same");
        agenda.has_room(1, ms(102));
        // The system may report this again.
        agenda.has_room(1, ms(102));
        assert_eq!([agenda.due(ms(102)), agenda.due(ms(102))], [Some(1), None]);
        agenda.queue(1, ms(109));
        assert_eq!(agenda.pause(ms(103)), Pause::ForRoom(1_000_000));
        agenda.has_room(0, ms(103));
        assert_eq!(agenda.due(ms(103)), Some(0));
        agenda.queue(0, ms(108));
        // No flow waits for room, so the next turn is exact to a microsecond.
        assert_eq!(agenda.pause(ms(103)), Pause::Until(ms(104)));
    }

    #[test]
    fn flows_waiting_for_room_are_polled_at_checks() {
        let mut agenda = Agenda::new(2, ms(100));
        assert_eq!([agenda.due(ms(100)), agenda.due(ms(100))], [Some(0), Some(1)]);
        agenda.wait_for_room(0);
        agenda.wait_for_room(1);
        agenda.check(ms(109));
        assert_eq!(agenda.due(ms(109)), None);
        agenda.check(ms(110));
        assert_eq!([agenda.due(ms(110)), agenda.due(ms(110))], [Some(0), Some(1)]);
        agenda.wait_for_room(0);
        agenda.check(ms(119));
        assert_eq!((agenda.due(ms(119)), agenda.pause(ms(119))), (None, Pause::ForRoom(1_000_000)));
        agenda.check(ms(121));
        assert_eq!(agenda.due(ms(121)), Some(0));
        // Without queued flows, only the periodic check is due.
        assert_eq!(agenda.pause(ms(121)), Pause::Until(ms(131)));
    }

    #[test]
    fn scheduling_ends_with_the_last_flow() {
        let mut agenda = Agenda::new(2, ms(0));
        agenda.end();
        assert!(!agenda.is_over());
        agenda.end();
        assert!(agenda.is_over());
    }

    #[test]
    fn few_nonblocking_flows_are_polled_individually() {
        let watches = |flows| {
            [Receive::Block, Receive::Poll, Receive::Spin]
                .map(|receive| Looks::new(flows, receive).watches())
        };
        assert_eq!((watches(2), watches(4)), ([true, false, false], [true, false, false]));
        assert_eq!(watches(5), [true; 3]);
        let mut few = Looks::new(4, Receive::Spin);
        assert_eq!([few.next(ms(100)), few.next(ms(101))], [Look::All; 2]);
    }

    #[test]
    fn many_flows_are_polled_when_ready_and_at_checks() {
        for (receive, longest_ns) in [(Receive::Block, 9_000_000), (Receive::Spin, 0)] {
            let mut looks = Looks::new(5, receive);
            assert_eq!(looks.next(ms(100)), Look::All);
            assert_eq!(looks.next(ms(101)), Look::Ready(longest_ns));
            assert_eq!([looks.next(ms(110)), looks.next(ms(120))], [Look::All; 2]);
        }
    }

    #[test]
    fn polling_threads_sleep_after_reading_everything() {
        let sleeps =
            |receive| [false, true].map(|is_drained| Looks::new(1, receive).sleeps(is_drained));
        assert_eq!(sleeps(Receive::Poll), [false, true]);
        assert_eq!([sleeps(Receive::Block), sleeps(Receive::Spin)], [[false; 2]; 2]);
    }
}
