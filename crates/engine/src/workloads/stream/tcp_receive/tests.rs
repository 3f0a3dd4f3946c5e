//! A flow over a connection whose other end writes, is silent, or is gone.

use std::io::Write;
use std::thread;
use std::time::Duration;

use super::super::plan;
use super::super::tests::{assert_watched_until_forgotten, pair, plain, reset, running};
use super::*;
use crate::messages::{Amount, CpuTime, FlowReceived, ReceiverLoad, StreamSpec, Transport};

/// Longer than a thread of these tests waits for a processor.
const SILENCE_NS: u64 = 30_000_000_000;

fn of(change: impl Fn(&mut StreamSpec)) -> Plan {
    let mut spec = StreamSpec { silence_ns: SILENCE_NS, ..plain(Transport::Tcp) };
    change(&mut spec);
    plan(&spec).unwrap()
}

fn shared(plan: &Plan) -> Shared {
    Shared {
        buffer: vec![0; 1_000],
        usage: ThreadUsage::default(),
        receive_calls: 0,
        intervals: IntervalMeter::new(plan.interval_ns),
        applied_load: AppliedLoad::new(ReceiverLoad::default()).unwrap(),
    }
}

/// Repeat turns until one is not `Blocked`, as sent data may be in transit.
fn turn(receiver: &mut Receiver, shared: &mut Shared) -> Result<Turn, Failure> {
    for _ in 0..10_000 {
        match receiver.turn(os::monotonic(), shared) {
            Ok(Turn::Blocked) => thread::sleep(Duration::from_millis(1)),
            other => return other,
        }
    }
    panic!("nothing came in 10 s");
}

#[test]
fn every_byte_read_is_counted() {
    let plan = of(|s| s.amount = Amount::Messages(6));
    let (running, (near, mut far)) = (running(), pair());
    let mut shared = shared(&plan);
    let mut flow =
        Receiver::new(&plan, near, (false, Ends::ByTheSender), &running, os::monotonic());
    for (octets, messages) in [(250, 2), (300, 5), (50, 6)] {
        far.write_all(&vec![7; octets]).unwrap();
        assert_eq!(turn(&mut flow, &mut shared).unwrap(), Turn::Again);
        assert_eq!(running.progress.counted().0, messages);
    }
    assert_eq!((running.progress.counted(), shared.receive_calls), ((6, 600), 3));
    drop(far);
    assert_eq!(turn(&mut flow, &mut shared).unwrap(), Turn::Over);
    let received = flow.finish();
    assert_eq!((received.ended_by, received.total_bytes), (EndedBy::Finished, 600));
    assert_eq!((received.facts.window_bytes, received.facts.measured_messages), (600, 6));
    assert!(received.receive_buffer_bytes > 0);
    let intervals = IntervalMeter::merge(vec![shared.intervals], false);
    assert_eq!(intervals.bytes.iter().sum::<u64>(), 600);
}

fn ended_by(start: Instant, far: impl FnOnce(&Running, TcpStream) -> Option<TcpStream>) -> EndedBy {
    let (plan, running, (near, stream)) = (of(|_| ()), running(), pair());
    let mut receiver = Receiver::new(&plan, near, (false, Ends::ByTheSender), &running, start);
    let _kept = far(&running, stream);
    assert_eq!(turn(&mut receiver, &mut shared(&plan)).unwrap(), Turn::Over);
    receiver.ended_by
}

#[test]
fn a_flow_reports_why_it_ended() {
    let now = os::monotonic();
    let resets = |_: &Running, far| {
        reset(far);
        None
    };
    assert_eq!(ended_by(now, resets), EndedBy::PeerClosed);
    // The second is not over yet.
    assert_eq!(ended_by(now.plus_nanos(60_000_000_000), |_, _| None), EndedBy::PeerClosed);
    let cancels = |running: &Running, far| {
        running.cancel();
        Some(far)
    };
    assert_eq!(ended_by(now, cancels), EndedBy::Cancelled);
    let cancels_while_it_writes = |running: &Running, mut far: TcpStream| {
        running.cancel();
        far.write_all(b"octets").unwrap();
        Some(far)
    };
    assert_eq!(ended_by(now, cancels_while_it_writes), EndedBy::Cancelled);
}

#[test]
fn a_silent_sender_times_out() {
    let (plan, running, (near, _far)) = (of(|_| ()), running(), pair());
    let (start, mut shared) = (os::monotonic(), shared(&plan));
    let mut receiver = Receiver::new(&plan, near, (false, Ends::ByTheSender), &running, start);
    let last = start.plus_nanos(plan.tcp_silence_ns());
    assert_eq!(receiver.turn(last, &mut shared).unwrap(), Turn::Blocked);
    assert_eq!(receiver.turn(last.plus_nanos(1), &mut shared).unwrap(), Turn::Over);
    assert_eq!(receiver.ended_by, EndedBy::Silence);
}

#[test]
fn overlong_senders_and_other_errors_are_failures() {
    let (plan, running, (near, mut far)) = (of(|_| ()), running(), pair());
    let mut shared = shared(&plan);
    let mut receiver =
        Receiver::new(&plan, near, (false, Ends::ByTheSender), &running, os::monotonic());
    receiver.latest_end = Instant::ZERO;
    far.write_all(b"octets").unwrap();
    let failure = turn(&mut receiver, &mut shared).unwrap_err();
    assert_eq!(failure.code, "peer.too_long");
    let unconnected = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let stream = unconnected.unwrap().into();
    let mut receiver =
        Receiver::new(&plan, stream, (false, Ends::ByTheSender), &running, os::monotonic());
    assert!(receiver.turn(os::monotonic(), &mut shared).is_err());
}

#[test]
fn a_flow_with_bytes_is_watched_until_it_is_forgotten() {
    let (plan, running, (near, mut far)) = (of(|_| ()), running(), pair());
    far.write_all(b"octets").unwrap();
    let receiver =
        Receiver::new(&plan, near, (false, Ends::ByTheSender), &running, os::monotonic());
    assert_watched_until_forgotten(&receiver);
}

#[test]
fn bytes_of_all_flows_add_up_and_the_longest_window_counts() {
    let plan = of(|s| (s.read_bytes, s.flows) = (4_000, 2));
    let flow = |unit: u64, ended_by| ReceivedBytes {
        ended_by,
        total_bytes: 190 * unit,
        receive_buffer_bytes: 5_000 * unit,
        facts: FlowReceived {
            window_bytes: 170 * unit,
            window_ns: 3_000 * unit,
            measured_messages: unit,
            tcp: None,
        },
    };
    let threads = Threads {
        receive_calls: 77,
        intervals: vec![IntervalMeter::new(plan.interval_ns); 2],
        cpu: CpuTime::default(),
    };
    let flows = vec![flow(3, EndedBy::Finished), flow(1, EndedBy::Silence)];
    let all = sum_up_bytes(&plan, flows, threads, None);
    assert_eq!((all.ended_by, all.threads, all.receive_calls), (EndedBy::Silence, 2, 77));
    // 760 and 680 octets in messages of 100.
    assert_eq!((all.total_bytes, all.total_messages), (760, 7));
    assert_eq!((all.window_bytes, all.window_messages, all.measured_messages), (680, 6, 4));
    assert_eq!((all.window_ns, all.receive_buffer_bytes), (9_000, 15_000));
    assert_eq!((all.read_bytes, all.flows.len(), all.flows[1].window_bytes), (4_000, 2, 170));
    assert!(all.mark_seen && all.delay_variation.is_none() && all.one_way_delay.is_none());
}

#[test]
fn reception_ends_with_the_requested_amount() {
    for (amount, wanted) in [(Amount::Messages(3), 300), (Amount::Messages(2), 200)] {
        let plan = of(|s| s.amount = amount);
        let (running, (near, mut far)) = (running(), pair());
        let (start, mut shared) = (os::monotonic(), shared(&plan));
        let ends = (false, Ends::ByTheAmount);
        let mut receiver = Receiver::new(&plan, near, ends, &running, start);
        far.write_all(&vec![7; wanted - 1]).unwrap();
        assert_eq!(turn(&mut receiver, &mut shared).unwrap(), Turn::Again);
        far.write_all(&[7]).unwrap();
        assert_eq!(turn(&mut receiver, &mut shared).unwrap(), Turn::Over);
        assert_eq!(receiver.ended_by, EndedBy::Finished);
    }
    // The time is over, whether or not data arrives.
    let plan = of(|_| ());
    let (running, (near, _far)) = (running(), pair());
    let (start, mut shared) = (os::monotonic(), shared(&plan));
    let mut receiver = Receiver::new(&plan, near, (false, Ends::ByTheAmount), &running, start);
    receiver.counter.count(1, start.plus_nanos(999_000_000), &mut shared.intervals);
    assert_eq!(receiver.turn(start.plus_nanos(999_999_999), &mut shared).unwrap(), Turn::Blocked);
    assert_eq!(receiver.turn(start.plus_nanos(1_000_000_000), &mut shared).unwrap(), Turn::Over);
    assert_eq!(receiver.ended_by, EndedBy::Finished);
}

#[test]
fn a_peer_that_closes_after_its_own_amount_has_finished() {
    for (ends, ended_by) in
        [(Ends::ByTheAmount, EndedBy::Finished), (Ends::ByTheSender, EndedBy::PeerClosed)]
    {
        let plan = of(|_| ());
        let (running, (near, mut far)) = (running(), pair());
        let (start, mut shared) = (os::monotonic(), shared(&plan));
        let mut receiver = Receiver::new(&plan, near, (false, ends), &running, start);
        far.write_all(&[7; 250]).unwrap();
        assert_eq!(turn(&mut receiver, &mut shared).unwrap(), Turn::Again);
        drop(far);
        assert_eq!(turn(&mut receiver, &mut shared).unwrap(), Turn::Over);
        assert_eq!(receiver.ended_by, ended_by);
    }
}

#[test]
fn bytes_before_reception_are_outside_the_window() {
    let plan = of(|s| s.amount = Amount::Messages(6));
    let (running, (near, mut far)) = (running(), pair());
    let (start, mut shared) = (os::monotonic(), shared(&plan));
    far.write_all(&[7; 250]).unwrap();
    let mut waiting = 0;
    for _ in 0..10_000 {
        waiting = os::unread_bytes(&near).unwrap();
        if waiting == 250 {
            break;
        }
        // Sent data may be in transit, and nothing signals its arrival.
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(waiting, 250);
    let ends = (false, Ends::ByTheAmount);
    let mut flow = Receiver::new(&plan, near, ends, &running, start);
    flow.begin().unwrap();
    far.write_all(&[7; 350]).unwrap();
    while turn(&mut flow, &mut shared).unwrap() == Turn::Again {}
    let received = flow.finish();
    // The whole amount arrived, 350 bytes of it in the measured time.
    assert_eq!((received.ended_by, received.total_bytes), (EndedBy::Finished, 600));
    assert_eq!((received.facts.window_bytes, received.facts.measured_messages), (350, 3));
}
