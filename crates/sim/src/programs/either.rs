//! Waiting for a change of a node, with a time limit.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use lanlab_units::Instant;

use super::HostNode;
use crate::node::Key;
use crate::program::Host;

/// The timer of a program that waits often, mostly for less than its limit. If a wait ends early,
/// the timer stays and serves the next wait: otherwise a closed loop would leave one timer for each
/// round trip.
#[derive(Debug, Default)]
pub(super) struct Patience {
    set_for: Cell<Option<Instant>>,
}

impl Host<HostNode> {
    /// Wait until `look` returns a value at a change of `key`; `None` at the time `at`.
    pub(super) async fn until_or<R>(
        &self,
        patience: &Patience,
        key: Key,
        what: &'static str,
        at: Option<Instant>,
        look: impl FnMut(&mut HostNode, Instant) -> Option<R> + Unpin,
    ) -> Option<R> {
        let mut changed = pin!(self.until(key, what, look));
        let Some(at) = at else { return Some(changed.await) };
        poll_fn(|context| {
            if let Poll::Ready(found) = changed.as_mut().poll(context) {
                return Poll::Ready(Some(found));
            }
            let now = self.now();
            if now >= at {
                return Poll::Ready(None);
            }
            let is_set = patience.set_for.get().is_some_and(|set| set > now && set <= at);
            if !is_set {
                patience.set_for.set(Some(at));
                // Even if no task holds the timer, it fires and the program is polled.
                let timer = pin!(self.clock().sleep_until(at));
                let _ = timer.poll(context);
            }
            Poll::Pending
        })
        .await
    }
}
