//! What is measured and how it is counted: no socket here, and time is an argument.

mod delay_variation;
mod intervals;
mod pacer;
mod round_trip;
mod sequence;

pub use delay_variation::DelayVariationMeter;
pub use intervals::IntervalMeter;
pub use pacer::{Pacer, Turn};
pub use round_trip::RoundTripMeter;
pub use sequence::{Seen, SequenceWindow};
