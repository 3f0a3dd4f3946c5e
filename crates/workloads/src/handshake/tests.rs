use super::*;
use proptest::prelude::*;

const NONCE: u64 = 5 << 12;
const TOKEN: Token = Token([7; 16]);

fn message(kind: Kind) -> Message {
    Message { token: TOKEN, flow: 0, kind }
}

fn from(port: u16) -> SocketAddr {
    ([10, 0, 0, 1], port).into()
}

fn cookie(acceptor: &mut Acceptor, port: u16) -> u64 {
    let hello = message(Kind::Hello { nonce: 1 });
    let challenge = acceptor.handle(&hello, from(port), Instant::ZERO).unwrap();
    let Kind::Challenge { cookie } = challenge.kind else { panic!("{challenge:?}") };
    cookie
}

/// Run both ends over a link that loses the messages at true positions of `lost`; 1 ms each way.
fn run(lost: &[bool]) -> (InitiatorState, bool) {
    let mut lost = lost.iter().copied().chain(std::iter::repeat(false));
    let mut now = Instant::ZERO;
    let mut initiator = Initiator::new(TOKEN, 0, 1, now);
    let mut acceptor = Acceptor::new(TOKEN, 0, 2);
    // An initiator that never gives up, or asks endlessly, must fail the test and not block it.
    let mut steps = 0_u32;
    while initiator.state == InitiatorState::Asking {
        while let Some(request) = initiator.poll_transmit(now) {
            steps += 1;
            assert!(steps < 10_000, "asked {steps} times by {now:?}");
            if lost.next() == Some(false)
                && let Some(reply) = acceptor.handle(&request, from(1), now)
                && lost.next() == Some(false)
            {
                now = now.plus_nanos(2_000_000);
                initiator.handle(&reply, now);
            }
        }
        if let Some(timeout) = initiator.poll_timeout() {
            steps += 1;
            assert!(steps < 10_000, "still waiting for an answer at {now:?}");
            now = now.max(timeout);
            initiator.handle_timeout(now);
        }
    }
    (initiator.state, acceptor.peer().is_some())
}

#[test]
fn two_round_trips_make_a_session() {
    let accepted = InitiatorState::Accepted { round_trip_ns: 2_000_000 };
    assert_eq!(run(&[]), (accepted, true));
}

#[test]
fn a_dead_peer_times_out_after_five_seconds() {
    assert_eq!(run(&[true; 200]), (InitiatorState::GaveUp, false));
}

#[test]
fn a_stranger_gets_no_answer() {
    let mut acceptor = Acceptor::new(TOKEN, 0, 2);
    let mut ask = |message| acceptor.handle(&message, from(1), Instant::ZERO);
    assert_eq!(ask(Message { token: Token([8; 16]), ..message(Kind::Hello { nonce: 1 }) }), None);
    assert_eq!(ask(Message { flow: 1, ..message(Kind::Hello { nonce: 1 }) }), None);
    assert_eq!(ask(message(Kind::Prove { cookie: 2, nonce: 1 })), None);
    for kind in [
        Kind::Mark { first_measured: 0 },
        Kind::Finish { first_measured: 0, sent_messages: 0 },
        Kind::Alive { received_messages: 0 },
        Kind::Accept { nonce: 1 },
    ] {
        assert_eq!(ask(message(kind)), None);
    }
    assert_eq!(acceptor.peer(), None);
}

#[test]
fn cookies_are_bound_to_address_flow_and_session() {
    let mut acceptor = Acceptor::new(TOKEN, 0, 2);
    let given = cookie(&mut acceptor, 1);
    let prove = message(Kind::Prove { cookie: given, nonce: 1 });
    assert_eq!(acceptor.handle(&prove, from(2), Instant::ZERO), None);
    let mut later = Acceptor::new(TOKEN, 0, 3);
    assert_eq!(later.handle(&prove, from(1), Instant::ZERO), None);
    let mut other = Acceptor::new(TOKEN, 1, 2);
    assert_eq!(other.handle(&Message { flow: 1, ..prove }, from(1), Instant::ZERO), None);
    assert!(acceptor.handle(&prove, from(1), Instant::ZERO).is_some());
    assert_eq!(acceptor.peer(), Some(from(1)));
}

#[test]
fn the_first_proven_peer_gets_the_session() {
    let mut acceptor = Acceptor::new(TOKEN, 0, 2);
    let (first, second) = (cookie(&mut acceptor, 1), cookie(&mut acceptor, 2));
    let mut ask = |kind, port| acceptor.handle(&message(kind), from(port), Instant::ZERO);
    let accept = Some(message(Kind::Accept { nonce: 1 }));
    assert_eq!(ask(Kind::Prove { cookie: first, nonce: 1 }, 1), accept);
    // Another attempt of the same end gets its own answer; another end gets none.
    let again = Some(message(Kind::Accept { nonce: 9 }));
    assert_eq!(ask(Kind::Prove { cookie: first, nonce: 9 }, 1), again);
    assert_eq!(ask(Kind::Prove { cookie: first, nonce: 1 << 12 }, 1), None);
    assert_eq!(ask(Kind::Prove { cookie: second, nonce: 1 }, 2), None);
    assert_eq!(ask(Kind::Hello { nonce: 9 }, 1), None);
    assert_eq!(ask(Kind::Prove { cookie: first, nonce: 1 }, 1), accept);
}

#[test]
fn a_flood_of_questions_gets_100_answers_per_second() {
    let mut acceptor = Acceptor::new(TOKEN, 0, 2);
    let hello = message(Kind::Hello { nonce: 1 });
    // 100,000 in a second.
    let answers = (0..100_000_u64)
        .filter_map(|k| acceptor.handle(&hello, from(1), Instant::from_nanos(k * 10_000)))
        .count();
    assert_eq!(answers, 119);
}

fn at_ns(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

#[test]
fn questions_are_sent_every_50_ms_for_5_s() {
    let mut initiator = Initiator::new(Token([9; 16]), 3, NONCE + 77, at_ns(1_000));
    assert_eq!(initiator.poll_timeout(), Some(at_ns(1_000)));
    assert_eq!(initiator.poll_transmit(at_ns(999)), None);
    let hello = Message { token: Token([9; 16]), flow: 3, kind: Kind::Hello { nonce: NONCE } };
    let mut asked = 0;
    while initiator.state == InitiatorState::Asking {
        let now = initiator.poll_timeout().unwrap();
        initiator.handle_timeout(now);
        if let Some(message) = initiator.poll_transmit(now) {
            assert_eq!((message, now), (hello, at_ns(1_000 + 50_000_000 * asked)));
            assert_eq!(initiator.poll_transmit(now.plus_nanos(49_999_999)), None);
            asked += 1;
        }
    }
    assert_eq!((initiator.state, asked), (InitiatorState::GaveUp, 100));
    assert_eq!(initiator.poll_timeout(), None);
    let mut late = Initiator::new(TOKEN, 0, 1, at_ns(0));
    late.handle_timeout(at_ns(4_999_999_999));
    assert!(late.poll_transmit(at_ns(4_999_999_999)).is_some());
    assert_eq!(late.poll_timeout(), Some(at_ns(5_000_000_000)));
    assert_eq!(late.poll_transmit(at_ns(5_049_999_999)), None);
    late.handle_timeout(at_ns(5_000_000_000));
    assert_eq!(late.state, InitiatorState::GaveUp);
    late.handle(&message(Kind::Accept { nonce: 1 }), at_ns(5_000_000_000));
    assert_eq!(late.state, InitiatorState::GaveUp);
}

#[test]
fn the_first_cookie_is_returned_at_once_and_the_last_question_timed() {
    let mut initiator = Initiator::new(TOKEN, 0, NONCE, at_ns(0));
    initiator.poll_transmit(at_ns(0));
    initiator.handle(&message(Kind::Challenge { cookie: 11 }), at_ns(1_000_000));
    initiator.handle(&message(Kind::Challenge { cookie: 12 }), at_ns(1_000_001));
    assert_eq!(initiator.poll_timeout(), Some(at_ns(1_000_000)));
    let prove = |attempt| Some(message(Kind::Prove { cookie: 11, nonce: NONCE + attempt }));
    assert_eq!(initiator.poll_transmit(at_ns(1_000_002)), prove(0));
    // A repeated cookie does not speed it up.
    initiator.handle(&message(Kind::Challenge { cookie: 11 }), at_ns(1_000_003));
    assert_eq!(initiator.poll_transmit(at_ns(51_000_001)), None);
    assert_eq!(initiator.poll_transmit(at_ns(51_000_002)), prove(1));
    let accept = message(Kind::Accept { nonce: NONCE + 1 });
    let strange = [
        message(Kind::Accept { nonce: NONCE + (1 << 12) }),
        message(Kind::Accept { nonce: NONCE + 2 }),
        message(Kind::Accept { nonce: NONCE - 1 }),
        message(Kind::Mark { first_measured: 0 }),
        Message { flow: 1, ..accept },
        Message { token: Token([8; 16]), ..accept },
    ];
    for other in &strange {
        initiator.handle(other, at_ns(52_000_000));
        assert_eq!(initiator.state, InitiatorState::Asking, "{other:?}");
    }
    initiator.handle(&accept, at_ns(54_000_002));
    let accepted = InitiatorState::Accepted { round_trip_ns: 1_000_000 };
    assert_eq!(initiator.state, accepted);
    assert_eq!(initiator.poll_transmit(at_ns(200_000_000)), None);
    assert_eq!(initiator.poll_timeout(), None);
    initiator.handle_timeout(at_ns(6_000_000_000));
    initiator.handle(&accept, at_ns(6_000_000_000));
    assert_eq!(initiator.state, accepted);
}

#[test]
fn answers_are_limited_to_a_burst_of_20_then_one_per_10_ms() {
    let mut acceptor = Acceptor::new(TOKEN, 0, 2);
    let hello = message(Kind::Hello { nonce: 1 });
    let mut answers =
        |ns| (0..50).filter(|_| acceptor.handle(&hello, from(1), at_ns(ns)).is_some()).count();
    let begin = 7_000_000_000;
    assert_eq!(answers(begin), 20);
    assert_eq!(answers(begin + 9_999_999), 0);
    assert_eq!(answers(begin + 10_000_000), 1);
    assert_eq!(answers(begin + 35_000_000), 2);
    // However long the silence, no more answers are saved up.
    assert_eq!(answers(begin + 60_000_000_000), 20);
}

#[test]
fn only_proven_peers_get_repeated_answers() {
    let mut acceptor = Acceptor::new(TOKEN, 0, 2);
    let given = cookie(&mut acceptor, 1);
    let prove = message(Kind::Prove { cookie: given, nonce: 4 });
    assert_eq!(acceptor.handle_again(&prove, Instant::ZERO), None);
    let accept = Some(message(Kind::Accept { nonce: 4 }));
    assert_eq!(acceptor.handle(&prove, from(1), Instant::ZERO), accept);
    assert_eq!(acceptor.handle_again(&prove, Instant::ZERO), accept);
    let other = message(Kind::Prove { cookie: given ^ 1, nonce: 4 });
    assert_eq!(acceptor.handle_again(&other, Instant::ZERO), None);
}

proptest! {
    #[test]
    fn handshakes_survive_any_partial_loss(lost in prop::collection::vec(any::<bool>(), 0..40)) {
        let (state, proved) = run(&lost);
        let accepted = matches!(state, InitiatorState::Accepted { .. });
        prop_assert!(accepted);
        prop_assert!(proved);
    }
}

/// The measured round trip, ms, over a path of `one_way_ms` that loses the datagrams at these
/// positions.
fn measured_ms(one_way_ms: u64, lost: &[usize]) -> Option<u64> {
    let mut under_way = std::collections::BTreeMap::new();
    let (mut initiator, mut acceptor) =
        (Initiator::new(TOKEN, 0, NONCE, at_ns(0)), Acceptor::new(TOKEN, 0, 2));
    initiator = initiator.patient_for(60_000_000_000);
    let (mut now, mut turn) = (at_ns(0), 0);
    for _ in 0..10_000 {
        initiator.handle_timeout(now);
        while let Some(question) = initiator.poll_transmit(now) {
            turn += 1;
            if !lost.contains(&turn) {
                under_way.insert((now.plus_nanos(one_way_ms * 1_000_000), turn), (true, question));
            }
        }
        match initiator.state {
            InitiatorState::Accepted { round_trip_ns } => return Some(round_trip_ns / 1_000_000),
            InitiatorState::GaveUp => return None,
            InitiatorState::Asking => {}
        }
        let timeout = initiator.poll_timeout().unwrap();
        let Some(first) = under_way.first_entry().filter(|entry| entry.key().0 <= timeout) else {
            now = timeout;
            continue;
        };
        let ((at, _), (is_question, heard)) = first.remove_entry();
        now = at;
        if !is_question {
            initiator.handle(&heard, now);
        } else if let Some(answer) = acceptor.handle(&heard, from(1), now) {
            turn += 1;
            if !lost.contains(&turn) {
                under_way.insert((now.plus_nanos(one_way_ms * 1_000_000), turn), (false, answer));
            }
        }
    }
    panic!("it asks without end")
}

#[test]
fn long_round_trips_are_measured_with_several_requests_in_flight() {
    for one_way_ms in [0, 28, 300, 600, 1_000, 3_000, 10_000] {
        assert_eq!(measured_ms(one_way_ms, &[]), Some(2 * one_way_ms), "{one_way_ms}");
        // The first question of either kind is lost, or any ten.
        assert_eq!(measured_ms(one_way_ms, &[1]), Some(2 * one_way_ms), "{one_way_ms}");
        let lost: Vec<usize> = (1..=10).collect();
        assert_eq!(measured_ms(one_way_ms, &lost), Some(2 * one_way_ms), "{one_way_ms}");
    }
    assert_eq!(measured_ms(31_000, &[]), None);
}
