//! A machine: the costs of its software on its processor, the sizes of its queues, its TCP, its files.

use super::cost::SimulatedCost;
use super::numbers::{Row, numbers};
use super::store::SimulatedStore;
use crate::Failure;

numbers! {
    /// A machine with its operating system. For `interrupt`, `protocol` and `transmit`, bytes are
    /// those of the IP packet; for calls, those of the message. A cost of 0 takes no time.
    pub struct SimulatedMachine {
        interrupt: SimulatedCost = SimulatedCost::ZERO, as "interrupt",
            "of each received frame, at interrupt level.";
        protocol: SimulatedCost = SimulatedCost::ZERO, as "protocol",
            "of each received frame, at protocol level.";
        receive_call: SimulatedCost = SimulatedCost::ZERO, as "receive_call",
            "of each receive call of a program.";
        send_call: SimulatedCost = SimulatedCost::ZERO, as "send_call", "of each send call of a program.";
        transmit: SimulatedCost = SimulatedCost::ZERO, as "transmit",
            "of each sent frame, at protocol level.";
        ring_frames: u32 = 16, in 1 to 65_536, "Received frames that the adapter buffers.", required;
        queue_frames: u32 = 50, in 1 to 65_536, "Received frames queued for protocol processing.", required;
        transmit_queue_frames: u32 = 32, in 1 to 65_536, "Outgoing frames that the adapter buffers.", required;
        receive_buffer_bytes: u32 = 65_536, in 1 to 16_777_216,
            "Payload capacity of a UDP receive buffer.", required;
        send_buffer_bytes: u32 = 65_536, in 1 to 16_777_216, "Payload capacity of a send buffer.", required;
        adapter_rate_ratio: f64 = 1.0, in 0.000_001 to 1, "Sending rate as a share of the link's.";
        jitter_ratio: f64 = 0.0, in 0 to 1, "Random variation of each cost, as a share up and down.";
        message_bytes: Option<u32> = None, in 512 to 65_535,
            "SMB 1 server: longest message accepted. Default: that of its system or carrier.";
        freeze: Option<SimulatedFreeze> = None, as "freeze", "Fault: a machine that stops for a time.";
        tcp: SimulatedTcp = SimulatedTcp::default(), "TCP.";
        store: Option<SimulatedStore> = None, "Files; absent: they take no time.";
    }
}

impl SimulatedMachine {
    pub fn check(&self, key: &str) -> Result<(), Failure> {
        Row::check(self, key, 0.0, 0.0)
    }
}

numbers! {
    /// The processor stops, and the adapter receives frames until its buffer is full.
    #[derive(Copy, Eq)]
    pub struct SimulatedFreeze {
        after_ns: u64 = 0, in 0 to 3_600_000_000_000_u64, as "after_ms",
            "Fault: freeze this long after the start.";
        for_ns: u64 = 3_600_000_000_000, in 1 to 3_600_000_000_000_u64, as "ms", "Duration of the freeze.";
    }
}

numbers! {
    /// The defaults are those of Windows NT and 95.
    #[derive(Copy, Eq)]
    pub struct SimulatedTcp then check_microseconds {
        mss_bytes: Option<u16> = None, in 64 to 1460,
            "Largest TCP segment accepted; 1,440 over IPv6. Default: a full frame.";
        window_bytes: u32 = 8_760, in 536 to 1_048_576,
            "TCP receive buffer, and so the largest window.", required;
        delayed_ack_ns: u64 = 200_000_000, in 0 to 500_000_000, as "delayed_ack_ms",
            "Longest delay of a TCP acknowledgement.", required;
        nagle: bool = true,
            "1: a short segment waits until all data is acknowledged (Nagle). 0: it does not.", required;
    }
}

impl SimulatedTcp {
    fn check_microseconds(self, key: &str) -> Result<(), Failure> {
        if self.delayed_ack_ns.is_multiple_of(1_000) {
            return Ok(());
        }
        Err(Failure::value(
            &format!("{key}delayed_ack_ns"),
            self.delayed_ack_ns,
            "whole microseconds",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::SimulatedDisk;
    use super::*;

    fn refused(change: impl FnOnce(&mut SimulatedMachine)) -> String {
        let mut machine = SimulatedMachine::default();
        change(&mut machine);
        machine.check("").map_or_else(|failure| failure.message, |()| "allowed".into())
    }

    fn refused_store(store: SimulatedStore) -> String {
        refused(|machine| machine.store = Some(store))
    }

    #[test]
    fn costs_add_a_part_per_message_and_a_part_per_byte() {
        let cost = SimulatedCost { each_ns: 2_000_000, per_byte_ps: 1_000_000 };
        assert_eq!(cost.of(750), 2_750_000);
        assert_eq!(SimulatedCost { each_ns: 0, per_byte_ps: 1 }.of(499), 0);
        assert_eq!(SimulatedCost { each_ns: 0, per_byte_ps: 1 }.of(500), 1);
    }

    #[test]
    fn bounds_are_allowed_and_nothing_beyond_them() {
        let most = SimulatedCost { each_ns: 10_000_000_000, per_byte_ps: 1_000_000_000 };
        assert_eq!(refused(|machine| machine.interrupt = most), "allowed");
        assert_eq!(refused(|machine| machine.queue_frames = 65_536), "allowed");
        assert_eq!(refused(|machine| machine.adapter_rate_ratio = 0.000_001), "allowed");
        let more = SimulatedCost { each_ns: most.each_ns + 1, ..most };
        for (found, expected) in [
            (
                refused(|machine| machine.send_call = more),
                "send_call.each_ns` 10000000001 0 10000000000",
            ),
            (refused(|machine| machine.ring_frames = 0), "ring_frames` 0 1 65536"),
            (refused(|machine| machine.queue_frames = 65_537), "queue_frames` 65537 1 65536"),
            (
                refused(|machine| machine.adapter_rate_ratio = 0.0),
                "adapter_rate_ratio` 0 0.000001 1",
            ),
            (refused(|machine| machine.jitter_ratio = f64::NAN), "jitter_ratio` NaN 0 1"),
            (refused(|machine| machine.tcp.mss_bytes = Some(63)), "tcp.mss_bytes` 63 64 1460"),
        ] {
            let words: Vec<_> = expected.split(' ').collect();
            let [key, value, least, most] = words[..] else { panic!("{expected}") };
            assert_eq!(found, format!("`{key}: found {value}; allowed: {least} to {most}"));
        }
    }

    #[test]
    fn numbers_that_do_not_fit_together_are_refused() {
        let store = SimulatedStore::default();
        let disk = |change: fn(&mut SimulatedDisk)| {
            let mut store = store;
            change(&mut store.disk);
            refused_store(store)
        };
        for (found, expected) in [
            (
                disk(|disk| disk.interleave = 65),
                "`store.disk.interleave`: found 65; allowed: 1 to 64",
            ),
            (disk(|disk| disk.heads = 0), "`store.disk.heads`: found 0; allowed: 1 to 65536"),
            (
                disk(|disk| disk.cylinders = u32::MAX),
                "`store.disk.sectors`: found 17592186040320; allowed: 1 to 4294967296",
            ),
            (
                refused_store(SimulatedStore { block_bytes: 1000, ..store }),
                "`store.block_bytes`: found 1000; allowed: whole sectors of 512",
            ),
            (
                refused_store(SimulatedStore { write_behind_blocks: 1, ..store }),
                "`store.write_behind_blocks`: found 1; allowed: 0 to 0",
            ),
            (
                refused(|machine| machine.tcp.delayed_ack_ns = 1),
                "`tcp.delayed_ack_ns`: found 1; allowed: whole microseconds",
            ),
        ] {
            assert_eq!(found, expected);
        }
    }
}
