//! Quantities with their units: points in time and message rates.
//!
//! Nothing here knows a clock; a driver reads one and passes an [`Instant`] in.

mod instant;
mod pace;

pub use instant::Instant;
pub use pace::Pace;
