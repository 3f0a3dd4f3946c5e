//! A flow of datagrams whose other end is the test. The test sets the time.

use std::net::UdpSocket;

use super::super::plan;
use super::super::tests::{assert_watched_until_forgotten, datagram_pair, plain, running};
use super::*;
use crate::messages::{Amount, Rate, StreamSpec, Transport};

const TOKEN: Token = Token([7; 16]);
const START: Instant = Instant::from_nanos(1_000_000_000);

fn of(io: Io, rate: Option<f64>) -> Plan {
    let spec = StreamSpec {
        message_size_bytes: 4,
        amount: Amount::Messages(1_000),
        rate: rate.map(Rate::MessagesPerS),
        io,
        ..plain(Transport::Udp)
    };
    plan(&spec).unwrap()
}

fn shared(plan: &Plan) -> Shared {
    let batch = SendBatch::new(plan.group, plan.message_bytes, padding());
    Shared { batch, meters: SharedMeters::default() }
}

/// Run a function with a flow that has had its first turn, on the flow's thread.
fn with_flow<T>(
    plan: &Plan,
    alone: bool,
    then: impl FnOnce(&mut Sender<Outgoing>, &mut Shared, &UdpSocket, &Running) -> T,
) -> T {
    let (running, (near, far), mut shared) = (running(), datagram_pair(), shared(plan));
    let port = local_port(&near).unwrap();
    let messages = Outgoing::new(plan, &running.progress, TOKEN, 0, START, port);
    let mut sender = Sender { plan, token: TOKEN, flow: 0, socket: &near, alone, messages };
    assert_eq!(sender.turn(START, &mut shared).unwrap(), Turn::Again);
    then(&mut sender, &mut shared, &far, &running)
}

fn after_ns(ns: u64) -> Instant {
    START.plus_nanos(ns)
}

#[test]
fn each_call_numbers_and_sends_a_full_batch() {
    for (io, messages) in [(Io::Single, 1), (Io::Batch, 64), (Io::Segment, 64)] {
        let plan = of(io, None);
        let numbers = with_flow(&plan, true, |sender, _, far, running| {
            let count = u64::from(messages);
            assert_eq!(sender.messages.sent().total_messages, count, "{io:?}");
            assert_eq!(running.progress.counted(), (count, 4 * count));
            (0..messages)
                .map(|_| {
                    let mut message = [0; 10];
                    assert_eq!(far.recv(&mut message).unwrap(), 4);
                    u32::from_be_bytes(message[..4].try_into().unwrap())
                })
                .collect::<Vec<_>>()
        });
        assert_eq!(numbers, (0..messages).collect::<Vec<u32>>());
    }
}

#[test]
fn the_system_error_decides_the_next_step() {
    use io::ErrorKind::{ConnectionRefused, PermissionDenied, WouldBlock};
    let plan = of(Io::Single, None);
    for alone in [true, false] {
        with_flow(&plan, alone, |sender, shared, _, _| {
            let blocked = sender.take(Err(WouldBlock.into()), after_ns(1_000), shared);
            assert_eq!(blocked.unwrap(), Turn::Blocked);
            assert_eq!(sender.turn(after_ns(4_000), shared).unwrap(), Turn::Again);
            assert_eq!(sender.messages.sent().blocked_ns, 3_000);
            assert!(sender.take(Err(PermissionDenied.into()), after_ns(4_000), shared).is_err());
            let closed = sender.take(Err(ConnectionRefused.into()), after_ns(4_000), shared);
            assert_eq!(closed.unwrap(), Turn::Over);
            assert_eq!(sender.messages.sent().ended_by, EndedBy::PeerClosed);
        });
    }
}

#[test]
fn messages_without_room_are_retried_within_their_slot() {
    let no_room = || Err(io::Error::from_raw_os_error(105));
    with_flow(&of(Io::Single, None), true, |sender, shared, _, _| {
        let turn = sender.take(no_room(), after_ns(1_000), shared).unwrap();
        assert_eq!(turn, Turn::Wait { until: after_ns(51_000), exact: false });
        let sent = sender.messages.sent();
        assert_eq!((sent.refused_retried, sent.refused_messages), (1, 0));
    });
    with_flow(&of(Io::Single, Some(1_000.0)), true, |sender, shared, _, _| {
        assert_eq!(sender.take(no_room(), after_ns(1_000), shared).unwrap(), Turn::Again);
        let sent = sender.messages.sent();
        assert_eq!((sent.refused_retried, sent.refused_messages), (0, 1));
    });
}

#[test]
fn a_failure_of_segments_gives_a_hint() {
    let failure = |io| {
        with_flow(&of(io, None), true, |sender, shared, _, _| {
            let denied = io::ErrorKind::PermissionDenied.into();
            sender.take(Err(denied), START, shared).unwrap_err()
        })
    };
    let segments = failure(Io::Segment);
    assert_eq!(segments.code, "io.segment_unsupported");
    assert!(segments.message.starts_with("messages of 4 bytes as segments of one buffer"));
    let single = failure(Io::Single);
    assert!(single.code != segments.code && single.message.contains("send a message of 4 bytes"));
}

#[test]
fn senders_read_all_waiting_replies() {
    use io::ErrorKind::{ConnectionRefused, Interrupted, PermissionDenied};
    with_flow(&of(Io::Single, None), true, |sender, shared, _, _| {
        assert!(!sender.take_word(Ok(None), START).unwrap());
        assert!(sender.take_word(Ok(Some(b"no word")), START).unwrap());
        assert!(sender.take_word(Err(Interrupted.into()), START).unwrap());
        assert!(sender.take_word(Err(PermissionDenied.into()), START).is_err());
        assert_eq!(sender.turn(after_ns(10_000_000), shared).unwrap(), Turn::Again);
        // The next check notices the receiver's closed port, after earlier messages.
        assert!(!sender.take_word(Err(ConnectionRefused.into()), START).unwrap());
        assert_eq!(sender.turn(after_ns(19_999_999), shared).unwrap(), Turn::Again);
        assert_eq!(sender.turn(after_ns(20_000_000), shared).unwrap(), Turn::Over);
        assert_eq!(sender.messages.sent().ended_by, EndedBy::PeerClosed);
    });
}

#[test]
fn receiver_messages_end_a_silence() {
    // The silence is 100 ms.
    for is_heard in [false, true] {
        let plan = of(Io::Single, Some(1.0));
        with_flow(&plan, true, |sender, _, far, _| {
            let kind = Kind::Alive { received_messages: 0 };
            if is_heard {
                far.send(&Message { token: TOKEN, flow: 0, kind }.emit()).unwrap();
                os::wait_readable(sender.socket.plain(), Duration::from_secs(30)).unwrap();
            }
            sender.hear(after_ns(3_000_000_000)).unwrap();
            let mut meters = SharedMeters::<ThreadUsage>::default();
            let now = after_ns(3_000_000_001);
            // The sender listens first, then checks.
            let _ = sender.messages.next(now, &mut meters).unwrap();
            let next = sender.messages.next(now, &mut meters).unwrap();
            assert_eq!(next == Action::Over, !is_heard, "{next:?}");
        });
    }
}

#[test]
fn a_flow_with_room_is_watched_until_it_is_forgotten() {
    with_flow(&of(Io::Single, None), false, |sender, _, _, _| {
        assert_watched_until_forgotten(sender);
    });
}

#[test]
fn a_would_block_control_message_is_not_a_failure() {
    use io::ErrorKind::{ConnectionRefused, Interrupted, NetworkUnreachable, WouldBlock};
    assert!(said(Ok(40)).is_ok());
    let is_failure = [WouldBlock, Interrupted, ConnectionRefused, NetworkUnreachable]
        .map(|kind| said(Err(kind.into())).is_err());
    assert_eq!(is_failure, [false, false, false, true]);
    {
        // ENOBUFS.
        assert!(said(Err(io::Error::from_raw_os_error(105))).is_ok());
    }
}
