//! Messages over connections whose other end writes in pieces, is silent, or is gone.

use std::net::TcpListener;
use std::thread;

use super::super::{plan, tests};
use super::*;
use crate::messages::Receive;
use crate::output::Output;
use crate::workloads::stream::tests::reset;

const SILENCE_NS: u64 = 150_000_000;
/// Longer than a thread of this test waits for a processor.
const LONG_SILENCE_NS: u64 = 30_000_000_000;

fn running() -> Running {
    let running = Running::new(1, Output::new(io::sink()));
    let now = os::monotonic();
    running.ready(Vec::new(), None);
    running.arm(now.plus_nanos(1), now, 0).unwrap();
    running
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    near.set_read_timeout(Some(TICK)).unwrap();
    near.set_write_timeout(Some(TICK)).unwrap();
    (near, listener.accept().unwrap().0)
}

fn arrived(near: &TcpStream) {
    assert!((0..1_500).any(|_| near.peek(&mut [0]).is_ok()), "nothing came in 30 s");
}

fn of_messages(message_bytes: usize, receive: Receive) -> Plan {
    let plan = plan(&tests::spec()).unwrap();
    Plan { message_bytes, receive, silence_ns: LONG_SILENCE_NS, ..plan }
}

const WAYS: [Receive; 3] = [Receive::Block, Receive::Poll, Receive::Spin];

#[test]
fn a_split_message_is_read_exactly() {
    for receive in WAYS {
        let (near, mut far) = pair();
        let (plan, mut message) = (of_messages(5, receive), [0; 5]);
        let writer = thread::spawn(move || {
            for piece in [&b"ab"[..], b"cdef", b"gh"] {
                far.write_all(piece).unwrap();
                thread::sleep(2 * TICK);
            }
            far
        });
        let read = |message: &mut [u8]| read_message(&near, message, &plan, &running()).unwrap();
        assert_eq!((read(&mut message), &message), (None, b"abcde"));
        let mut rest = [0; 3];
        assert_eq!((read(&mut rest), &rest), (None, b"fgh"));
        // Closing between two messages is a regular end.
        drop(writer.join().unwrap());
        assert_eq!(read(&mut message), Some(EndedBy::Finished));
    }
}

#[test]
fn a_reader_reports_why_the_stream_ended() {
    for receive in WAYS {
        let plan = of_messages(5, receive);
        let impatient = Plan { silence_ns: SILENCE_NS, ..of_messages(5, receive) };
        let (near, mut far) = pair();
        let began = os::monotonic();
        let read = |plan| read_message(&near, &mut [0; 5], plan, &running()).unwrap();
        assert_eq!(read(&impatient), Some(EndedBy::Silence));
        assert!(os::monotonic().nanos_since(began) > SILENCE_NS);
        far.write_all(b"abc").unwrap();
        drop(far);
        assert_eq!(read(&plan), Some(EndedBy::PeerClosed));
        let (near, _far) = pair();
        let cancelled = running();
        cancelled.cancel();
        let ended = read_message(&near, &mut [0; 5], &plan, &cancelled).unwrap();
        assert_eq!(ended, Some(EndedBy::Cancelled));
    }
}

#[test]
fn a_writer_reports_why_a_message_failed() {
    let message = vec![7; 16 << 20];
    let (near, far) = pair();
    let began = os::monotonic();
    let write = |silence_ns, running: &Running| {
        write_message(&near, &message, silence_ns, running).unwrap()
    };
    assert_eq!(write(SILENCE_NS, &running()), Some(EndedBy::Silence));
    assert!(os::monotonic().nanos_since(began) > SILENCE_NS);
    let cancelled = running();
    cancelled.cancel();
    assert_eq!(write(LONG_SILENCE_NS, &cancelled), Some(EndedBy::Cancelled));
    drop(far);
    assert_eq!(write(LONG_SILENCE_NS, &running()), Some(EndedBy::PeerClosed));
}

#[test]
fn replies_are_counted_from_their_bytes() {
    for receive in WAYS {
        let (near, mut far) = pair();
        let plan = of_messages(5, receive);
        let mut replies = StreamReplies {
            plan: &plan,
            stream: &near,
            message_bytes: 5,
            buffer: vec![0; 3],
            content: None,
            received: 0,
            replied: 0,
        };
        let is_idle = |heard| matches!(heard, Heard::Idle);
        assert!(is_idle(replies.next().unwrap()));
        far.write_all(b"abcdefg").unwrap();
        arrived(&near);
        assert!(matches!(replies.next().unwrap(), Heard::Reply(0)));
        assert!(is_idle(replies.next().unwrap()));
        assert_eq!(replies.received, 2);
        far.write_all(b"hij").unwrap();
        arrived(&near);
        assert!(matches!(replies.next().unwrap(), Heard::Reply(1)));
        drop(far);
        arrived(&near);
        assert!(matches!(replies.next().unwrap(), Heard::Closed));
    }
}

#[test]
fn a_responder_answers_each_message_until_its_requester_ends() {
    let (near, mut far) = pair();
    let plan = of_messages(3, Receive::Block);
    far.write_all(b"abcdef").unwrap();
    far.shutdown(Shutdown::Write).unwrap();
    let running = running();
    let responded = answer(&near, &plan, &running).unwrap();
    assert_eq!((responded.ended_by, responded.answered_messages), (EndedBy::Finished, 2));
    let mut answers = [0; 6];
    far.read_exact(&mut answers).unwrap();
    assert_eq!(&answers, b"abcdef");
    assert_eq!(running.progress.counted(), (2, 6));
}

fn replies_of<'a>(plan: &'a Plan, stream: &'a TcpStream) -> StreamReplies<'a> {
    let (message_bytes, buffer) = (plan.message_bytes, vec![0; plan.message_bytes]);
    StreamReplies { plan, stream, message_bytes, buffer, content: None, received: 0, replied: 0 }
}

#[test]
fn a_broken_connection_is_closed() {
    for receive in WAYS {
        let plan = of_messages(5, receive);
        let (near, far) = pair();
        reset(far);
        let ended = read_message(&near, &mut [0; 5], &plan, &running()).unwrap();
        assert_eq!(ended, Some(EndedBy::PeerClosed));
        let (near, far) = pair();
        reset(far);
        // The reset may still be in transit.
        let mut replies = replies_of(&plan, &near);
        let mut heard = (0..1_000_000).map(|_| replies.next().unwrap());
        assert_eq!(heard.find(|heard| *heard != Heard::Idle), Some(Heard::Closed));
    }
}

#[test]
fn other_errors_are_failures() {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected, PermissionDenied};
    let of = |kind: io::ErrorKind| broken("read", &kind.into()).ok();
    assert_eq!([of(BrokenPipe), of(ConnectionReset)], [Some(EndedBy::PeerClosed); 2]);
    assert_eq!([of(NotConnected), of(PermissionDenied)], [None, None]);
    // A requester sees a reset connection as closed.
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let stream: TcpStream = socket.into();
    let plan = of_messages(5, Receive::Block);
    assert_eq!(replies_of(&plan, &stream).next().unwrap(), Heard::Closed);
    assert!(read_message(&stream, &mut [0; 5], &plan, &running()).is_err());
}

#[test]
fn a_large_message_is_written_whole_to_a_slow_reader() {
    let message: Vec<u8> = (0..2_000_003).map(|place| (place % 251) as u8).collect();
    let (near, mut far) = pair();
    let reader = thread::spawn(move || {
        let mut octets = vec![0; 2_000_003];
        // Meanwhile the writer fills the buffers.
        thread::sleep(2 * TICK);
        far.read_exact(&mut octets).map(|()| octets).unwrap()
    });
    let ended = write_message(&near, &message, LONG_SILENCE_NS, &running()).unwrap();
    assert_eq!(ended, None);
    drop(near);
    assert!(reader.join().unwrap() == message);
}
