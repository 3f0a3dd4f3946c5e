//! Which plans there are, and that each has an end.

use lanlab_units::Instant;
use lanlab_workloads::stream::OVERTIME_NS;

use super::*;
use crate::messages::{Receive, SocketOptions, WhenLate};
use proptest::prelude::*;

pub fn spec(amount: Amount, rate: Option<Rate>, size: u32, flows: u16) -> StreamSpec {
    StreamSpec {
        transport: Transport::Tcp,
        message_size_bytes: size,
        amount,
        rate,
        flows,
        threads: None,
        io: Io::Auto,
        receive: Receive::Auto,
        read_bytes: 1,
        when_late: WhenLate::CatchUp,
        timestamps: Timestamps::Program,
        socket: SocketOptions::default(),
        warmup_ns: 600_000_000_000,
        drain_ns: 60_000_000_000,
        interval_ns: 1_000_000,
        silence_ns: 600_000_000_000,
    }
}

#[test]
fn what_cannot_be_added_up_is_refused() {
    let refused = |amount, rate, size| plan(&spec(amount, rate, size, 1000)).is_err();
    let most = Amount::Messages(1 << 40);
    assert!(refused(most, None, 1 << 24), "a tebi-message of 16 MiB");
    assert!(!refused(most, None, 1024));
    let day = Amount::TimeNs(LONGEST_NS);
    assert!(refused(day, Some(Rate::Bps(1)), 1 << 24), "a message in four years");
    assert!(refused(day, Some(Rate::Bps(400_000_000_000)), 1), "50 thousand million a second");
    assert!(!refused(day, Some(Rate::Bps(400_000_000_000)), 1500));
}

proptest! {
    /// A day, an hour, and what warm-up, drain and silence are at most; but a slow rate has three
    /// periods for a silence.
    #[test]
    fn every_plan_has_an_end(amount: u64, in_time: bool, rate_bps: u64, size: u32, flows: u16) {
        let amount = if in_time { Amount::TimeNs(amount) } else { Amount::Bytes(amount) };
        if let Ok(plan) = plan(&spec(amount, Some(Rate::Bps(rate_bps)), size, flows)) {
            let start = Instant::from_nanos(5);
            let longest_ns = plan.latest_end(start).nanos_since(start);
            let slow_ns = 3 * plan.pace.map_or(0, |pace| pace.period_ns());
            prop_assert!(longest_ns <= LONGEST_NS + OVERTIME_NS + 1_260_000_000_000 + slow_ns);
            prop_assert!(cost(&plan, 1 << 24, 16).memory_bytes < 1 << 40);
        }
    }
}
