//! Waiting for a change of a node, but not for ever.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use lanlab_units::Instant;

use super::IpNode;
use crate::node::Key;
use crate::program::Host;

impl Host<IpNode> {
    /// Wait until `look` gives something at a change of `key`, or until `at`: then `None`.
    pub(super) async fn until_or<R>(
        &self,
        key: Key,
        what: &'static str,
        at: Option<Instant>,
        look: impl FnMut(&mut IpNode, Instant) -> Option<R> + Unpin,
    ) -> Option<R> {
        let mut changed = pin!(self.until(key, what, look));
        let Some(at) = at else { return Some(changed.await) };
        let mut timer = pin!(self.clock().sleep_until(at));
        poll_fn(|context| {
            if let Poll::Ready(found) = changed.as_mut().poll(context) {
                return Poll::Ready(Some(found));
            }
            timer.as_mut().poll(context).map(|()| None)
        })
        .await
    }
}
