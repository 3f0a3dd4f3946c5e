//! Checks every few milliseconds whether all stations have measured enough.

use super::interval::IntervalRule;
use super::job::{Job, ThreadTotals};
use crate::messages::StationsEnd;

/// Samples the progress of all threads' stations, and stops them once they have measured enough.
#[derive(Debug)]
pub struct Watch {
    rule: Option<IntervalRule>,
    before: [u64; 3],
}

impl Watch {
    pub const LOOK_NS: u64 = 50_000_000;

    pub fn new(job: &Job) -> Self {
        Self { rule: job.spec.until.interval_ratio.map(IntervalRule::new), before: [0; 3] }
    }

    pub fn look<'a>(
        &mut self,
        job: &Job,
        threads: impl IntoIterator<Item = &'a ThreadTotals>,
    ) -> [u64; 2] {
        let now = threads.into_iter().fold([0; 3], |all: [u64; 3], thread| {
            let [operations, bytes, response_ns] = thread.load();
            [all[0] + operations, all[1] + bytes, all[2] + response_ns]
        });
        let before = std::mem::replace(&mut self.before, now);
        if self.rule.as_mut().is_some_and(|rule| rule.look(now[0], now[2])) {
            job.stop(StationsEnd::Interval);
        }
        [now[0] - before[0], now[1] - before[1]]
    }
}
