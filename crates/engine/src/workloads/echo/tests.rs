//! Valid and invalid plans of an echo.

use super::*;
use crate::messages::SocketOptions;

/// 100 bytes over UDP for a second; a reply is overdue after 50 ms.
pub fn spec() -> EchoSpec {
    EchoSpec {
        transport: Transport::Udp,
        message_size_bytes: 100,
        amount: EchoAmount::TimeNs(1_000_000_000),
        rate_requests_per_s: None,
        outstanding_requests: 1,
        timeout_ns: 50_000_000,
        timeout_follows_path: false,
        receive: Receive::Auto,
        timestamps: Timestamps::Program,
        socket: SocketOptions::default(),
        warmup_ns: 0,
        silence_ns: 100_000_000,
    }
}

fn is_allowed(change: impl Fn(&mut EchoSpec)) -> bool {
    let mut spec = spec();
    change(&mut spec);
    plan(&spec).is_ok()
}

#[test]
fn values_are_allowed_up_to_their_bounds() {
    let timeouts = [999_999, 1_000_000, 60_000_000_000, 60_000_000_001];
    let allowed = [false, true, true, false];
    assert_eq!(timeouts.map(|ns| is_allowed(|s| s.timeout_ns = ns)), allowed);
    let times = [999_999, 1_000_000, LONGEST_NS, LONGEST_NS + 1];
    assert_eq!(times.map(|ns| is_allowed(|s| s.amount = EchoAmount::TimeNs(ns))), allowed);
    let counts = [0, 1, 1 << 32, (1 << 32) + 1];
    assert_eq!(counts.map(|n| is_allowed(|s| s.amount = EchoAmount::Requests(n))), allowed);
    let rates = [0.0, 0.001, 10_000_000.0, 10_000_001.0];
    assert_eq!(rates.map(|rate| is_allowed(|s| s.rate_requests_per_s = Some(rate))), allowed);
}

#[test]
fn slow_rates_and_time_outs_are_not_silence() {
    let silence_ms = |rate, timeout_ms: u64, silence_ms: u64| {
        let spec = EchoSpec {
            rate_requests_per_s: rate,
            timeout_ns: timeout_ms * 1_000_000,
            silence_ns: silence_ms * 1_000_000,
            ..spec()
        };
        plan(&spec).unwrap().silence_ns / 1_000_000
    };
    assert_eq!(silence_ms(None, 50, 100), 150);
    assert_eq!(silence_ms(None, 50, 1_000), 1_000);
    // Three periods of half a second.
    assert_eq!(silence_ms(Some(2.0), 50, 100), 1_500);
    assert_eq!(silence_ms(Some(2.0), 600, 100), 1_800);
}

#[test]
fn echoes_block_in_the_kernel_by_default() {
    let receive = |receive| plan(&EchoSpec { receive, ..spec() }).unwrap().receive;
    let all = [Receive::Auto, Receive::Block, Receive::Poll, Receive::Spin];
    assert_eq!(all.map(receive), [Receive::Block, Receive::Block, Receive::Poll, Receive::Spin]);
}

#[test]
fn requests_in_flight_are_limited_by_numbers_and_buffers() {
    let counts = |size| {
        move |count| is_allowed(|s| (s.message_size_bytes, s.outstanding_requests) = (size, count))
    };
    assert_eq!([0, 1, 64, 65].map(counts(1)), [false, true, true, false]);
    assert_eq!([0, 1, 16_384, 16_385].map(counts(2)), [false, true, true, false]);
    let rate = Some(1_000.0);
    let paced =
        |count| is_allowed(|s| (s.rate_requests_per_s, s.outstanding_requests) = (rate, count));
    assert_eq!([1, 2].map(paced), [true, false]);
    let of_kernel = |s: &mut EchoSpec| s.timestamps = Timestamps::Kernel;
    assert!(!is_allowed(|s| {
        of_kernel(s);
        s.outstanding_requests = 2;
    }));
    assert!(!is_allowed(|s| {
        of_kernel(s);
        s.rate_requests_per_s = rate;
    }));
    // Over TCP at most 65,536 bytes in all, or the size of the smaller buffer.
    let tcp = |size, count, send, receive| {
        is_allowed(|s| {
            s.transport = Transport::Tcp;
            (s.message_size_bytes, s.outstanding_requests) = (size, count);
            (s.socket.send_buffer_bytes, s.socket.receive_buffer_bytes) = (send, receive);
        })
    };
    assert_eq!([tcp(1_024, 64, None, None), tcp(1_024, 65, None, None)], [true, false]);
    assert!(tcp(100_000, 1, None, None), "a single one may be of any size");
    let small = Some(4_096);
    assert_eq!([tcp(1_024, 4, small, None), tcp(1_024, 5, small, None)], [true, false]);
    assert_eq!(
        [tcp(1_024, 4, Some(8_192), small), tcp(1_024, 5, Some(8_192), small)],
        [true, false]
    );
    let mut refused = spec();
    refused.transport = Transport::Tcp;
    (refused.message_size_bytes, refused.outstanding_requests) = (1_000, 66);
    let message = "`outstanding_requests`: found 66; allowed: 65536 bytes in all over tcp, which is \
                   65 requests of 1000 bytes";
    assert_eq!(plan(&refused).unwrap_err().message, message);
}

#[test]
fn an_echo_needs_memory_for_messages_and_requests_and_a_thread() {
    let cost = cost(&plan(&EchoSpec { outstanding_requests: 10, ..spec() }).unwrap());
    assert_eq!(cost.memory_bytes, 200 + 10 * 32 + METERS_BYTES + FLOW_BYTES);
    assert_eq!(cost.threads, 1 + OWN_THREADS);
}

#[test]
fn every_irregular_end_is_a_failure() {
    let code = |ended_by| failure_of(ended_by).map(|failure| failure.code);
    assert_eq!([code(EndedBy::Finished), code(EndedBy::Unconfirmed)], [None, None]);
    assert_eq!([code(EndedBy::Silence), code(EndedBy::PeerClosed)], [Some("peer.gone"); 2]);
    let others = [code(EndedBy::Failed), code(EndedBy::Cancelled)];
    assert_eq!(others, [Some("system.call"), Some("cancelled")]);
}

#[test]
fn a_polling_end_sleeps_between_polls() {
    let plan = plan(&EchoSpec { receive: Receive::Poll, ..spec() }).unwrap();
    let began = os::monotonic();
    (0..5).for_each(|_| rest(&plan));
    assert!(os::monotonic().nanos_since(began) >= 5 * POLL_NS);
}
