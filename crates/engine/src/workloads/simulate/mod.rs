//! `simulate`: a workload between modelled machines, in virtual time.

mod check;

use crate::messages::{Failure, Simulate};
use crate::task::Task;

/// Check a request and run its world.
pub fn run(request: Simulate) -> Result<Task, Failure> {
    let checked = check::check(&request)?;
    let cost = checked.cost;
    Ok(Task::new(cost, move |_| {
        let _ = (request, checked);
        Err(Failure::new("engine.defect", "worlds cannot be run yet").into())
    }))
}
