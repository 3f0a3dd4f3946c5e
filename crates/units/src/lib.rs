//! Quantities with their units: points in time and message rates.
//!
//! Nothing here knows a clock; a driver reads one and passes an [`Instant`] in, or a [`Clock`].

mod clock;
mod instant;
mod pace;
pub mod room;

pub use clock::Clock;
pub use instant::Instant;
pub use pace::Pace;
