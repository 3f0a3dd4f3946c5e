//! Waiting for a change of a node, with a time limit.

use lanlab_sessions::within;
use lanlab_units::Instant;

use super::HostNode;
use crate::node::Key;
use crate::program::Host;

impl Host<HostNode> {
    /// Wait until `look` returns a value at a change of `key`; `None` at the time `at`.
    pub(super) async fn until_or<R>(
        &self,
        key: Key,
        what: &'static str,
        at: Option<Instant>,
        look: impl FnMut(&mut HostNode, Instant) -> Option<R>,
    ) -> Option<R> {
        let changed = self.until(key, what, look);
        match at {
            Some(at) => within(self.clock(), at - self.now(), changed).await,
            None => Some(changed.await),
        }
    }
}
