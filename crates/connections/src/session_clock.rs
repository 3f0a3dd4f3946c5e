//! The clock of a session on sockets.

use lanlab_units::{Clock, Instant};

/// The runtime's clock, starting at zero on creation. Waits are precise to a millisecond.
#[derive(Debug, Clone, Copy)]
pub struct SessionClock {
    began: tokio::time::Instant,
}

impl SessionClock {
    pub fn new() -> Self {
        Self { began: tokio::time::Instant::now() }
    }
}

impl Default for SessionClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SessionClock {
    fn now(&self) -> Instant {
        Instant::ZERO + self.began.elapsed()
    }

    async fn wait_until(&self, at: Instant, is_over: impl Fn() -> bool) {
        if !is_over() {
            tokio::time::sleep_until(self.began + (at - Instant::ZERO)).await;
        }
    }

    async fn yield_now(&self, _is_first: bool) {
        tokio::task::consume_budget().await;
    }
}
