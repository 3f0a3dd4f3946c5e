//! Whether work should continue: not cancelled, not stopped by another thread, and within its time.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use lanlab_units::{Clock, Instant};

use crate::Progress;
use crate::copy::CopyError;
use crate::messages::{CopySpec, Failure};

/// Error code: a request exceeded its time limit.
pub const TOO_LONG: &str = "copy.too_long";
const TICK_NS: u64 = 20_000_000;
const USUAL_TIMEOUT_NS: u64 = 30_000_000_000;

pub struct Guard<'a, K> {
    pub clock: K,
    pub progress: &'a Progress,
    stopped: AtomicBool,
    pub timeout_ns: u64,
    until: Option<(Instant, u64)>,
}

impl<'a, K: Clock> Guard<'a, K> {
    pub fn new(clock: K, progress: &'a Progress) -> Self {
        let (stopped, timeout_ns) = (AtomicBool::new(false), USUAL_TIMEOUT_NS);
        Self { clock, progress, stopped, timeout_ns, until: None }
    }

    pub fn bounded(clock: K, progress: &'a Progress, spec: &CopySpec) -> Self {
        Self {
            timeout_ns: spec.service.timeout_ns,
            ..Self::within(clock, progress, spec.longest_ns)
        }
    }

    pub fn within(clock: K, progress: &'a Progress, longest_ns: Option<u64>) -> Self {
        let now = clock.now();
        let until = longest_ns.map(|longest_ns| (now.plus_nanos(longest_ns), longest_ns));
        Self { until, ..Self::new(clock, progress) }
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn check(&self) -> Result<(), Failure> {
        if self.stopped.load(Ordering::Relaxed) || self.progress.is_cancelled() {
            return Err(Failure::cancelled());
        }
        match self.until {
            Some((until, longest_ns)) if self.clock.now() >= until => {
                let message = format!("not done within {} s", longest_ns / 1_000_000_000);
                Err(Failure::new(TOO_LONG, message)
                    .hint("find out why the server is so slow, or raise `--longest`"))
            }
            _ => Ok(()),
        }
    }

    pub async fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, CopyError>>,
    ) -> Result<T, CopyError> {
        let mut work = pin!(work);
        let mut stopped = pin!(async {
            loop {
                self.sleep_ns(TICK_NS).await;
                if let Err(failure) = self.check() {
                    return failure;
                }
            }
        });
        std::future::poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(done),
            Poll::Pending => stopped.as_mut().poll(context).map(|failure| Err(failure.into())),
        })
        .await
    }

    pub async fn sleep_ns(&self, time_ns: u64) {
        self.clock.wait_until(self.clock.now().plus_nanos(time_ns), || false).await;
    }
}
