//! Decisions of each workload: when to send, what counts, when to retry, what a station does next.
//!
//! Nothing here reads a clock, opens a socket or starts a thread: time is an argument, or comes from a
//! [`Clock`](lanlab_units::Clock) that is handed in. So the same code runs in the engine, in real time, and in
//! simulations and tests, on the clock of [`virtual_time`].
#![allow(
    clippy::missing_panics_doc,
    clippy::new_without_default,
    reason = "shared with the engine and the simulator only"
)]

mod closing;
pub mod copy;
pub mod dataset;
pub mod echo;
mod guard;
pub mod handshake;
pub mod iperf3;
pub mod listen;
pub mod measure;
pub mod metadata;
pub mod path;
pub mod path_mtu;
mod peer_failure;
mod progress;
mod service_failure;
pub mod stations;
pub mod stream;
pub mod virtual_time;

#[cfg(test)]
extern crate self as lanlab_workloads;

use lanlab_messages as messages;

/// Connection attempts before the start: a server may refuse some of many simultaneous ones.
const SETUP_ATTEMPTS: u32 = 7;

pub use closing::{Closing, ClosingStep};
pub use guard::{Guard, TOO_LONG};
pub use peer_failure::went_on_too_long;
pub use progress::Progress;
pub use service_failure::failure_of;
