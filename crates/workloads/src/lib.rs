//! What each workload decides: when to send, what counts, when to try again, what a station does next.
//!
//! Nothing here reads a clock, opens a socket or starts a thread: time is an argument, or comes from
//! a [`Clock`] that is handed in. So the same code runs in the engine, in real time, and in
//! simulations and tests, on the clock of [`virtual_time`].
#![allow(missing_docs, reason = "shared with the engine and the simulator only")]
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::new_without_default,
    reason = "the same"
)]

mod clock;
#[cfg(feature = "services")]
pub mod dataset;
pub mod handshake;
pub mod measure;
mod progress;
#[cfg(feature = "services")]
mod service_failure;
#[cfg(feature = "services")]
pub mod stations;
pub mod virtual_time;

use lanlab_messages as messages;

pub use clock::Clock;
pub use progress::Progress;
#[cfg(feature = "services")]
pub use service_failure::failure_of;
