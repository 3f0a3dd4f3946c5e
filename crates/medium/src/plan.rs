//! Parameters of a medium, and reasons to refuse them.

use std::fmt;

use crate::bit_time::{BitClock, Exact};

/// Bits of the interframe gap (IEEE 802.3, 4.4.2: `interPacketGap`).
pub const GAP_BITS: u64 = 96;
/// Bits of a slot (IEEE 802.3, 4.4.2: `slotTime` up to 100 Mbit/s).
pub const SLOT_BITS: u64 = 512;
/// The shortest frame on the wire, bytes: preamble and SFD 8, frame 60, FCS 4.
pub const MIN_WIRE_BYTES: u32 = 72;
pub const MAX_PORTS: u16 = 256;
pub const RATES_BPS: std::ops::RangeInclusive<u64> = 1_000..=100_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topology {
    Cable,
    Switch,
    /// A half-duplex bus or hub with CSMA/CD (IEEE 802.3, clause 4).
    ///
    /// The propagation time determines how often frames collide. At 10 Mbit/s, 2.5 µs fits a short
    /// segment: a hub with its cables, or 500 m of coaxial cable. 25.6 µs, half a slot, is the
    /// longest at which every collision is still heard; more is refused.
    Bus,
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cable => "cable",
            Self::Switch => "switch",
            Self::Bus => "bus",
        })
    }
}

/// Random loss, independent for each receiver's copy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LossPlan {
    Never,
    Random {
        ratio: f64,
    },
    /// Losses come in bursts (E. N. Gilbert, "Capacity of a Burst-Noise Channel", 1960): each receiver
    /// is in a good state, in which nothing is lost, or in a bad one, in which everything is.
    Bursts {
        ratio: f64,
        mean_length_frames: f64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    pub topology: Topology,
    /// Bits per second. `None`: frames and gaps take no time, as a reference. A bus needs a rate.
    pub rate_bps: Option<u64>,
    /// Number of ports: 2 for a cable, 2 to [`MAX_PORTS`] otherwise.
    pub ports: u16,
    /// Propagation time between any two ports, ns. On a switch, each of the two cables has half of it.
    pub propagation_ns: u64,
    /// Added to each delivery, one way, ns. Preserves order, and is invisible to carrier sense.
    pub delay_ns: u64,
    pub loss: LossPlan,
    /// Maximum bytes of frames (with gaps) queued at each output of a switch, excluding the frame
    /// being sent. Unused in other topologies.
    pub switch_queue_bytes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BadPlan {
    #[error("a cable has 2 ports, not {0}: more hosts need a hub or switch, as in 100M:switch")]
    CablePorts(u16),
    #[error("a {topology} has 2 to {most} ports, not {ports}", most = MAX_PORTS)]
    Ports { topology: Topology, ports: u16 },
    #[error(
        "rate {0} bit/s is not within {least} to {most} bit/s",
        least = RATES_BPS.start(),
        most = RATES_BPS.end()
    )]
    Rate(u64),
    #[error("a bus needs a rate")]
    BusWithoutRate,
    #[error(
        "propagation time {propagation_ns} ns is above {longest_ns} ns, half a slot at this rate"
    )]
    Propagation { propagation_ns: u64, longest_ns: u64 },
    #[error("loss ratio {0} is not within 0 to 1")]
    LossRatio(f64),
    /// A burst has at least one frame, and the good state at least one frame between two bursts.
    #[error(
        "bursts of {mean_length_frames} frames are too short for this loss ratio: the mean must be a \
         number of at least {shortest_frames}"
    )]
    BurstLength { mean_length_frames: f64, shortest_frames: f64 },
}

impl Plan {
    pub(crate) fn check(&self) -> Result<(), BadPlan> {
        let (topology, ports) = (self.topology, self.ports);
        if topology == Topology::Cable && ports != 2 {
            return Err(BadPlan::CablePorts(ports));
        }
        if !(2..=MAX_PORTS).contains(&ports) {
            return Err(BadPlan::Ports { topology, ports });
        }
        if let Some(rate_bps) = self.rate_bps.filter(|rate_bps| !RATES_BPS.contains(rate_bps)) {
            return Err(BadPlan::Rate(rate_bps));
        }
        if self.topology == Topology::Bus {
            self.check_bus()?;
        }
        self.loss.check()
    }

    fn check_bus(&self) -> Result<(), BadPlan> {
        if self.rate_bps.is_none() {
            return Err(BadPlan::BusWithoutRate);
        }
        // The round trip must fit a slot, or a short frame could end before its collision is heard.
        let half_a_slot = BitClock::new(self.rate_bps).bits(SLOT_BITS / 2);
        if Exact::from_nanos(self.propagation_ns) > half_a_slot {
            return Err(BadPlan::Propagation {
                propagation_ns: self.propagation_ns,
                longest_ns: half_a_slot.whole_nanos(),
            });
        }
        Ok(())
    }
}

impl LossPlan {
    fn check(&self) -> Result<(), BadPlan> {
        let ratio = match *self {
            Self::Never => 0.0,
            Self::Random { ratio } | Self::Bursts { ratio, .. } => ratio,
        };
        if !(0.0..=1.0).contains(&ratio) {
            return Err(BadPlan::LossRatio(ratio));
        }
        if let Self::Bursts { mean_length_frames, .. } = *self {
            // The mean of good frames in a row is `mean · (1 − ratio) / ratio`, and at least 1.
            let shortest_frames = if ratio < 1.0 { (ratio / (1.0 - ratio)).max(1.0) } else { 1.0 };
            if !mean_length_frames.is_finite() || mean_length_frames < shortest_frames {
                return Err(BadPlan::BurstLength { mean_length_frames, shortest_frames });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Plan = Plan {
        topology: Topology::Bus,
        rate_bps: Some(10_000_000),
        ports: 15,
        propagation_ns: 2_500,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 0,
    };

    #[test]
    fn invalid_plans_are_refused_with_the_allowed_values() {
        let bursts = |ratio, mean_length_frames| LossPlan::Bursts { ratio, mean_length_frames };
        let cases = [
            (Plan { ports: 1, ..GOOD }, "a bus has 2 to 256 ports, not 1"),
            (Plan { ports: 257, ..GOOD }, "a bus has 2 to 256 ports, not 257"),
            (
                Plan { topology: Topology::Cable, ports: 3, ..GOOD },
                "a cable has 2 ports, not 3: more hosts need a hub or switch, as in 100M:switch",
            ),
            (
                Plan { rate_bps: Some(999), ..GOOD },
                "rate 999 bit/s is not within 1000 to 100000000000 bit/s",
            ),
            (Plan { rate_bps: None, ..GOOD }, "a bus needs a rate"),
            (
                Plan { propagation_ns: 25_601, ..GOOD },
                "propagation time 25601 ns is above 25600 ns, half a slot at this rate",
            ),
            (
                Plan { loss: LossPlan::Random { ratio: 2.0 }, ..GOOD },
                "loss ratio 2 is not within 0 to 1",
            ),
            (
                Plan { loss: LossPlan::Random { ratio: f64::NAN }, ..GOOD },
                "loss ratio NaN is not within 0 to 1",
            ),
            (
                Plan { loss: bursts(0.75, 2.0), ..GOOD },
                "bursts of 2 frames are too short for this loss ratio: \
                 the mean must be a number of at least 3",
            ),
        ];
        for (plan, text) in cases {
            assert_eq!(plan.check().unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn bounds_are_inclusive() {
        let bursts = LossPlan::Bursts { ratio: 0.75, mean_length_frames: 3.0 };
        for plan in [
            GOOD,
            Plan { ports: 2, ..GOOD },
            Plan { ports: 256, ..GOOD },
            Plan { propagation_ns: 25_600, ..GOOD },
            Plan { loss: LossPlan::Random { ratio: 1.0 }, ..GOOD },
            Plan { loss: bursts, ..GOOD },
            Plan { topology: Topology::Cable, ports: 2, rate_bps: None, ..GOOD },
        ] {
            assert_eq!(plan.check(), Ok(()));
        }
    }
}
