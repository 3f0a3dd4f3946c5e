//! What a trial does: one folder for each workload.

pub mod echo;
mod setup;
pub mod stream;

use crate::driver::Measured;
use crate::failure::Failure;
use crate::messages::Outcome;

/// An outcome, or an error that carries it as what was seen until then.
fn conclude(outcome: Outcome, failure: Option<Failure>) -> Measured {
    match failure {
        None => Ok(outcome),
        Some(failure) => Err(Box::new((failure, Some(outcome)))),
    }
}
