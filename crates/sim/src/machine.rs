//! What a machine is: the costs of its software on its processor, and the sizes of its queues.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// For each frame or message, ns.
    pub each_ns: u64,
    pub per_byte_ps: u64,
}

/// Longest time of one thing, ns: a quarter of an hour. More is a mistake in a unit.
const MOST_EACH_NS: u64 = 900_000_000_000;
/// Longest time of one byte, ps: 1 ms.
const MOST_PER_BYTE_PS: u64 = 1_000_000_000;
const MOST_FRAMES: u32 = 1_000_000;

impl Cost {
    pub const ZERO: Self = Self { each_ns: 0, per_byte_ps: 0 };

    /// Processor time for `bytes`, ns, rounded to the nearest.
    pub const fn of(self, bytes: u64) -> u64 {
        let bytes_ns = self.per_byte_ps.saturating_mul(bytes).saturating_add(500) / 1000;
        self.each_ns.saturating_add(bytes_ns)
    }
}

/// A machine with its operating system.
///
/// The bytes of `interrupt`, `protocol` and `transmit` are those of the frame's payload, without Ethernet's
/// header, padding and check sequence; those of the calls are the bytes of the message.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    pub name: String,
    pub interrupt: Cost,
    pub protocol: Cost,
    pub transmit: Cost,
    pub receive_call: Cost,
    pub send_call: Cost,
    /// Frames that the adapter holds until their interrupts are done, the one in work included.
    pub ring_frames: u32,
    pub queue_frames: u32,
    /// Frames that wait for the adapter or for their transmit cost, without the one on the medium.
    pub transmit_queue_frames: u32,
    /// Share of the medium's rate that the adapter can send at, above 0 up to 1: below 1 it waits after
    /// each frame, so that frames back to back take the time of the wire divided by this.
    pub adapter_rate_ratio: f64,
    /// How much a cost varies, 0 to 1: each is drawn evenly from `cost · (1 ± jitter_ratio)`.
    pub jitter_ratio: f64,
}

impl Machine {
    /// A machine that costs no time, with queues of the usual sizes.
    pub fn without_costs(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            interrupt: Cost::ZERO,
            protocol: Cost::ZERO,
            transmit: Cost::ZERO,
            receive_call: Cost::ZERO,
            send_call: Cost::ZERO,
            ring_frames: 16,
            queue_frames: 50,
            transmit_queue_frames: 32,
            adapter_rate_ratio: 1.0,
            jitter_ratio: 0.0,
        }
    }

    pub(crate) fn most_frames(&self) -> u64 {
        [self.ring_frames, self.queue_frames, self.transmit_queue_frames, 1]
            .into_iter()
            .map(u64::from)
            .sum()
    }

    pub fn check(&self) -> Result<(), BadMachine> {
        let costs = [
            ("interrupt", self.interrupt),
            ("protocol", self.protocol),
            ("transmit", self.transmit),
            ("receive_call", self.receive_call),
            ("send_call", self.send_call),
        ];
        for (field, cost) in costs {
            if cost.each_ns > MOST_EACH_NS {
                return Err(self.bad(
                    field,
                    "each_ns",
                    cost.each_ns,
                    format!("0 to {MOST_EACH_NS}"),
                ));
            }
            if cost.per_byte_ps > MOST_PER_BYTE_PS {
                let allowed = format!("0 to {MOST_PER_BYTE_PS}");
                return Err(self.bad(field, "per_byte_ps", cost.per_byte_ps, allowed));
            }
        }
        let queues = [
            ("ring_frames", self.ring_frames),
            ("queue_frames", self.queue_frames),
            ("transmit_queue_frames", self.transmit_queue_frames),
        ];
        for (field, frames) in queues {
            if !(1..=MOST_FRAMES).contains(&frames) {
                return Err(self.bad(field, "", frames, format!("1 to {MOST_FRAMES}")));
            }
        }
        if !(self.adapter_rate_ratio > 0.0 && self.adapter_rate_ratio <= 1.0) {
            let found = self.adapter_rate_ratio;
            return Err(self.bad("adapter_rate_ratio", "", found, "above 0, up to 1".into()));
        }
        if !(0.0..=1.0).contains(&self.jitter_ratio) {
            return Err(self.bad("jitter_ratio", "", self.jitter_ratio, "0 to 1".into()));
        }
        Ok(())
    }

    fn bad(
        &self,
        field: &str,
        part: &str,
        found: impl fmt::Display,
        allowed: String,
    ) -> BadMachine {
        let field = if part.is_empty() { field.to_owned() } else { format!("{field}.{part}") };
        BadMachine { machine: self.name.clone(), field, found: found.to_string(), allowed }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadMachine {
    pub machine: String,
    pub field: String,
    pub found: String,
    pub allowed: String,
}

impl std::error::Error for BadMachine {}

impl fmt::Display for BadMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, field, found, allowed } = self;
        write!(f, "machine `{machine}`: `{field}` is {found}, allowed: {allowed}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_have_a_fixed_and_a_per_byte_part() {
        let cost = Cost { each_ns: 2_000_000, per_byte_ps: 1_000_000 };
        assert_eq!(cost.of(750), 2_750_000);
        assert_eq!(Cost { each_ns: 0, per_byte_ps: 1 }.of(499), 0);
        assert_eq!(Cost { each_ns: 0, per_byte_ps: 1 }.of(500), 1);
    }

    #[test]
    fn a_value_out_of_range_is_named_with_its_range() {
        let good = Machine::without_costs("486");
        assert_eq!(good.check(), Ok(()));
        let text = |machine: Machine| machine.check().unwrap_err().to_string();
        assert_eq!(
            text(Machine { ring_frames: 0, ..good.clone() }),
            "machine `486`: `ring_frames` is 0, allowed: 1 to 1000000"
        );
        assert_eq!(
            text(Machine { adapter_rate_ratio: f64::NAN, ..good.clone() }),
            "machine `486`: `adapter_rate_ratio` is NaN, allowed: above 0, up to 1"
        );
        let protocol = Cost { each_ns: u64::MAX, per_byte_ps: 0 };
        assert_eq!(
            text(Machine { protocol, ..good }),
            "machine `486`: `protocol.each_ns` is 18446744073709551615, allowed: 0 to 900000000000"
        );
    }

    #[test]
    fn bounds_of_machine_values_are_inclusive() {
        let good = Machine::without_costs("486");
        let largest = Cost { each_ns: 900_000_000_000, per_byte_ps: 1_000_000_000 };
        for machine in [
            Machine { interrupt: largest, send_call: largest, ..good.clone() },
            Machine { ring_frames: 1, queue_frames: 1_000_000, ..good.clone() },
            Machine { adapter_rate_ratio: f64::MIN_POSITIVE, ..good.clone() },
            Machine { jitter_ratio: 1.0, ..good.clone() },
        ] {
            assert_eq!(machine.check(), Ok(()));
        }
        let longer = Cost { each_ns: largest.each_ns + 1, ..largest };
        let larger = Cost { per_byte_ps: largest.per_byte_ps + 1, ..largest };
        for (machine, field) in [
            (Machine { interrupt: longer, ..good.clone() }, "interrupt.each_ns"),
            (Machine { send_call: larger, ..good.clone() }, "send_call.per_byte_ps"),
            (Machine { queue_frames: 1_000_001, ..good.clone() }, "queue_frames"),
            (Machine { transmit_queue_frames: 0, ..good.clone() }, "transmit_queue_frames"),
            (Machine { adapter_rate_ratio: 0.0, ..good.clone() }, "adapter_rate_ratio"),
            (Machine { adapter_rate_ratio: 1.01, ..good.clone() }, "adapter_rate_ratio"),
            (Machine { jitter_ratio: -0.01, ..good }, "jitter_ratio"),
        ] {
            assert_eq!(machine.check().unwrap_err().field, field);
        }
    }
}
