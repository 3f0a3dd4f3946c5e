//! The load on a medium, and reasons to refuse it.

use lanlab_medium::{BadPlan, Plan};

/// Shortest and longest frame, bytes, without preamble (IEEE 802.3, 4.4.2 and 3.2.7).
const FRAME_BYTES: std::ops::RangeInclusive<u32> = 64..=1518;
const MAX_LENGTHS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    Poisson {
        /// Offered load of all stations together: frame bits (without preamble and gap) relative to
        /// the rate. May exceed 1.
        offered_ratio: f64,
    },
    /// Every adapter always has a frame ready.
    Saturated,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameShare {
    /// Length without preamble, with the check sequence: 64 to 1518 bytes.
    pub frame_bytes: u32,
    pub weight: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LoadPlan {
    pub medium: Plan,
    pub arrivals: Arrivals,
    pub frames: Vec<FrameShare>,
    /// Maximum frames queued in an adapter, besides the one on the medium.
    pub queue_frames: u32,
    pub warmup_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BadLoad {
    #[error(transparent)]
    Medium(#[from] BadPlan),
    #[error("a load needs a medium with a rate")]
    WithoutRate,
    #[error("offered load {0} is not a number above 0 and up to 100")]
    OfferedRatio(f64),
    #[error("{0} lengths of frames; allowed are 1 to {most}", most = MAX_LENGTHS)]
    Lengths(usize),
    #[error(
        "frame of {0} bytes is not within {shortest} to {longest} bytes",
        shortest = FRAME_BYTES.start(),
        longest = FRAME_BYTES.end()
    )]
    FrameBytes(u32),
    #[error("weight {0} is not a number above 0 and up to 1e9")]
    Weight(f64),
}

impl LoadPlan {
    pub(super) fn check(&self) -> Result<(), BadLoad> {
        if self.medium.rate_bps.is_none() {
            return Err(BadLoad::WithoutRate);
        }
        if let Arrivals::Poisson { offered_ratio } = self.arrivals
            && !(offered_ratio > 0.0 && offered_ratio <= 100.0)
        {
            return Err(BadLoad::OfferedRatio(offered_ratio));
        }
        if !(1..=MAX_LENGTHS).contains(&self.frames.len()) {
            return Err(BadLoad::Lengths(self.frames.len()));
        }
        for share in &self.frames {
            if !FRAME_BYTES.contains(&share.frame_bytes) {
                return Err(BadLoad::FrameBytes(share.frame_bytes));
            }
            if !(share.weight > 0.0 && share.weight <= 1e9) {
                return Err(BadLoad::Weight(share.weight));
            }
        }
        Ok(())
    }

    pub(super) fn mean_frame_bytes(&self) -> f64 {
        let weights: f64 = self.frames.iter().map(|share| share.weight).sum();
        let weighted = self.frames.iter().map(|share| share.weight * f64::from(share.frame_bytes));
        weighted.sum::<f64>() / weights
    }
}
