//! A checked request: its cost, and the work that executes it.

use crate::cost::Cost;
use crate::running::{Measured, Running};

pub type Work = Box<dyn FnOnce(&Running) -> Measured + Send>;

/// A checked request. Its work contains the results of the check, so that nothing is checked twice.
pub struct Task {
    pub cost: Cost,
    pub work: Work,
}

impl Task {
    pub fn new(cost: Cost, work: impl FnOnce(&Running) -> Measured + Send + 'static) -> Self {
        Self { cost, work: Box::new(work) }
    }
}
