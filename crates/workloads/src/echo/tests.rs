//! Both ends of an echo, step by step, with figures worked out by hand.

use lanlab_units::{Instant, Pace};
use lanlab_wire::session::{Kind, Message, Token};

use super::*;
use crate::Progress;
use crate::handshake::Acceptor;
use crate::messages::{EchoAmount, EndedBy, Receive, Timestamps, Transport};

const MS: u64 = 1_000_000;
const TOKEN: Token = Token([7; 16]);

/// 100 bytes for 100 ms after a warm-up of 10 ms; a reply is overdue after 50 ms.
pub(super) fn plan() -> Plan {
    Plan {
        transport: Transport::Udp,
        message_bytes: 100,
        amount: EchoAmount::TimeNs(100 * MS),
        pace: None,
        outstanding_requests: 1,
        receive: Receive::Block,
        timestamps: Timestamps::Program,
        timeout_ns: 50 * MS,
        warmup_ns: 10 * MS,
        silence_ns: 1_500 * MS,
        timeout_follows_path: false,
        round_trip_ns: 0,
    }
}

fn on_schedule() -> Plan {
    Plan { pace: Pace::from_message_rate(1_000.0), ..plan() }
}

fn at_us(us: u64) -> Instant {
    Instant::from_nanos((1_000_000 + us) * 1_000)
}

#[test]
fn plan_times_follow_from_its_settings() {
    let (plan, hour_ns) = (plan(), 3_600_000 * MS);
    assert_eq!(plan.warmup_end(at_us(0)), at_us(10_000));
    assert_eq!((plan.end(at_us(0)), plan.requests()), (at_us(110_000), u64::MAX));
    assert_eq!(plan.latest_end(at_us(0)), at_us(1_610_000).plus_nanos(hour_ns));
    assert!(plan.waits_in_call());
    let amount = EchoAmount::Requests(7);
    let plan = Plan { amount, receive: Receive::Poll, ..plan };
    assert_eq!((plan.end(at_us(0)), plan.requests()), (Instant::FAR_FUTURE, 7));
    assert_eq!(plan.latest_end(at_us(0)), at_us(1_510_000).plus_nanos(25 * hour_ns));
    assert!(!plan.waits_in_call());
}

fn responder<'a>(plan: &'a Plan, progress: &'a Progress) -> Responder<'a> {
    Responder::new(plan, progress, TOKEN, Acceptor::new(TOKEN, 0, 9), at_us(0))
}

fn word(token: Token, flow: u16, kind: Kind) -> Vec<u8> {
    Message { token, flow, kind }.emit().to_vec()
}

const FINISH: Kind = Kind::Finish { first_measured: 0, sent_messages: 0 };

#[test]
fn responders_return_only_requests_of_their_session() {
    let (plan, progress) = (plan(), Progress::default());
    let mut responder = responder(&plan, &progress);
    let mut request = vec![0; 100];
    RequestWriter::new(&plan, TOKEN).write(5, at_us(0), &mut request);
    assert_eq!(responder.take(&request, at_us(1)), Asked::Echo);
    assert_eq!(responder.take(&request[1..], at_us(1)), Asked::Nothing);
    RequestWriter::new(&plan, Token([8; 16])).write(5, at_us(0), &mut request);
    assert_eq!(responder.take(&request, at_us(1)), Asked::Nothing);
    // A message of another session or flow does not end this one.
    assert_eq!(responder.take(&word(Token([8; 16]), 0, FINISH), at_us(1)), Asked::Nothing);
    assert_eq!(responder.take(&word(TOKEN, 1, FINISH), at_us(1)), Asked::Nothing);
    assert_eq!((responder.foreign, responder.answered), (4, 0));
    let alive = word(TOKEN, 0, Kind::Alive { received_messages: 0 });
    assert_eq!(responder.take(&alive, at_us(1)), Asked::Nothing);
    assert_eq!(responder.foreign, 4);
    for handed in [Handed::Sent, Handed::Refused, Handed::Sent, Handed::Sent, Handed::Closed] {
        responder.handed(handed);
    }
    assert_eq!((responder.answered, responder.refused), (3, 1));
    assert_eq!(progress.counted(), (5, 500));
    let answer = Asked::Say(Kind::Finished { received_messages: 3 });
    assert_eq!(responder.take(&word(TOKEN, 0, FINISH), at_us(2)), answer);
}

#[test]
fn responders_stay_20_ms_after_the_end_or_until_silence() {
    let (plan, progress) = (plan(), Progress::default());
    let mut quiet = responder(&plan, &progress);
    quiet.take(&word(TOKEN, 0, Kind::Alive { received_messages: 0 }), at_us(3_000));
    quiet.idle(at_us(1_503_000));
    assert_eq!(quiet.next(at_us(1_503_000)), Ok(Next::Listen));
    quiet.idle(at_us(1_503_001));
    assert_eq!(quiet.next(at_us(1_503_001)), Ok(Next::Over(EndedBy::Silence)));

    let mut finished = responder(&plan, &progress);
    finished.take(&word(TOKEN, 0, FINISH), at_us(3_000));
    finished.idle(at_us(23_000));
    assert_eq!(finished.next(at_us(23_000)), Ok(Next::Listen));
    finished.idle(at_us(23_001));
    assert_eq!(finished.next(at_us(23_001)), Ok(Next::Over(EndedBy::Finished)));

    // A responder that was paused may learn that the port is closed before it reads the end.
    for (is_finished, ended_by) in [(false, EndedBy::PeerClosed), (true, EndedBy::Finished)] {
        let mut closed = responder(&plan, &progress);
        closed.closed();
        assert_eq!(closed.next(at_us(1)), Ok(Next::Listen));
        if is_finished {
            closed.take(&word(TOKEN, 0, FINISH), at_us(1));
        }
        closed.idle(at_us(1));
        assert_eq!(closed.next(at_us(1)), Ok(Next::Over(ended_by)));
    }
    progress.cancel();
    assert_eq!(responder(&plan, &progress).next(at_us(0)), Ok(Next::Over(EndedBy::Cancelled)));
}

#[test]
fn only_responders_to_running_schedules_send_keep_alives() {
    let (closed_loop, on_schedule, progress) = (plan(), on_schedule(), Progress::default());
    assert_eq!(responder(&closed_loop, &progress).next(at_us(0)), Ok(Next::Listen));
    let mut responder = responder(&on_schedule, &progress);
    responder.handed(Handed::Sent);
    let alive = Next::Say(Kind::Alive { received_messages: 1 });
    assert_eq!(responder.next(at_us(0)), Ok(alive));
    assert_eq!(responder.next(at_us(49_999)), Ok(Next::Listen));
    assert_eq!(responder.next(at_us(50_000)), Ok(alive));
    responder.take(&word(TOKEN, 0, FINISH), at_us(60_000));
    assert_eq!(responder.next(at_us(70_000)), Ok(Next::Listen));
    assert_eq!(responder.next(at_us(100_000)), Ok(Next::Listen));
}

#[test]
fn readers_distinguish_replies_control_messages_and_foreign_data() {
    let plan = plan();
    let mut reader = ReplyReader::new(&plan, TOKEN);
    let alive = |token| word(token, 0, Kind::Alive { received_messages: 0 });
    assert_eq!(reader.read(&alive(TOKEN)), Heard::Alive);
    assert_eq!(reader.read(&alive(Token([8; 16]))), Heard::Foreign);
    let mut request = vec![0; 100];
    let most = (1 << 62) - 1;
    for (number, heard) in [(most, Heard::Reply(most)), (most + 1, Heard::Foreign)] {
        RequestWriter::new(&plan, TOKEN).write(number, at_us(0), &mut request);
        assert_eq!(reader.read(&request), heard);
    }
    // An 8-bit number is extended to the nearest expected one.
    let plan = Plan { message_bytes: 1, ..plan };
    let (writer, mut reader) = (RequestWriter::new(&plan, TOKEN), ReplyReader::new(&plan, TOKEN));
    let mut request = [0];
    for number in [0, 100, 200, 300, 299, 301, 400] {
        writer.write(number, at_us(0), &mut request);
        assert_eq!(reader.read(&request), Heard::Reply(number));
    }
}

#[test]
fn a_closed_loop_counts_from_the_first_request_after_the_warm_up() {
    let (plan, progress) = (plan(), Progress::default());
    let mut requester = ClosedLoop::new(&plan, &progress, at_us(0));
    assert_eq!(requester.next(at_us(9_999)), Ok(Step::Send(0)));
    requester.handed(Handed::Sent, at_us(9_999));
    assert!(requester.is_full());
    assert_eq!(requester.next(at_us(9_999)), Ok(Step::Listen(at_us(59_999))));
    // Request 0 belongs to the warm-up, so it is not measured.
    assert!(!requester.heard(Heard::Reply(0), at_us(12_000)));
    assert_eq!(requester.next(at_us(12_000)), Ok(Step::Measure));
    assert_eq!(requester.next(at_us(12_000)), Ok(Step::Send(1)));
    requester.handed(Handed::Sent, at_us(12_000));
    assert!(requester.heard(Heard::Reply(1), at_us(15_000)));
    assert_eq!(requester.next(at_us(109_999)), Ok(Step::Send(2)));
    requester.handed(Handed::Sent, at_us(109_999));
    // At the end nothing more is sent, and replies in flight are awaited.
    assert_eq!(requester.next(at_us(112_000)), Ok(Step::Listen(at_us(159_999))));
    assert!(requester.heard(Heard::Reply(2), at_us(114_000)));
    assert_eq!(requester.next(at_us(114_000)), Ok(Step::Over(EndedBy::Finished)));
    let counts = &requester.counts;
    assert_eq!((counts.offered, counts.sent, counts.timeouts()), (2, 2, 0));
    let times = counts.round_trip.finish();
    assert_eq!((times.samples, times.min_ns, times.max_ns), (2, 3_000_000, 4_001_000));
    // From 12 to 114 ms: the reply to the last request ends the sending, too.
    assert_eq!((counts.elapsed_ns(), counts.sending()), (102 * MS, (102 * MS, 2)));
    assert_eq!(progress.counted(), (3, 300));
}

#[test]
fn replies_after_the_last_request_do_not_count_for_the_rate() {
    let progress = Progress::default();
    let amount = EchoAmount::Requests(4);
    let plan = Plan { outstanding_requests: 3, amount, warmup_ns: 0, ..plan() };
    let mut requester = ClosedLoop::new(&plan, &progress, at_us(0));
    let send = |requester: &mut ClosedLoop, us| {
        let mut sent = 0;
        loop {
            match requester.next(at_us(us)).unwrap() {
                Step::Measure => {}
                Step::Send(_) => {
                    requester.handed(Handed::Sent, at_us(us));
                    sent += 1;
                }
                other => return (sent, other),
            }
        }
    };
    assert_eq!(send(&mut requester, 0), (3, Step::Listen(at_us(50_000))));
    assert!(requester.heard(Heard::Reply(1), at_us(2_000)));
    // The fourth is sent; then there is room for another, but none is due.
    assert_eq!(send(&mut requester, 2_000), (1, Step::Listen(at_us(50_000))));
    assert!(requester.heard(Heard::Reply(0), at_us(5_000)));
    assert_eq!(send(&mut requester, 5_000), (0, Step::Listen(at_us(50_000))));
    assert!(requester.heard(Heard::Reply(3), at_us(7_000)));
    assert_eq!(send(&mut requester, 7_000), (0, Step::Listen(at_us(50_000))));
    // Request 2 is overdue.
    assert_eq!(send(&mut requester, 50_000), (0, Step::Over(EndedBy::Finished)));
    let counts = &requester.counts;
    // Two replies in 5 ms of sending, three in all until the time-out.
    assert_eq!((counts.sending(), counts.elapsed_ns()), ((5 * MS, 2), 50 * MS));
    assert_eq!((counts.timeouts(), counts.late), (1, 0));
}

#[test]
fn a_closed_loop_ends_by_silence_by_its_peer_or_by_its_driver() {
    let (plan, progress) = (plan(), Progress::default());
    let plan = Plan { amount: EchoAmount::TimeNs(10_000 * MS), ..plan };
    let begun = || ClosedLoop::new(&plan, &progress, at_us(0));
    assert_eq!(begun().next(at_us(1_500_000)), Ok(Step::Measure));
    let mut silent = begun();
    silent.next(at_us(1_500_000)).unwrap();
    assert_eq!(silent.next(at_us(1_500_000)), Ok(Step::Send(0)));
    assert_eq!(silent.next(at_us(1_500_001)), Ok(Step::Over(EndedBy::Silence)));

    let mut closed = begun();
    assert!(!closed.heard(Heard::Closed, at_us(1)));
    assert_eq!(closed.next(at_us(1)), Ok(Step::Over(EndedBy::PeerClosed)));
    let mut closed = begun();
    closed.handed(Handed::Closed, at_us(1));
    assert_eq!(closed.next(at_us(1)), Ok(Step::Over(EndedBy::PeerClosed)));

    let mut foreign = begun();
    foreign.heard(Heard::Foreign, at_us(1));
    foreign.heard(Heard::Idle, at_us(1));
    foreign.heard(Heard::Alive, at_us(1));
    assert_eq!(foreign.counts.foreign, 1);
    progress.cancel();
    assert_eq!(foreign.next(at_us(1)), Ok(Step::Over(EndedBy::Cancelled)));
}

#[test]
fn a_refused_request_counts_only_in_the_measured_part() {
    let (plan, progress) = (Plan { outstanding_requests: 2, ..plan() }, Progress::default());
    let mut requester = ClosedLoop::new(&plan, &progress, at_us(0));
    assert_eq!(requester.next(at_us(5_000)), Ok(Step::Send(0)));
    requester.handed(Handed::Sent, at_us(5_000));
    assert_eq!(requester.next(at_us(5_000)), Ok(Step::Send(1)));
    requester.handed(Handed::Refused, at_us(5_000));
    assert_eq!(requester.counts.refused, 0);
    // A reply may arrive meanwhile.
    assert_eq!(requester.next(at_us(5_999)), Ok(Step::Listen(at_us(6_000))));
    assert_eq!(requester.next(at_us(54_500)), Ok(Step::Measure));
    assert_eq!(requester.next(at_us(54_500)), Ok(Step::Send(2)));
    requester.handed(Handed::Refused, at_us(54_500));
    // The first is overdue before the pause is over.
    assert_eq!(requester.next(at_us(54_600)), Ok(Step::Listen(at_us(55_000))));
    assert_eq!(requester.next(at_us(55_000)), Ok(Step::Wait(at_us(55_500))));
    assert_eq!((requester.counts.refused, requester.counts.sent), (1, 0));
}

fn ends<'a>(
    plan: &'a Plan,
    progress: &'a Progress,
    heard: &'a LastHeard,
) -> (RateSender<'a>, RateListener<'a>) {
    let schedule = RateSchedule::new(plan, plan.pace.unwrap(), at_us(0));
    (
        RateSender::new(plan, progress, heard, schedule),
        RateListener::new(plan, progress, heard, schedule),
    )
}

#[test]
fn a_schedule_has_its_warm_up_and_its_amount() {
    let schedule = |plan: &Plan| RateSchedule::new(plan, plan.pace.unwrap(), at_us(0));
    let by_time = schedule(&on_schedule());
    assert_eq!((by_time.total, by_time.slot(110)), (110, at_us(110_000)));
    let amount = EchoAmount::Requests(7);
    assert_eq!(schedule(&Plan { amount, ..on_schedule() }).total, 17);
}

#[test]
fn scheduled_senders_wait_and_count_measured_requests() {
    let plan = Plan { pace: Pace::from_message_rate(50.0), ..on_schedule() };
    let (progress, heard) = (Progress::default(), LastHeard::new(at_us(0)));
    let (mut sender, mut listener) = ends(&plan, &progress, &heard);
    assert_eq!(listener.counts.offered, 5);
    assert_eq!(sender.next(at_us(0)), Due::Send(0));
    sender.handed(Handed::Sent, at_us(0));
    // Due at 20 ms: the sender rests until less than 10 ms remain.
    assert_eq!(sender.next(at_us(9_999)), Due::Rest(at_us(19_999)));
    assert_eq!(sender.next(at_us(10_000)), Due::Wait(at_us(20_000)));
    assert_eq!(sender.next(at_us(20_000)), Due::Send(1));
    sender.handed(Handed::Sent, at_us(20_000));
    for number in 2..6 {
        assert_eq!(sender.next(at_us(20_000 * number)), Due::Send(number));
        let handed = if number == 3 { Handed::Refused } else { Handed::Sent };
        sender.handed(handed, at_us(20_000 * number));
    }
    assert_eq!(sender.next(at_us(100_000)), Due::Over);
    assert_eq!(progress.counted(), (5, 500));
    // Request 0 belongs to the warm-up.
    listener.heard(Heard::Reply(0), at_us(1_000));
    listener.heard(Heard::Reply(1), at_us(23_000));
    listener.heard(Heard::Reply(1), at_us(24_000));
    listener.heard(Heard::Reply(4), at_us(130_000));
    listener.heard(Heard::Reply(5), at_us(150_001));
    assert_eq!(listener.close(&sender, EndedBy::Finished, at_us(140_000)), EndedBy::Finished);
    let counts = &listener.counts;
    assert_eq!((counts.sent, counts.refused, counts.timeouts()), (4, 1, 2));
    assert_eq!((counts.duplicate, counts.late), (1, 1));
    let times = counts.round_trip.finish();
    assert_eq!((times.samples, times.min_ns, times.max_ns), (2, 3_000_000, 50_000_000));
    // From the first measured request to the last reply.
    assert_eq!(counts.elapsed_ns(), 130_001_000);
    assert_eq!(counts.sending(), (130_001_000, 2));
}

#[test]
fn a_sender_of_datagrams_stops_900_ms_after_it_heard_last() {
    let plan = Plan { amount: EchoAmount::TimeNs(9_000 * MS), ..on_schedule() };
    let (progress, heard) = (Progress::default(), LastHeard::new(at_us(0)));
    let (mut sender, mut listener) = ends(&plan, &progress, &heard);
    assert_eq!(sender.next(at_us(900_000)), Due::Send(0));
    sender.handed(Handed::Sent, at_us(900_000));
    assert_eq!(sender.next(at_us(901_000)), Due::Rest(at_us(911_000)));
    // After 50 ms without a request, it sends a keep-alive.
    assert_eq!(sender.next(at_us(950_000)), Due::Rest(at_us(960_000)));
    assert_eq!(sender.next(at_us(950_001)), Due::SayAlive);
    assert_eq!(sender.next(at_us(960_000)), Due::Rest(at_us(970_000)));
    listener.heard(Heard::Foreign, at_us(960_000));
    listener.heard(Heard::Idle, at_us(960_000));
    assert_eq!(sender.next(at_us(960_000)), Due::Rest(at_us(970_000)));
    listener.heard(Heard::Alive, at_us(961_000));
    assert_eq!(sender.next(at_us(961_000)), Due::Send(1));
    // Over TCP it does neither.
    let plan = Plan { transport: Transport::Tcp, ..plan };
    let (mut sender, _) = ends(&plan, &progress, &heard);
    assert_eq!(sender.next(at_us(5_000_000)), Due::Send(0));
}

#[test]
fn listeners_end_when_all_replies_arrived_or_timed_out() {
    let plan = Plan { amount: EchoAmount::Requests(2), warmup_ns: MS, ..on_schedule() };
    let (progress, heard) = (Progress::default(), LastHeard::new(at_us(0)));
    let (sender, mut listener) = ends(&plan, &progress, &heard);
    listener.heard(Heard::Reply(1), at_us(2_000));
    assert_eq!(listener.end(at_us(2_000), false), Ok(None));
    // The last request was sent at 3 ms; its reply is overdue after 50 ms.
    assert_eq!(listener.end(at_us(3_000), true), Ok(None));
    assert_eq!(listener.end(at_us(52_999), true), Ok(None));
    assert_eq!(listener.end(at_us(53_000), true), Ok(Some(EndedBy::Finished)));
    assert!(!progress.is_cancelled());
    listener.heard(Heard::Reply(2), at_us(4_000));
    assert_eq!(listener.end(at_us(4_000), true), Ok(Some(EndedBy::Finished)), "all are there");
    assert_eq!(listener.close(&sender, EndedBy::Silence, at_us(4_000)), EndedBy::Silence);

    let begun = || ends(&plan, &progress, &heard).1;
    assert_eq!(begun().end(at_us(1_500_000), false), Ok(None));
    assert_eq!(begun().end(at_us(1_500_001), false), Ok(Some(EndedBy::Silence)));
    assert!(progress.is_cancelled(), "its sender is to stop");
    assert_eq!(begun().end(at_us(0), false), Ok(Some(EndedBy::Cancelled)));
    let (mut sender, _) = ends(&plan, &progress, &heard);
    assert_eq!(sender.next(at_us(0)), Due::Over);
    assert_eq!(begun().close(&sender, EndedBy::Finished, at_us(0)), EndedBy::Cancelled);

    let progress = Progress::default();
    let (mut sender, mut listener) = ends(&plan, &progress, &heard);
    listener.heard(Heard::Closed, at_us(0));
    assert_eq!(listener.end(at_us(0), false), Ok(Some(EndedBy::PeerClosed)));
    sender.handed(Handed::Closed, at_us(0));
    assert_eq!(sender.next(at_us(0)), Due::Over);
}

#[test]
fn listeners_are_stopped_an_hour_after_their_deadline() {
    let plan = on_schedule();
    let (progress, heard) = (Progress::default(), LastHeard::new(at_us(0)));
    let (_, mut listener) = ends(&plan, &progress, &heard);
    let latest = plan.latest_end(at_us(0));
    listener.heard(Heard::Reply(0), latest);
    assert_eq!(listener.end(latest, false), Ok(None));
    let failure = listener.end(latest.plus_nanos(1), false).unwrap_err();
    assert_eq!(failure.code, "peer.too_long");
    assert!(progress.is_cancelled());
}
