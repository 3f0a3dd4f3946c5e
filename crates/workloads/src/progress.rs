//! Progress and cancellation of a measurement, shared between threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub struct Progress {
    cancelled: AtomicBool,
    messages: AtomicU64,
    bytes: AtomicU64,
    expected: AtomicU64,
    delay_variation_ns: AtomicU64,
}

impl Progress {
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    #[inline]
    pub fn count(&self, messages: u64, bytes: u64) {
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    #[inline]
    pub fn saw(&self, more_expected: u64, delay_variation_ns: u64) {
        self.expected.fetch_add(more_expected, Ordering::Relaxed);
        self.delay_variation_ns.store(delay_variation_ns, Ordering::Relaxed);
    }

    /// Messages expected so far, and the delay variation; both 0 if not counted.
    pub fn seen(&self) -> (u64, u64) {
        (self.expected.load(Ordering::Relaxed), self.delay_variation_ns.load(Ordering::Relaxed))
    }

    pub fn counted(&self) -> (u64, u64) {
        (self.messages.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up_and_gauges_keep_the_last_value() {
        let progress = Progress::default();
        assert!(!progress.is_cancelled());
        progress.count(1, 100);
        progress.count(2, 30);
        progress.saw(5, 77);
        progress.saw(6, 66);
        assert_eq!((progress.counted(), progress.seen()), ((3, 130), (11, 66)));
        progress.cancel();
        assert!(progress.is_cancelled());
    }
}
