//! Minimum rate of a byte stream: a server that sends a byte now and then counts as silent.

use std::fmt;
use std::time::Duration;

use crate::fault::{Class, Fault, Result};

/// Minimum rate of a stream, bytes per second. Even a slow, shared link is faster.
const LEAST_BYTES_PER_S: f64 = 100.0;

/// Checks a stream's rate over periods as long as the reply timeout, from its first bytes on. Only
/// time spent waiting for the stream counts.
#[derive(Debug, Default)]
pub struct MinimumRate {
    has_begun: bool,
    waited: Duration,
    moved_bytes: u64,
}

impl MinimumRate {
    /// Record that `bytes` arrived after a wait of `waited`.
    ///
    /// # Errors
    /// [`Class::TimedOut`]: too few bytes arrived within the reply timeout.
    pub fn moved(
        &mut self,
        what: impl fmt::Display,
        patience: Duration,
        waited: Duration,
        bytes: usize,
    ) -> Result<()> {
        if !self.has_begun {
            self.has_begun = true;
            return Ok(());
        }
        self.waited += waited;
        self.moved_bytes += bytes as u64;
        if self.waited < patience {
            return Ok(());
        }
        let (waited_s, moved_bytes) = (self.waited.as_secs_f64(), self.moved_bytes);
        (self.waited, self.moved_bytes) = (Duration::ZERO, 0);
        if moved_bytes as f64 >= LEAST_BYTES_PER_S * waited_s {
            return Ok(());
        }
        let message = format!(
            "{what}: {moved_bytes} bytes came within {waited_s:.3} s; allowed: at least \
             {LEAST_BYTES_PER_S} a second"
        );
        Err(Fault::new(Class::TimedOut, message).hint(
            "see whether the server is overloaded; `--timeout` is the time that is looked at",
        ))
    }
}
