//! The clock of a copy: the host's, with waits in the runtime.

use std::time::Duration;

use lanlab_os as os;
use lanlab_units::{Clock, Instant};
use lanlab_workloads::Guard;

use crate::messages::CopySpec;
use crate::running::Running;

#[derive(Debug, Clone, Copy)]
pub struct RuntimeClock;

impl Clock for RuntimeClock {
    #[inline]
    fn now(&self) -> Instant {
        os::monotonic()
    }

    async fn wait_until(&self, at: Instant, is_over: impl Fn() -> bool) {
        if !is_over() {
            tokio::time::sleep(Duration::from_nanos(at.nanos_since(os::monotonic()))).await;
        }
    }

    async fn yield_now(&self, _is_first: bool) {
        tokio::task::consume_budget().await;
    }
}

/// A guard that ends the work when the driver cancels the request.
pub fn guard(running: &Running) -> Guard<'_, RuntimeClock> {
    Guard::new(RuntimeClock, &running.progress)
}

pub fn bounded<'a>(spec: &CopySpec, running: &'a Running) -> Guard<'a, RuntimeClock> {
    Guard::bounded(RuntimeClock, &running.progress, spec)
}
