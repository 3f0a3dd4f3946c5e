//! The clock given to a workload or session.

use std::future::Future;

use crate::Instant;

/// A clock that can wait: the host's, or a virtual one.
pub trait Clock {
    fn now(&self) -> Instant;

    /// Wait until `at`, or until `is_over` returns true. A real-time clock polls `is_over` about 50
    /// times a second, or is woken when it changes.
    fn wait_until(&self, at: Instant, is_over: impl Fn() -> bool) -> impl Future<Output = ()>;

    /// Let other tasks on the same thread run if needed. `is_first`: after a task's first
    /// operation, so that all tasks start together.
    fn yield_now(&self, is_first: bool) -> impl Future<Output = ()>;
}
