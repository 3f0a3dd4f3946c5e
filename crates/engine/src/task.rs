//! A request that has been checked: what it may take of the host, and what carries it out.

use crate::cost::Cost;
use crate::running::{Measured, Running};

pub type Work = Box<dyn FnOnce(&Running) -> Measured + Send>;

/// A checked request. What the check has found is in its work, so that nothing is checked twice.
pub struct Task {
    pub cost: Cost,
    pub work: Work,
}

impl Task {
    pub fn new(cost: Cost, work: impl FnOnce(&Running) -> Measured + Send + 'static) -> Self {
        Self { cost, work: Box::new(work) }
    }
}
