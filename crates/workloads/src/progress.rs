//! How far a measurement is, and whether it is still wanted: shared between threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// State shared between the threads of a measurement and their driver.
#[derive(Debug, Default)]
pub struct Progress {
    cancelled: AtomicBool,
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    /// The driver wants the end.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    /// Whether the driver wants the end.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Count what has been moved.
    #[inline]
    pub fn count(&self, messages: u64, bytes: u64) {
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Messages and bytes counted so far.
    pub fn counted(&self) -> (u64, u64) {
        (self.messages.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}
