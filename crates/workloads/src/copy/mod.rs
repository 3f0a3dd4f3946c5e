//! `copy`: transfers files to or from a file service, and retries after temporary faults.

mod error;
pub mod lanes;
mod meters;
mod simulation;
mod totals;
mod transfer;
mod worker;

pub use error::CopyError;
pub use meters::{FileTime, Meters};
pub use simulation::{Simulated, simulate};
pub use totals::{Copying, Totals, add_up};
pub use transfer::{SESSION_BYTES, Sink, Source, Transfer, capabilities};
pub use worker::{CopyEndpoints, Hashes, Worked, Worker, connect, connect_patiently};

#[cfg(test)]
mod tests;
