//! Stations used by clients of this process: one per plan, shared by its connections.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use lanlab_os::RawLinkPlace;
use lanlab_stack::ip::small::Facts;
use parking_lot::Mutex;

use super::node::SmallNode;
use super::plan::SmallPlan;

/// Kept until the process ends: resolving addresses takes part of a second, which must not be part of the timed
/// work.
static NODES: Mutex<Nodes> = Mutex::new(Vec::new());

type Nodes = Vec<(SmallPlan, Arc<SmallNode>)>;

/// The station of a plan, started by the first call; `random` as in [`SmallNode::begin`].
///
/// # Errors
/// As [`SmallNode::begin`]; `AddrInUse` while a station with another plan has open connections at the same
/// address or descriptor.
pub fn node_of(plan: &SmallPlan, random: u64) -> io::Result<Arc<SmallNode>> {
    let mut nodes = NODES.lock();
    let known = nodes.iter().find(|(of, node)| of == plan && node.is_usable());
    if let Some((_, node)) = known {
        return Ok(Arc::clone(node));
    }
    end_unused(&mut nodes, &plan.place)?;
    let node = SmallNode::begin(plan, random)?;
    nodes.push((plan.clone(), Arc::clone(&node)));
    Ok(node)
}

/// End an unused station on a link, because two stations would answer for one address.
///
/// # Errors
/// `AddrInUse` while its connections are open.
pub fn make_way(place: &RawLinkPlace) -> io::Result<()> {
    end_unused(&mut NODES.lock(), place)
}

fn end_unused(nodes: &mut Nodes, place: &RawLinkPlace) -> io::Result<()> {
    let is_in_use = |node: &Arc<SmallNode>| node.is_usable() && Arc::strong_count(node) > 1;
    nodes.retain(|(of, node)| of.place != *place || is_in_use(node));
    if nodes.iter().any(|(of, _)| of.place == *place) {
        let message = "connections with other settings are open on the same interface";
        return Err(io::Error::new(ErrorKind::AddrInUse, message));
    }
    Ok(())
}

/// Counters of a plan's station; `None` if it was never used.
pub fn facts_of(plan: &SmallPlan) -> Option<Facts> {
    let nodes = NODES.lock();
    nodes.iter().find(|(of, _)| of == plan).map(|(_, node)| node.facts())
}
