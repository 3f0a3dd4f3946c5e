//! What is measured and how it is counted: no socket here, and time is an argument.

mod delay_variation;
mod distribution;
mod intervals;
mod pacer;
mod round_trips;
mod sequence;
mod stall;

pub use delay_variation::{DelayVariationMeter, LastDelay};
pub use distribution::DistributionMeter;
pub use intervals::IntervalMeter;
pub use pacer::{Pacer, Turn};
pub use round_trips::RoundTripMeter;
pub use sequence::{Seen, SequenceWindow};
pub use stall::find_stalls;

#[cfg(test)]
mod tests;
