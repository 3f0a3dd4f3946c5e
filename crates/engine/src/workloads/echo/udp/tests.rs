//! How an end handles system errors, and kernel timestamps over loopback.

use std::net::UdpSocket;

use super::super::{plan, tests::spec};
use super::*;
use crate::workloads::stream::tests::datagram_pair;

const TOKEN: Token = Token([7; 16]);

fn heard(far: &UdpSocket) -> Message {
    let mut buffer = [0; 200];
    let length = far.recv(&mut buffer).unwrap();
    Message::parse(&buffer[..length]).unwrap()
}

#[test]
fn the_system_error_decides_the_meaning_of_a_datagram() {
    use io::ErrorKind::{ConnectionRefused, PermissionDenied, WouldBlock};
    let of = |kind: io::ErrorKind| there(Err(kind.into()), "receive").ok();
    assert_eq!(there(Ok(1), "receive").unwrap(), There::Datagram);
    assert_eq!(
        [of(WouldBlock), of(ConnectionRefused)],
        [There::Nothing, There::ClosedPort].map(Some)
    );
    assert_eq!(of(PermissionDenied), None);
    let of = |kind: io::ErrorKind, waited| handed(Err(kind.into()), waited, "send").ok();
    assert_eq!(handed(Ok(()), true, "send").unwrap(), Handed::Sent);
    assert_eq!([of(WouldBlock, false), of(WouldBlock, true)], [Some(Handed::Refused), None]);
    assert_eq!(
        [false, true].map(|waited| of(ConnectionRefused, waited)),
        [Some(Handed::Closed); 2]
    );
    assert_eq!([false, true].map(|waited| of(PermissionDenied, waited)), [None; 2]);
    {
        // ENOBUFS.
        let no_room = |waited| handed(Err(io::Error::from_raw_os_error(105)), waited, "send").ok();
        assert_eq!([no_room(false), no_room(true)], [Some(Handed::Refused); 2]);
    }
}

#[test]
fn buffers_fit_messages_control_words_and_one_byte_more() {
    let bytes = |message_bytes| buffer_bytes(&Plan { message_bytes, ..plan(&spec()).unwrap() });
    assert_eq!([bytes(1), bytes(64), bytes(1_000)], [65, 65, 1_001]);
}

#[test]
fn only_an_answer_of_the_session_confirms_the_end() {
    let answer = |token, kind| answer_to_end(Ok(&Message { token, flow: 0, kind }.emit()), TOKEN);
    let finished = Kind::Finished { received_messages: 0 };
    assert_eq!(answer(TOKEN, finished), EndAnswer::Confirmed);
    assert_eq!(answer(Token([8; 16]), finished), EndAnswer::None);
    assert_eq!(answer(TOKEN, Kind::Alive { received_messages: 0 }), EndAnswer::None);
    assert_eq!(answer_to_end(Ok(b"a late reply"), TOKEN), EndAnswer::None);
    let failed = |kind: io::ErrorKind| answer_to_end(Err(kind.into()), TOKEN);
    assert_eq!(failed(io::ErrorKind::ConnectionRefused), EndAnswer::ClosedPort);
    assert_eq!(failed(io::ErrorKind::WouldBlock), EndAnswer::None);
}

#[test]
fn an_unanswered_end_is_unconfirmed() {
    let (near, far) = datagram_pair();
    assert_eq!(agree_on_end(&near, TOKEN, 200_000_000).unwrap(), EndedBy::Unconfirmed);
    let kind = Kind::Finish { first_measured: 0, sent_messages: 0 };
    let finish = Message { token: TOKEN, flow: 0, kind };
    // A lost one is sent again.
    assert_eq!([heard(&far), heard(&far)], [finish; 2]);
    drop(far);
    assert_eq!(agree_on_end(&near, TOKEN, 200_000_000).unwrap(), EndedBy::Unconfirmed);
    // The answer may arrive before it is requested.
    let (near, far) = datagram_pair();
    let kind = Kind::Finished { received_messages: 9 };
    far.send(&Message { token: TOKEN, flow: 0, kind }.emit()).unwrap();
    assert_eq!(agree_on_end(&near, TOKEN, 30_000_000_000).unwrap(), EndedBy::Finished);
}

fn requests<'a>(plan: &Plan, socket: &'a DatagramSocket) -> DatagramRequests<'a> {
    let (writer, message) = (RequestWriter::new(plan, TOKEN), vec![0; plan.message_bytes]);
    let envelope = Envelope::Udp;
    DatagramRequests { socket, envelope, token: TOKEN, writer, message, word: Vec::new(), sent: 0 }
}

#[test]
fn a_requester_reports_that_it_is_alive() {
    let (near, far) = datagram_pair();
    let mut requests = requests(&plan(&spec()).unwrap(), &near);
    requests.say_alive();
    let kind = Kind::Alive { received_messages: 0 };
    assert_eq!(heard(&far), Message { token: TOKEN, flow: 0, kind });
    assert_eq!(requests.sent, 1, "the system counts it with the requests");
}

#[test]
fn requests_are_timestamped_on_request() {
    for timestamps in [Timestamps::Kernel, Timestamps::Program] {
        let plan = plan(&crate::messages::EchoSpec { timestamps, ..spec() }).unwrap();
        let (near, far) = datagram_pair();
        prepare(&near, &plan).unwrap();
        let mut requests = requests(&plan, &near);
        assert_eq!(requests.send(0, os::monotonic()).unwrap(), Handed::Sent);
        let between_ns = os::realtime_ns();
        assert_eq!(requests.send(1, os::monotonic()).unwrap(), Handed::Sent);
        (0..2).for_each(|_| assert_eq!(far.recv(&mut [0; 200]).unwrap(), 100));
        let until_ns = os::realtime_ns();
        // The timestamp belongs to the last request.
        let stamp = requests.kernel_sent_ns();
        assert_eq!(stamp.is_some(), timestamps == Timestamps::Kernel);
        assert!(stamp.is_none_or(|at_ns| (between_ns..=until_ns).contains(&at_ns)), "{stamp:?}");
    }
}

#[test]
fn replies_are_timestamped_on_request() {
    for timestamps in [Timestamps::Kernel, Timestamps::Program] {
        let plan = plan(&crate::messages::EchoSpec { timestamps, ..spec() }).unwrap();
        let (near, far) = datagram_pair();
        prepare(&near, &plan).unwrap();
        let (mut reply, writer) = (vec![0; 100], RequestWriter::new(&plan, TOKEN));
        let mut replies = DatagramReplies {
            envelope: Envelope::Udp,
            content: None,
            plan: &plan,
            socket: &near,
            reader: ReplyReader::new(&plan, TOKEN),
            batch: ReceiveBatch::new(1, buffer_bytes(&plan)),
            kernel_arrived_ns: None,
        };
        let mut next = |sequence| {
            writer.write(sequence, os::monotonic(), &mut reply);
            let before_ns = os::realtime_ns();
            far.send(&reply).unwrap();
            let mut heard = (0..1_000).map(|_| replies.next().unwrap());
            assert_eq!(heard.find(|heard| *heard != Heard::Idle), Some(Heard::Reply(sequence)));
            let stamp = replies.kernel_arrived_ns();
            let allowed = before_ns..=os::realtime_ns();
            assert!(stamp.is_none_or(|at_ns| allowed.contains(&at_ns)), "{stamp:?}");
            stamp.is_some()
        };
        if timestamps == Timestamps::Program {
            assert!(!next(0));
        } else {
            // The kernel starts to timestamp some time after the request.
            assert!((0..100_000).any(next));
        }
    }
}
