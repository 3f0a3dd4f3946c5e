//! Both ends of a stream and of an echo over paths that take long, in virtual time: what is measured does
//! not depend on the delay.

mod datagram_link;
mod echo_ends;
mod stream_ends;

use datagram_link::{Faults, MS};
use echo_ends::{closed_loop, on_schedule};
use lanlab_messages::{Amount, EchoAmount, EndedBy};
use lanlab_units::Pace;
use lanlab_wire::session::Kind;
use lanlab_workloads::echo;
use lanlab_workloads::stream::Plan;
use stream_ends::{START_NS, plan, trial};

/// One-way delays, ms: a LAN, across a continent, satellites, and up to what a link of lanlab's may have.
const DELAYS_MS: [u64; 7] = [0, 28, 300, 600, 1_000, 3_000, 10_000];

fn path(delay_ms: u64) -> Faults {
    Faults { delay_ns: delay_ms * MS, ..Faults::default() }
}

/// A stream as lanlab asks for one by default: 0.2 s of warm-up, 0.5 s for what is late, 3 s of silence.
fn usual(rate: f64, time_ms: u64) -> Plan {
    let pace = Pace::from_message_rate(rate);
    let amount = Amount::TimeNs(time_ms * MS);
    let (warmup_ns, drain_ns, silence_ns) = (200 * MS, 500 * MS, 3_000 * MS);
    Plan { pace, shared_pace: pace, amount, warmup_ns, drain_ns, silence_ns, ..plan() }
}

#[test]
fn streams_arrive_whole_over_paths_of_any_length() {
    for delay_ms in DELAYS_MS {
        for time_ms in [1_000, 3_000] {
            let trial = trial(&usual(1_000.0, time_ms), path(delay_ms), 1, START_NS);
            let counts = &trial.counts;
            assert_eq!(trial.sent.sent_messages, time_ms, "{delay_ms}");
            assert_eq!(counts.measured_messages, time_ms, "{delay_ms}");
            assert_eq!(counts.overdue_messages, 0, "{delay_ms}");
            // Its goodput is its rate: as many arrive in the window as left in as long a time.
            assert_eq!(counts.window_ns, time_ms * MS, "{delay_ms}");
            assert_eq!(counts.window_messages, time_ms, "{delay_ms}");
            assert_eq!(trial.sent.paused_ns, 0, "{delay_ms}");
            let ends = (trial.sent.ended_by, trial.received_by);
            assert_eq!(ends, (EndedBy::Finished, EndedBy::Finished), "{delay_ms}");
            // Nothing takes longer than the stream, the way of its end, and that of the answer.
            let (one_way_ns, sent_ns) = ((delay_ms + 1) * MS, trial.last_left_ns);
            assert!(sent_ns / MS <= 200 + time_ms, "{delay_ms}: {sent_ns}");
            let longest_ns = (200 + time_ms) * MS + one_way_ns + 300 * MS;
            assert!(trial.receiver_ns <= longest_ns, "{delay_ms}: {}", trial.receiver_ns);
            assert!(trial.sender_ns <= longest_ns + one_way_ns, "{delay_ms}: {}", trial.sender_ns);
            assert_eq!(trial.one_way_delays, time_ms, "{delay_ms}");
        }
    }
}

#[test]
fn streams_without_warm_up_lose_only_the_link_millisecond() {
    for delay_ms in DELAYS_MS {
        let plan = Plan { warmup_ns: 0, ..usual(1_000.0, 1_000) };
        let counts = trial(&plan, path(delay_ms), 1, START_NS).counts;
        assert_eq!(counts.measured_messages, 1_000, "{delay_ms}");
        let in_window = 1_000 - counts.window_messages;
        assert!(in_window <= delay_ms.min(20) + 1, "{delay_ms}: {in_window}");
    }
}

#[test]
fn marks_do_not_flood_long_paths() {
    for delay_ms in DELAYS_MS {
        let trial = trial(&usual(1_000.0, 1_000), path(delay_ms), 1, START_NS);
        let marks = trial.times_said(|kind| matches!(kind, Kind::Mark { .. }));
        assert!((1..=6).contains(&marks), "{delay_ms}: {marks}");
    }
}

#[test]
fn losses_on_long_paths_are_counted_exactly() {
    for delay_ms in [600, 3_000] {
        let faults = Faults { loss: 0.05, ..path(delay_ms) };
        let trial = trial(&usual(1_000.0, 3_000), faults, 3, START_NS);
        let lost = trial.link.lost.range(trial.sent.first_measured..).count() as u64;
        assert!((90..220).contains(&lost), "{lost}");
        assert_eq!(trial.counts.measured_messages, 3_000 - lost, "{delay_ms}");
        assert_eq!(trial.received_by, EndedBy::Finished, "{delay_ms}");
    }
}

/// An echo as lanlab asks for one by default.
fn usual_echo(plan: &echo::Plan, amount: EchoAmount) -> echo::Plan {
    let timeout_ns = 1_000 * MS;
    let (warmup_ns, silence_ns) = (200 * MS, 3_000 * MS);
    echo::Plan {
        amount,
        timeout_ns,
        warmup_ns,
        silence_ns,
        timeout_follows_path: true,
        ..plan.clone()
    }
}

#[test]
fn round_trips_are_timed_on_paths_of_any_length() {
    for delay_ms in DELAYS_MS {
        let rare = echo::Plan { pace: Pace::from_message_rate(10.0), ..on_schedule() };
        for plan in [closed_loop(), rare] {
            let plan = usual_echo(&plan, EchoAmount::Requests(5));
            let trial = echo_ends::trial(&plan, path(delay_ms), 1);
            assert!(echo_ends::finished(&trial), "{delay_ms}");
            let times = trial.counts.round_trip.finish();
            // The link itself takes a millisecond each way.
            let round_trip_ns = 2 * (delay_ms + 1).cast_signed() * 1_000_000;
            let found = (times.samples, times.min_ns, times.max_ns);
            assert_eq!(found, (5, round_trip_ns, round_trip_ns), "{delay_ms}");
        }
    }
}

#[test]
fn echoes_too_short_for_their_path_are_refused_with_a_hint() {
    let refused = |plan: &echo::Plan, round_trip_ms: u64| {
        let failure = plan.on_path(round_trip_ms * MS).unwrap_err();
        (failure.code, failure.message, failure.hint.unwrap_or_default())
    };
    let plan = usual_echo(&closed_loop(), EchoAmount::TimeNs(4_000 * MS));
    assert_eq!(plan.on_path(1_200 * MS).unwrap().timeout_ns, 3_600 * MS);
    assert_eq!(plan.on_path(2 * MS).unwrap().timeout_ns, 1_000 * MS);
    let asked = echo::Plan { timeout_follows_path: false, ..plan.clone() };
    let (code, message, hint) = refused(&asked, 1_200);
    assert_eq!(code, "echo.timeout_below_path");
    assert_eq!(message, "a round trip of this path takes 1.200 s, a reply may take 1.000 s");
    assert!(hint.contains("--timeout"), "{hint}");
    assert_eq!(asked.on_path(999 * MS).unwrap().timeout_ns, 1_000 * MS);
    let (code, message, hint) = refused(&plan, 20_000);
    assert_eq!(code, "echo.time_below_path");
    assert!(message.contains("20.000 s, the trial 4.200 s"), "{message}");
    assert!(hint.contains("--time 40"), "{hint}");
}
