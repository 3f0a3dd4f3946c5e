//! The clock that a workload or a session is given.

use std::future::Future;

use crate::Instant;

/// A clock, and how to wait by it: the host's, or a virtual one.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Instant;

    /// Wait until `at`. A clock that waits in real time asks `is_over` some fifty times a second or
    /// is woken when the answer changes, and returns early if it is true.
    fn wait_until(&self, at: Instant, is_over: impl Fn() -> bool) -> impl Future<Output = ()>;

    /// Let other tasks on the same thread run, where that is needed; `is_first` after the first
    /// operation of a task, so that all tasks begin together.
    fn yield_now(&self, is_first: bool) -> impl Future<Output = ()>;
}
