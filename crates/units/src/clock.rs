//! The clock given to a workload or session.

use std::future::Future;

use crate::Instant;

/// A clock with its wait: the host's, or a virtual one.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Instant;

    /// Wait until `at`. A clock that waits in real time asks `is_over` some fifty times a second or
    /// is woken when the answer changes, and returns early if it is true.
    fn wait_until(&self, at: Instant, is_over: impl Fn() -> bool) -> impl Future<Output = ()>;

    /// Let other tasks on the same thread run if needed; `is_first` after a task's first operation, so that all
    /// tasks start together.
    fn yield_now(&self, is_first: bool) -> impl Future<Output = ()>;
}
