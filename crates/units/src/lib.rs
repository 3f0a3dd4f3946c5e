//! Quantities with their units: points in time and message rates.
//!
//! Nothing here reads the system's clock: a driver passes in an [`Instant`] or a [`Clock`].

mod clock;
mod instant;
mod pace;
pub mod room;
mod schedule;

pub use clock::Clock;
pub use instant::Instant;
pub use pace::Pace;
pub use schedule::Schedule;
