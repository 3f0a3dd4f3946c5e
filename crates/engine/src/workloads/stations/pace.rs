//! Waiting for the moment at which an operation is due, to some microseconds: on a thread that has
//! nothing else to do, and among stations that share a thread.

use std::cell::RefCell;
use std::rc::Rc;

use lanlab_os as os;
use lanlab_units::Instant;

use super::clockwork::Clockwork;
use super::job::Job;
use crate::waiting::Waiter;

/// How often a thread that waits looks whether it still should.
const TICK_NS: u64 = 20_000_000;

/// How stations of a thread wait.
pub enum Pace {
    /// One station, which may keep its thread.
    Alone(RefCell<Waiter>),
    /// Many: others go on meanwhile.
    Shared(Rc<Clockwork>),
}

impl Pace {
    /// Wait until a moment, or until the job is stopped.
    pub async fn until(&self, at: Instant, job: &Job) {
        match self {
            Self::Alone(waiter) => {
                while job.stopped().is_none() {
                    let now = os::monotonic();
                    if at.nanos_since(now) <= TICK_NS {
                        waiter.borrow_mut().wait_until(at);
                        return;
                    }
                    os::sleep_until(now.plus_nanos(TICK_NS));
                }
            }
            Self::Shared(clockwork) => clockwork.until(at, job).await,
        }
    }

    /// Let others go on now and then, where a service answers at once; after the first operation in
    /// any case, so that all begin together.
    pub async fn breathe(&self, is_first: bool) {
        match self {
            Self::Shared(_) if is_first => tokio::task::yield_now().await,
            Self::Shared(_) => tokio::task::consume_budget().await,
            // Of more threads than processors each would have its share of one, some milliseconds,
            // before the last of them had begun.
            Self::Alone(_) if is_first => std::thread::yield_now(),
            Self::Alone(_) => {}
        }
    }
}
