use std::cell::Cell;
use std::net::UdpSocket;

use lanlab_os::Interest;

use super::*;

struct Ticking {
    next: Instant,
    left: u32,
}

impl Flow for Ticking {
    type Shared = Vec<Instant>;

    fn turn(&mut self, now: Instant, turns: &mut Vec<Instant>) -> Result<Turn, Failure> {
        if self.left == 0 {
            return Ok(Turn::Over);
        }
        if now < self.next {
            return Ok(Turn::Wait { until: self.next, exact: true });
        }
        turns.push(self.next);
        self.left -= 1;
        self.next = self.next.plus_nanos(1_000_000);
        Ok(Turn::Again)
    }

    fn watch(&self, _: &Readiness, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn forget(&self, _: &Readiness) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn flows_are_returned_in_order() {
    assert_eq!(in_order(vec![vec![0, 3, 6], vec![1, 4], vec![2, 5]]), [0, 1, 2, 3, 4, 5, 6]);
    assert!(in_order(Vec::<Vec<u8>>::new()).is_empty());
}

#[test]
fn flows_of_one_thread_take_turns_by_their_schedules() {
    let start = os::monotonic();
    let mut flows: Vec<Ticking> = (0..4_u64)
        .map(|index| Ticking { next: start.plus_nanos(250_000 * index), left: 5 })
        .collect();
    let mut turns = Vec::new();
    drive_senders(&mut flows, &mut turns).unwrap();
    assert_eq!(turns.len(), 20);
    assert!(turns.is_sorted(), "{turns:?}");
}

/// Idles at each turn, then ends. Counts how often it was watched.
struct Idle {
    left: u32,
    watched: Cell<u32>,
    forgotten: Cell<u32>,
}

fn idle(turns: u32) -> Idle {
    Idle { left: turns, watched: Cell::new(0), forgotten: Cell::new(0) }
}

impl Flow for Idle {
    type Shared = Vec<Instant>;

    fn turn(&mut self, now: Instant, turns: &mut Vec<Instant>) -> Result<Turn, Failure> {
        if self.left == 0 {
            return Ok(Turn::Over);
        }
        turns.push(now);
        self.left -= 1;
        Ok(Turn::Blocked)
    }

    fn watch(&self, _: &Readiness, _: usize) -> io::Result<()> {
        self.watched.set(self.watched.get() + 1);
        Ok(())
    }

    fn forget(&self, _: &Readiness) -> io::Result<()> {
        self.forgotten.set(self.forgotten.get() + 1);
        Ok(())
    }
}

#[test]
fn many_flows_are_watched_by_epoll() {
    use Receive::{Block, Poll, Spin};
    let cases = [(1, Block, 0), (2, Block, 1), (1, Spin, 0), (4, Poll, 0), (5, Poll, 1)];
    for (count, receive, times) in cases {
        let mut flows: Vec<Idle> = (0..count).map(|_| idle(2)).collect();
        drive_receivers(&mut flows, &mut Vec::new(), receive).unwrap();
        for flow in &flows {
            let found = (flow.left, flow.watched.get(), flow.forgotten.get());
            assert_eq!(found, (0, times, times), "{count} flows, {receive:?}");
        }
    }
}

#[test]
fn polling_receivers_sleep_between_polls() {
    let mut turns = Vec::new();
    drive_receivers(&mut [idle(5)], &mut turns, Receive::Poll).unwrap();
    assert!(turns.windows(2).all(|pair| pair[1].nanos_since(pair[0]) >= POLL_NS), "{turns:?}");
}

#[test]
fn a_blocked_sender_is_watched_and_resumes() {
    let mut flows = [idle(2), idle(1)];
    let mut turns = Vec::new();
    drive_senders(&mut flows, &mut turns).unwrap();
    assert_eq!(flows.map(|flow| (flow.left, flow.watched.get())), [(0, 2), (0, 1)]);
    assert_eq!(turns.len(), 3);
}

/// A flow that always has data to read, and one that never has any and ends last. Each counts its
/// turns at its index.
struct Busy {
    index: usize,
    socket: UdpSocket,
}

const BUSY_TURNS: usize = 10_000;

impl Flow for Busy {
    type Shared = [usize; 2];

    fn turn(&mut self, _: Instant, turns: &mut [usize; 2]) -> Result<Turn, Failure> {
        let is_over = turns[0] == BUSY_TURNS;
        turns[self.index] += usize::from(!is_over);
        Ok(match self.index {
            _ if is_over => Turn::Over,
            0 => Turn::Again,
            _ => Turn::Blocked,
        })
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(&self.socket, key, Interest::Read)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(&self.socket)
    }
}

#[test]
fn ready_flows_are_polled_and_others_wait_for_a_check() {
    let flow = |index| Busy { index, socket: UdpSocket::bind("127.0.0.1:0").unwrap() };
    let mut flows = [flow(0), flow(1)];
    flows[1].socket.send_to(b"one", flows[0].socket.local_addr().unwrap()).unwrap();
    let mut turns = [0; 2];
    drive_receivers(&mut flows, &mut turns, Receive::Block).unwrap();
    // Checked every 16 turns, the idle one would have had 625.
    assert!(turns[0] == BUSY_TURNS && turns[1] < 100, "{turns:?}");
}

struct Reading(usize, Turn);

impl Flow for Reading {
    type Shared = ();

    fn turn(&mut self, _: Instant, (): &mut ()) -> Result<Turn, Failure> {
        if self.0 == 0 {
            return Ok(self.1);
        }
        self.0 -= 1;
        Ok(Turn::Again)
    }

    fn watch(&self, _: &Readiness, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn forget(&self, _: &Readiness) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_flow_gets_at_most_sixteen_turns_in_a_row() {
    let took = |turns, then| {
        let (mut flow, mut now) = (Reading(turns, then), Instant::ZERO);
        let took = take_turns(&mut flow, &mut now, &mut ()).unwrap();
        (took, flow.0, now > Instant::ZERO)
    };
    assert_eq!(took(0, Turn::Blocked), (Took::All, 0, false));
    assert_eq!(took(15, Turn::Blocked), (Took::All, 0, true));
    assert_eq!(took(16, Turn::Blocked), (Took::Part, 0, true));
    assert_eq!(took(20, Turn::Blocked), (Took::Part, 4, true));
    assert_eq!(took(3, Turn::Over), (Took::Over, 0, true));
}

#[test]
fn cpu_time_of_a_thread_counts_from_its_first_flow_to_its_last() {
    use super::super::tests::work_for;
    let total_ns = |usage: &ThreadUsage| usage.used.user_ns + usage.used.system_ns;
    let mut usage = ThreadUsage::default();
    usage.end();
    assert_eq!(total_ns(&usage), 0, "nothing was measured");
    usage.begin();
    work_for(20_000_000);
    usage.begin();
    work_for(20_000_000);
    usage.end();
    // The system counts in ticks.
    assert!(total_ns(&usage) >= 20_000_000, "{:?}", usage.used);
    let user_ns = usage.used.user_ns;
    usage.leave_out(1_000);
    assert_eq!(usage.used.user_ns, user_ns.saturating_sub(1_000));
    usage.leave_out(u64::MAX);
    assert_eq!(usage.used.user_ns, 0);
}
