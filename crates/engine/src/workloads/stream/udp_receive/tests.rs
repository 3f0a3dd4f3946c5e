//! A flow of datagrams from the test: what it receives, and when it ends.

use std::net::UdpSocket;
use std::thread;

use lanlab_wire::session::{Kind, Message, Token};
use lanlab_workloads::handshake::Acceptor;
use lanlab_workloads::stream::Counts;

use super::super::plan;
use super::super::tests::{assert_watched_until_forgotten, datagram_pair, plain, running};
use super::*;
use crate::messages::{Amount, CpuTime, ReceiverLoad, StreamSpec, Transport};

const TOKEN: Token = Token([7; 16]);
/// Longer than a thread of these tests waits for a processor.
const SILENCE_NS: u64 = 30_000_000_000;

fn spec() -> StreamSpec {
    StreamSpec {
        message_size_bytes: 4,
        amount: Amount::Messages(1_000),
        io: Io::Batch,
        silence_ns: SILENCE_NS,
        ..plain(Transport::Udp)
    }
}

fn shared(plan: &Plan, load: ReceiverLoad) -> Shared {
    let reading = Reading { read_bytes: read_bytes(plan), load, ..Reading::default() };
    Shared::new(plan, &reading).unwrap()
}

type OwnReceiver<'a> = Receiver<'a, OwnMessages<'a>>;

fn flow<'a>(plan: &'a Plan, running: &'a Running, start: Instant) -> (OwnReceiver<'a>, UdpSocket) {
    let (socket, far) = datagram_pair();
    let word = Arc::new(Word::new(&Arc::new(socket), TOKEN, 0));
    let incoming = Incoming::new(plan, TOKEN, 0, Acceptor::new(TOKEN, 0, 1), start);
    let messages = OwnMessages { word, incoming, running, expected: 0 };
    (Receiver::new(plan, messages, false, running, start), far)
}

/// Send messages until the flow has read them; returns the number of turns with data.
fn take(receiver: &mut OwnReceiver, shared: &mut Shared, far: &UdpSocket, numbers: &[u32]) -> u64 {
    for number in numbers {
        far.send(&number.to_be_bytes()).unwrap();
    }
    let before = receiver.messages.incoming.counter.counts.total_messages;
    let mut turns = 0;
    for _ in 0..10_000 {
        match receiver.turn(os::monotonic(), shared).unwrap() {
            Turn::Again => turns += 1,
            turn => assert_eq!(turn, Turn::Blocked),
        }
        if receiver.messages.incoming.counter.counts.total_messages == before + numbers.len() as u64
        {
            return turns;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("{numbers:?} did not come in 10 s");
}

#[test]
fn acceptance_is_repeated_to_a_sender_that_missed_it() {
    let of = |kind| Message { token: TOKEN, flow: 2, kind };
    let (mut accepted, mut others) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let (socket, far) = datagram_pair();
        let (from, now) = (far.local_addr().unwrap(), os::monotonic());
        let mut acceptor = Acceptor::new(TOKEN, 2, 1);
        let challenge = acceptor.handle(&of(Kind::Hello { nonce: 9 }), from, now).unwrap();
        let Kind::Challenge { cookie } = challenge.kind else { panic!("{challenge:?}") };
        let proof = of(Kind::Prove { cookie, nonce: 9 });
        let accept = acceptor.handle(&proof, from, now).unwrap();
        far.send(&proof.emit()).unwrap();
        accepted.push(Accepted { socket: Arc::new(socket), acceptor });
        others.push((far, accept));
    }
    answer_all_again(&mut accepted).unwrap();
    for (far, accept) in others {
        let mut answer = [0; 100];
        let length = far.recv(&mut answer).unwrap();
        assert_eq!(Message::parse(&answer[..length]), Ok(accept));
    }
}

#[test]
fn received_messages_are_counted_and_reported() {
    let (plan, running) = (plan(&spec()).unwrap(), running());
    let mut shared = shared(&plan, ReceiverLoad::default());
    let (mut receiver, far) = flow(&plan, &running, os::monotonic());
    let turns = take(&mut receiver, &mut shared, &far, &[0, 1, 2]);
    assert_eq!((running.progress.counted(), running.progress.seen().0), ((3, 12), 3));
    // Two are missing.
    let more = take(&mut receiver, &mut shared, &far, &[5]);
    assert_eq!((running.progress.counted(), running.progress.seen().0), ((4, 16), 6));
    assert_eq!(shared.meters.receive_calls, turns + more);
}

#[test]
fn receiver_work_runs_per_message_and_is_excluded_from_cost() {
    let (plan, running) = (plan(&spec()).unwrap(), running());
    let load = ReceiverLoad { work_ns: 5_000_000, ..Default::default() };
    let mut shared = shared(&plan, load);
    let (mut receiver, far) = flow(&plan, &running, os::monotonic());
    take(&mut receiver, &mut shared, &far, &[0, 1, 2]);
    let worked_ns = shared.applied_load.worked_ns;
    assert!((15_000_000..1_000_000_000).contains(&worked_ns), "{worked_ns}");
    receiver.stop(EndedBy::Finished, os::monotonic(), &mut shared.meters);
    let used_ns = shared.meters.usage.used.user_ns;
    let rest_ns = shared.finish().usage.used.user_ns;
    assert_eq!(rest_ns, used_ns.saturating_sub(worked_ns));
}

#[test]
fn cpu_time_counts_from_the_measured_part_on() {
    use super::super::tests::work_for;
    const HOUR_NS: u64 = 3_600_000_000_000;
    let (plan, running, now) = (plan(&spec()).unwrap(), running(), os::monotonic());
    // Either a message or a check starts the flow.
    for by_check in [false, true] {
        for (start, is_measured) in [(now, true), (now.plus_nanos(HOUR_NS), false)] {
            let mut shared = shared(&plan, ReceiverLoad::default());
            let (mut receiver, far) = flow(&plan, &running, start);
            if by_check {
                assert_eq!(receiver.check(now, &mut shared.meters).unwrap(), None);
            } else {
                receiver.next_check = now.plus_nanos(HOUR_NS);
                take(&mut receiver, &mut shared, &far, &[0]);
            }
            work_for(30_000_000);
            receiver.stop(EndedBy::Finished, now, &mut shared.meters);
            let used = shared.meters.usage.used;
            let used_ns = used.user_ns + used.system_ns;
            assert_eq!(used_ns > 10_000_000, is_measured, "{used:?}, by a check: {by_check}");
            assert_eq!(used_ns > 0, is_measured);
        }
    }
}

#[test]
fn flows_check_for_a_stop_every_10_ms() {
    let (plan, running, now) = (plan(&spec()).unwrap(), running(), os::monotonic());
    let mut shared = shared(&plan, ReceiverLoad::default());
    let (mut receiver, _far) = flow(&plan, &running, now);
    assert_eq!(receiver.turn(now, &mut shared).unwrap(), Turn::Blocked);
    running.cancel();
    let next = now.plus_nanos(10_000_000);
    assert_eq!(receiver.turn(next.minus_nanos(1), &mut shared).unwrap(), Turn::Blocked);
    assert_eq!(receiver.turn(next, &mut shared).unwrap(), Turn::Over);
    assert_eq!((receiver.is_over, receiver.ended_by), (true, EndedBy::Cancelled));
    let are_told = receiver.messages.incoming.counter.counts.socket_dropped.is_some();
    assert!(are_told);
    let running = super::super::tests::running();
    let (mut receiver, _far) = flow(&plan, &running, now);
    let last = now.plus_nanos(SILENCE_NS);
    assert_eq!(receiver.turn(last, &mut shared).unwrap(), Turn::Blocked);
    receiver.next_check = last;
    assert_eq!(receiver.turn(last.plus_nanos(1), &mut shared).unwrap(), Turn::Over);
    assert_eq!(receiver.ended_by, EndedBy::Silence);
}

#[test]
fn a_closed_port_ends_the_flow_and_any_other_error_is_a_failure() {
    use io::ErrorKind::{ConnectionRefused, PermissionDenied, WouldBlock};
    let (plan, running, now) = (plan(&spec()).unwrap(), running(), os::monotonic());
    let mut shared = shared(&plan, ReceiverLoad::default());
    let (mut receiver, _far) = flow(&plan, &running, now);
    let mut take = |kind: io::ErrorKind| {
        let taken = receiver.take(Err(kind.into()), now, &mut shared);
        (taken.ok(), receiver.ended_by)
    };
    assert_eq!(take(WouldBlock), (Some(Turn::Blocked), EndedBy::Silence));
    assert_eq!(take(PermissionDenied), (None, EndedBy::Silence));
    assert_eq!(take(ConnectionRefused), (Some(Turn::Over), EndedBy::PeerClosed));
    // A sender may be gone after its last message.
    let (mut receiver, _far) = flow(&plan, &running, now);
    receiver.messages.incoming.counter.finish(0, now);
    let taken = receiver.take(Err(ConnectionRefused.into()), now, &mut shared);
    assert_eq!((taken.unwrap(), receiver.is_over), (Turn::Blocked, false));
}

#[test]
fn a_flow_with_datagrams_is_watched_until_it_is_forgotten() {
    let (plan, running) = (plan(&spec()).unwrap(), running());
    let (receiver, far) = flow(&plan, &running, os::monotonic());
    far.send(&[0; 4]).unwrap();
    assert_watched_until_forgotten(&receiver);
}

#[test]
fn buffers_fit_messages_control_words_and_one_byte_more() {
    let bytes = |io, size| {
        let plan = Plan { io, message_bytes: size, ..plan(&spec()).unwrap() };
        (buffer_bytes(&plan), read_bytes(&plan))
    };
    assert_eq!([bytes(Io::Single, 500), bytes(Io::Batch, 4)], [(501, 501), (65, 65)]);
    assert_eq!(bytes(Io::Segment, 500), (501, 65_536));
}

#[test]
fn gro_and_timestamps_are_enabled_on_request() {
    use Timestamps::{Kernel, Program};
    let prepared = |io, timestamps| {
        let plan = Plan { io, timestamps, ..plan(&spec()).unwrap() };
        let (socket, far) = datagram_pair();
        let buffer = || socket2::SockRef::from(socket.plain()).recv_buffer_size().unwrap();
        let before = buffer();
        prepare(&socket, &plan, None).unwrap();
        let mut batch = ReceiveBatch::new(1, 100);
        let mut is_stamped = |_| {
            far.send(b"one").unwrap();
            socket.receive_batch(&mut batch, true).unwrap();
            batch.received().next().unwrap().kernel_realtime_ns.is_some()
        };
        // The kernel starts to timestamp some time after the request.
        let looks = if timestamps == Timestamps::Kernel { 100_000 } else { 1 };
        // The buffer is enlarged for joined datagrams.
        ((0..looks).any(&mut is_stamped), buffer() != before)
    };
    assert_eq!(prepared(Io::Segment, Program), (false, true));
    assert_eq!(prepared(Io::Batch, Program), (false, false));
    assert_eq!(prepared(Io::Batch, Kernel), (true, false));
}

#[test]
fn counts_of_all_flows_add_up_and_the_longest_window_counts() {
    let plan = Plan { message_bytes: 100, ..plan(&spec()).unwrap() };
    let counts = |unit: u64| Counts {
        window_ns: unit,
        window_messages: 2 * unit,
        window_bytes: 3 * unit,
        measured_messages: 4 * unit,
        overdue_messages: 5 * unit,
        socket_dropped: Some(6 * unit),
        first_measured: Some(0),
        duplicate_messages: 7 * unit,
        reordered_messages: 8 * unit,
        stale_messages: 9 * unit,
        foreign_datagrams: 10 * unit,
        total_messages: 11 * unit,
    };
    let mut meters = [Meters::<()>::new(&plan, None), Meters::new(&plan, None)];
    let all = |flows, meters: &[Meters<()>]| {
        sum_up_datagrams(&plan, flows, meters, CpuTime::default(), (501, 8_192), None)
    };
    let alone = all(vec![(EndedBy::Finished, Counts::default())], &meters);
    assert!(alone.one_way_delay.is_none() && !alone.mark_seen);
    assert_eq!(alone.socket_dropped_datagrams, None);
    meters[0].receive_calls = 30;
    meters[1].receive_calls = 5;
    meters[0].one_way_delay.record(1_000);
    meters[0].intervals.record(0, 2, 200);
    meters[1].intervals.record(0, 1, 100);
    let flows = vec![(EndedBy::Finished, counts(100)), (EndedBy::Silence, counts(1))];
    let all = all(flows, &meters);
    assert_eq!((all.ended_by, all.threads, all.window_ns), (EndedBy::Silence, 2, 100));
    let sums = [
        all.window_messages,
        all.window_bytes,
        all.measured_messages,
        all.overdue_messages,
        all.socket_dropped_datagrams.unwrap(),
        all.duplicate_messages,
        all.reordered_messages,
        all.stale_messages,
        all.foreign_datagrams,
        all.total_messages,
    ];
    assert_eq!(sums, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(|count| 101 * count));
    assert_eq!((all.total_bytes, all.receive_calls), (111_100, 35));
    assert_eq!(all.one_way_delay.unwrap().samples, 1);
    assert_eq!((&all.intervals.bytes[..], all.intervals.messages), (&[300][..], vec![3]));
    assert_eq!((all.read_bytes, all.receive_buffer_bytes, all.mark_seen), (501, 8_192, true));
    assert_eq!((all.flows[0].window_bytes, all.flows[1].measured_messages), (300, 4));
}
