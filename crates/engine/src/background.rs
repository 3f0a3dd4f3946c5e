//! A background thread that starts and ends with a piece of work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

pub struct Work {
    is_over: AtomicBool,
}

impl Work {
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Sleep for `ns`, or less if the work ends.
    pub fn rest(&self, ns: u64) {
        if !self.is_over() {
            thread::park_timeout(Duration::from_nanos(ns));
        }
    }
}

/// Run `work`, with `background` on a thread, which must return once the work is over. Returns both
/// results; `Err` if `background` panicked. If `work` panics, `background` ends first.
pub fn with_background<T, B: Send>(
    background: impl FnOnce(&Work) -> B + Send,
    work: impl FnOnce() -> T,
) -> (T, thread::Result<B>) {
    struct End<'a>(&'a Work, Thread);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.is_over.store(true, Ordering::Release);
            self.1.unpark();
        }
    }
    let seen = Work { is_over: AtomicBool::new(false) };
    thread::scope(|scope| {
        let other = scope.spawn(|| background(&seen));
        let end = End(&seen, other.thread().clone());
        let result = work();
        drop(end);
        (result, other.join())
    })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Instant;

    use super::*;

    const HOUR_NS: u64 = 3_600_000_000_000;

    fn rest_until_over(work: &Work) -> u32 {
        while !work.is_over() {
            work.rest(HOUR_NS);
        }
        7
    }

    #[test]
    fn idle_threads_end_with_their_work() {
        let begin = Instant::now();
        let (result, other) = with_background(rest_until_over, || "done");
        assert_eq!((result, other.unwrap()), ("done", 7));
        assert!(begin.elapsed() < Duration::from_mins(1));
    }

    #[test]
    fn idle_threads_end_when_the_work_panics() {
        let begin = Instant::now();
        let has_ended = AtomicBool::new(false);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            with_background(
                |work| {
                    rest_until_over(work);
                    has_ended.store(true, Ordering::Release);
                },
                || panic!("the work"),
            )
        }));
        assert_eq!(*panicked.unwrap_err().downcast::<&str>().unwrap(), "the work");
        assert!(has_ended.load(Ordering::Acquire));
        assert!(begin.elapsed() < Duration::from_mins(1));
    }

    #[test]
    fn a_background_panic_keeps_the_result_of_the_work() {
        let (result, other) = with_background(|_: &Work| panic!("background"), || 1);
        assert_eq!(result, 1);
        let other: thread::Result<()> = other;
        assert_eq!(*other.unwrap_err().downcast::<&str>().unwrap(), "background");
    }
}
