//! A plan of a stream, for tests to vary.

use lanlab_messages::{Amount, Io, Receive, Timestamps, WhenLate};
use lanlab_workloads::stream::Plan;

const MS: u64 = 1_000_000;

/// 100 bytes, 1 s measured after a warm-up of 100 ms; messages later than 50 ms after the end are overdue.
pub fn plan() -> Plan {
    Plan {
        message_bytes: 100,
        amount: Amount::TimeNs(1_000 * MS),
        pace: None,
        shared_pace: None,
        flows: 1,
        threads: None,
        io: Io::Single,
        io_choice: None,
        receive: Receive::Block,
        receive_choice: None,
        read_bytes: 1,
        when_late: WhenLate::CatchUp,
        timestamps: Timestamps::Program,
        drain_ns: 50 * MS,
        group: 1,
        warmup_ns: 100 * MS,
        interval_ns: 100 * MS,
        silence_ns: 1_000 * MS,
        round_trip_ns: 0,
    }
}
