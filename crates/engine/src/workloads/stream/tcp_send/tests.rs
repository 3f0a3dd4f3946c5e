//! A flow over a connection whose other end reads, does not read, or is gone. The test sets the
//! time.

use std::io::Read;
use std::thread;

use super::super::plan;
use super::super::tests::{assert_watched_until_forgotten, pair, plain, reset, running};
use super::*;
use crate::messages::{Amount, Io, Rate, StreamSpec, Transport};

const START: Instant = Instant::from_nanos(1_000_000_000);

fn of(change: impl Fn(&mut StreamSpec)) -> Plan {
    let mut spec = plain(Transport::Tcp);
    change(&mut spec);
    plan(&spec).unwrap()
}

fn shared(plan: &Plan) -> Shared {
    let message = (0..plan.message_bytes).map(|place| (place % 251) as u8).collect();
    let acknowledged = IntervalMeter::new(plan.interval_ns);
    Shared { message, meters: SharedMeters::default(), acknowledged }
}

fn begun<'a>(
    plan: &'a Plan,
    (stream, alone): (TcpStream, bool),
    running: &'a Running,
    shared: &mut Shared,
) -> Sender<'a> {
    let confirmed = Acknowledgements::new(Confirmation::ByClosing, &stream, plan, START);
    let mut sender = Sender::new(plan, 0, stream, (alone, confirmed), running, START);
    assert_eq!(sender.turn(START, shared).unwrap(), Turn::Again);
    assert!(sender.schedule.is_measuring());
    sender
}

fn after_ns(ns: u64) -> Instant {
    START.plus_nanos(ns)
}

#[test]
fn a_single_flow_writes_sixteen_small_messages_per_turn() {
    for (alone, messages) in [(true, 16), (false, 1)] {
        let (plan, running, (near, mut far)) = (of(|_| ()), running(), pair());
        let mut shared = shared(&plan);
        let mut sender = begun(&plan, (near, alone), &running, &mut shared);
        assert_eq!(sender.turn(START, &mut shared).unwrap(), Turn::Again);
        let sent = sender.finish().0;
        assert_eq!((sent.total_messages, sent.sent_messages), (messages, messages));
        assert_eq!(running.progress.counted(), (messages, 100 * messages));
        assert!(sent.send_buffer_bytes > 0);
        assert!(sent.tcp.is_some());
        let mut octets = Vec::new();
        far.read_to_end(&mut octets).unwrap();
        assert_eq!(octets, shared.message.repeat(messages as usize));
    }
}

#[test]
fn a_single_flow_sends_a_batch_in_one_call() {
    // With several flows, none may block: each writes one message per turn.
    for (alone, turns) in [(true, 1), (false, 64)] {
        let (plan, running, (near, mut far)) = (of(|s| s.io = Io::Batch), running(), pair());
        let mut shared = shared(&plan);
        let mut sender = begun(&plan, (near, alone), &running, &mut shared);
        for turn in 1..=turns {
            assert_eq!(sender.schedule.sent.total_messages, 0, "before turn {turn}");
            assert_eq!(sender.turn(START, &mut shared).unwrap(), Turn::Again);
        }
        assert_eq!(sender.schedule.sent.total_messages, 64);
        drop(sender);
        let mut octets = Vec::new();
        far.read_to_end(&mut octets).unwrap();
        assert_eq!(octets, shared.message.repeat(64));
    }
}

#[test]
fn partially_written_messages_arrive_whole() {
    for (io, alone) in
        [(Io::Single, true), (Io::Single, false), (Io::Batch, true), (Io::Batch, false)]
    {
        let plan = of(|s| {
            (s.io, s.message_size_bytes, s.amount) = (io, 300_007, Amount::Messages(3));
        });
        let (running, (near, mut far)) = (running(), pair());
        socket2::SockRef::from(&near).set_send_buffer_size(16_384).unwrap();
        near.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
        far.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut shared = shared(&plan);
        let mut sender = begun(&plan, (near, alone), &running, &mut shared);
        let reader = thread::spawn(move || {
            let mut octets = Vec::new();
            far.read_to_end(&mut octets).unwrap();
            octets
        });
        let mut now = START;
        for _ in 0..20_000 {
            // Shorter than the silence in total.
            now = now.plus_nanos(1_000);
            match sender.turn(now, &mut shared).unwrap() {
                Turn::Again => {}
                Turn::Over => break,
                _ => thread::sleep(Duration::from_millis(1)),
            }
        }
        let sent = sender.finish().0;
        assert_eq!((sent.total_messages, sent.ended_by), (3, EndedBy::Finished), "{io:?} {alone}");
        assert!(reader.join().unwrap() == shared.message.repeat(3), "{io:?} {alone}");
    }
}

fn blocked(sender: &mut Sender, now: Instant, shared: &mut Shared) -> Turn {
    sender.writing = Some((1, START, 100));
    sender.take(Err(io::ErrorKind::WouldBlock.into()), now, shared).unwrap()
}

#[test]
fn blocked_time_is_counted() {
    let (plan, running, (near, _far)) = (of(|_| ()), running(), pair());
    let mut shared = shared(&plan);
    let mut sender = begun(&plan, (near, true), &running, &mut shared);
    assert_eq!(blocked(&mut sender, after_ns(2_000_000), &mut shared), Turn::Blocked);
    assert_eq!(sender.turn(after_ns(5_000_000), &mut shared).unwrap(), Turn::Again);
    assert_eq!(sender.turn(after_ns(6_000_000), &mut shared).unwrap(), Turn::Again);
    assert_eq!(sender.finish().0.blocked_ns, 3_000_000);
}

#[test]
fn a_receiver_that_acknowledges_nothing_for_too_long_is_silent() {
    let (plan, running, (near, _far)) = (of(|_| ()), running(), pair());
    let mut shared = shared(&plan);
    let mut sender = begun(&plan, (near, true), &running, &mut shared);
    assert_eq!(sender.turn(START, &mut shared).unwrap(), Turn::Again);
    sender.acknowledged_bytes = 1;
    let began = os::monotonic();
    while os::tcp_info(&sender.stream).unwrap().facts.acknowledged_bytes <= 1 {
        assert!(os::monotonic().nanos_since(began) < 10_000_000_000, "nothing is acknowledged");
    }
    // Bytes acknowledged since the last check are progress, however long ago that was.
    let seen = after_ns(500_000_000);
    assert!(!sender.is_quiet(seen));
    sender.acknowledged_bytes = u64::MAX;
    let last = seen.plus_nanos(plan.tcp_silence_ns());
    assert_eq!(blocked(&mut sender, last, &mut shared), Turn::Blocked);
    assert_eq!(blocked(&mut sender, last.plus_nanos(1), &mut shared), Turn::Over);
    assert_eq!(sender.schedule.sent.ended_by, EndedBy::Silence);
    assert_eq!(sender.turn(last, &mut shared).unwrap(), Turn::Over);
}

#[test]
fn the_same_acknowledgement_is_no_progress() {
    let (plan, running, (near, _far)) = (of(|_| ()), running(), pair());
    let mut sender = begun(&plan, (near, false), &running, &mut shared(&plan));
    sender.acknowledged_bytes =
        os::tcp_info(&sender.stream).map_or(0, |i| i.facts.acknowledged_bytes);
    let last_ns = plan.tcp_silence_ns();
    assert!(!sender.is_quiet(after_ns(last_ns)));
    assert!(sender.is_quiet(after_ns(last_ns + 1)));
    assert_eq!(sender.last_progress, START);
}

#[test]
fn blocked_and_running_flows_notice_a_stop() {
    let (plan, running, (near, _far)) = (of(|_| ()), running(), pair());
    let mut shared = shared(&plan);
    let mut sender = begun(&plan, (near, true), &running, &mut shared);
    running.cancel();
    // The sender checks every 10 ms.
    assert_eq!(sender.turn(after_ns(9_999_999), &mut shared).unwrap(), Turn::Again);
    assert_eq!(sender.turn(after_ns(10_000_000), &mut shared).unwrap(), Turn::Over);
    let sent = sender.finish().0;
    assert_eq!((sent.ended_by, sent.elapsed_ns), (EndedBy::Cancelled, 10_000_000));
    // A blocked sender checks at once.
    let (near, _far) = pair();
    let mut sender = begun(&plan, (near, true), &running, &mut shared);
    assert_eq!(blocked(&mut sender, after_ns(1), &mut shared), Turn::Over);
    assert_eq!(sender.finish().0.ended_by, EndedBy::Cancelled);
}

#[test]
fn an_overlong_flow_is_a_failure() {
    let turn_after = |ns: u64| {
        let (plan, running, (near, _far)) = (of(|_| ()), running(), pair());
        let mut shared = shared(&plan);
        let mut sender = begun(&plan, (near, true), &running, &mut shared);
        let now = plan.latest_end(START).plus_nanos(ns);
        sender.turn(now, &mut shared).map_err(|failure| failure.code)
    };
    assert_eq!([turn_after(0), turn_after(1)], [Ok(Turn::Again), Err("peer.too_long")]);
}

#[test]
fn a_flow_waiting_for_its_slot_checks_for_cancellation() {
    let wait_ns = |rate| {
        let plan = of(|s| s.rate = Some(Rate::MessagesPerS(rate)));
        let (running, (near, _far)) = (running(), pair());
        let mut shared = shared(&plan);
        let mut sender = begun(&plan, (near, true), &running, &mut shared);
        assert_eq!(sender.turn(START, &mut shared).unwrap(), Turn::Again);
        match sender.turn(START, &mut shared).unwrap() {
            Turn::Wait { until, exact } => (until.nanos_since(START), exact),
            turn => panic!("{turn:?}"),
        }
    };
    assert_eq!(wait_ns(1_000.0), (1_000_000, true));
    assert_eq!(wait_ns(100.0), (10_000_000, true), "its slot is at the look");
    assert_eq!(wait_ns(10.0), (10_000_000, false));
}

#[test]
fn a_reset_ends_the_flow_and_any_other_error_is_a_failure() {
    let (plan, running) = (of(|_| ()), running());
    let mut shared = shared(&plan);
    let (near, far) = pair();
    let mut sender = begun(&plan, (near, true), &running, &mut shared);
    reset(far);
    let mut turns = (0..1_000).map(|_| sender.turn(START, &mut shared).unwrap());
    assert_eq!(turns.find(|turn| *turn != Turn::Again), Some(Turn::Over));
    assert_eq!(sender.finish().0.ended_by, EndedBy::PeerClosed);

    let (near, _far) = pair();
    let mut sender = begun(&plan, (near, true), &running, &mut shared);
    sender.writing = Some((1, START, 100));
    let denied = io::ErrorKind::PermissionDenied.into();
    assert!(sender.take(Err(denied), START, &mut shared).is_err());
    assert_eq!(sender.take(Ok(0), START, &mut shared).unwrap(), Turn::Over);
    assert_eq!(sender.finish().0.ended_by, EndedBy::PeerClosed);
}

fn with_draining(then: impl FnOnce(Sender, &Plan, &Running, TcpStream)) {
    let (plan, running, (near, far)) = (of(|_| ()), running(), pair());
    let mut shared = shared(&plan);
    let mut sender = begun(&plan, (near, true), &running, &mut shared);
    // The second is over.
    assert_eq!(sender.turn(after_ns(1_000_000_000), &mut shared).unwrap(), Turn::Again);
    assert!(sender.phase == Phase::Draining && sender.last_progress == after_ns(1_000_000_000));
    sender.acknowledged_bytes = u64::MAX;
    then(sender, &plan, &running, far);
}

fn drained_by(far: impl FnOnce(TcpStream, &Running) -> Option<TcpStream>) -> EndedBy {
    let mut ended_by = None;
    with_draining(|mut sender, _, running, stream| {
        let _kept = far(stream, running);
        let began = os::monotonic();
        while sender.drain(after_ns(1_000_000_000)) != Turn::Over {
            assert!(os::monotonic().nanos_since(began) < 10_000_000_000, "it does not end");
        }
        ended_by = Some(sender.finish().0.ended_by);
    });
    ended_by.unwrap()
}

#[test]
fn a_closed_receiver_has_received_everything() {
    assert_eq!(drained_by(|_, _| None), EndedBy::Finished);
    let talks = |mut far: TcpStream, _: &Running| {
        far.write_all(b"what").unwrap();
        Some(far)
    };
    assert_eq!(drained_by(talks), EndedBy::Unconfirmed);
    let resets = |far, _: &Running| {
        reset(far);
        None
    };
    assert_eq!(drained_by(resets), EndedBy::PeerClosed);
    let is_cancelled = |far, running: &Running| {
        running.cancel();
        Some(far)
    };
    assert_eq!(drained_by(is_cancelled), EndedBy::Cancelled);
}

#[test]
fn waiting_for_the_receiver_to_close_is_bounded() {
    with_draining(|mut sender, plan, _, _far| {
        let quiet_at = after_ns(1_000_000_000 + plan.tcp_silence_ns());
        let again = Turn::Wait { until: quiet_at.plus_nanos(500_000), exact: false };
        assert_eq!(sender.drain(quiet_at), again);
        assert_eq!(sender.drain(quiet_at.plus_nanos(1)), Turn::Over);
        assert_eq!(sender.finish().0.ended_by, EndedBy::Unconfirmed);
    });
    with_draining(|mut sender, plan, _, _far| {
        let end = plan.latest_end(START);
        // The peer has accepted data all along.
        sender.last_progress = end;
        assert_eq!(sender.drain(end), Turn::Wait { until: end.plus_nanos(500_000), exact: false });
        assert_eq!(sender.drain(end.plus_nanos(1)), Turn::Over);
        assert_eq!(sender.finish().0.ended_by, EndedBy::Unconfirmed);
    });
}

#[test]
fn a_flow_with_room_is_watched_until_it_is_forgotten() {
    let (plan, running, (near, _far)) = (of(|_| ()), running(), pair());
    assert_watched_until_forgotten(&begun(&plan, (near, false), &running, &mut shared(&plan)));
}

fn by(closes: bool) -> Confirmation {
    Confirmation::ByAcknowledgement { closes }
}

fn to_a_peer(far_does: impl FnOnce(TcpStream) -> Option<TcpStream>) -> (EndedBy, AcknowledgedFlow) {
    let plan = of(|s| (s.amount, s.silence_ns) = (Amount::Messages(3), 10_000_000_000));
    let (running, (near, far)) = (running(), pair());
    let confirmed = Acknowledgements::new(by(true), &near, &plan, START);
    let mut shared = shared(&plan);
    let mut sender = Sender::new(&plan, 0, near, (false, confirmed), &running, START);
    while sender.phase == Phase::Sending {
        sender.turn(START, &mut shared).unwrap();
    }
    let _kept = far_does(far);
    let began = os::monotonic();
    while sender.turn(START, &mut shared).unwrap() != Turn::Over {
        assert!(os::monotonic().nanos_since(began) < 10_000_000_000, "it does not end");
    }
    let (sent, acknowledged) = sender.finish();
    (sent.ended_by, acknowledged.unwrap())
}

#[test]
fn acknowledged_bytes_count_for_peers_that_neither_read_nor_close() {
    let (ended_by, acknowledged) = to_a_peer(Some);
    assert_eq!(ended_by, EndedBy::Finished);
    assert_eq!((acknowledged.window_bytes, acknowledged.total_bytes), (300, 300));
}
