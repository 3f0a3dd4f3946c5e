//! Nodes that clients of this process use: one for each link, however many sessions go over it.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use lanlab_os::RawLinkPlace;

use super::node_counts::NodeCounts;
use super::node_thread::{WiredNode, WiredPlan};

/// Kept for as long as the process lasts: to claim a name takes a second or more, which would be part of
/// what is timed if a node began and ended with its sessions.
static USED: Mutex<BTreeMap<RawLinkPlace, Arc<WiredNode>>> = Mutex::new(BTreeMap::new());

/// The node at a link, which begins with the first call.
///
/// # Errors
/// As [`WiredNode::begin`].
pub fn node_of(plan: &WiredPlan) -> io::Result<Arc<WiredNode>> {
    let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(node) = used.get(&plan.place)
        && node.is_usable()
    {
        return Ok(Arc::clone(node));
    }
    let node = WiredNode::begin(plan)?;
    used.insert(plan.place.clone(), Arc::clone(&node));
    Ok(node)
}

/// What the node at a link has counted; `None` if none was used there.
pub fn counts_of(place: &RawLinkPlace) -> Option<NodeCounts> {
    let used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    used.get(place).map(|node| node.counts())
}
