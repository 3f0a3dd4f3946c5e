//! `simulate`: a workload between simulated machines, in virtual time.

mod check;
mod copy;
mod ftp;
mod outcomes;
mod programs;
mod service;
mod stations;
mod world;

use lanlab_os as os;

use crate::messages::{Failure, Simulate};
use crate::task::Task;

pub fn run(request: Simulate) -> Result<Task, Failure> {
    let checked = check::check(&request)?;
    Ok(Task::new(checked.cost, move |running| {
        let now = os::monotonic();
        running.with_progress(now, now, || world::run(&request, &checked, running)).0
    }))
}
