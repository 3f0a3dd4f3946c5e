//! Nodes used by clients of this process: one per plan, shared by its sessions.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use lanlab_files::CarrierCounts;
use parking_lot::Mutex;

use super::node_thread::WiredNode;
use super::plan::WiredPlan;

/// Kept until the process ends: claiming a name takes a second or more, which must not be part of the timed work.
static NODES: Mutex<Registry> = Mutex::new(Registry { nodes: Vec::new() });

#[derive(Debug)]
struct Registry {
    nodes: Vec<(WiredPlan, Arc<WiredNode>)>,
}

impl Registry {
    fn node_of(
        &mut self,
        plan: &WiredPlan,
        begin: impl FnOnce(&WiredPlan) -> io::Result<Arc<WiredNode>>,
    ) -> io::Result<Arc<WiredNode>> {
        let known = self.nodes.iter().find(|(of, node)| of == plan && node.is_usable());
        if let Some((_, node)) = known {
            return Ok(Arc::clone(node));
        }
        // Two nodes would answer for each other, so an unused one ends before the new one starts.
        let is_in_use = |node: &Arc<WiredNode>| node.is_usable() && Arc::strong_count(node) > 1;
        self.nodes.retain(|(of, node)| is_in_use(node) || !of.collides(plan));
        if self.nodes.iter().any(|(of, _)| of.collides(plan)) {
            let message = "sessions with other settings are open on the same interface";
            return Err(io::Error::new(ErrorKind::AddrInUse, message));
        }
        let node = begin(plan)?;
        self.nodes.push((plan.clone(), Arc::clone(&node)));
        Ok(node)
    }
}

/// The node of a plan, started by the first call.
///
/// # Errors
/// As [`WiredNode::begin`]; `AddrInUse` while another node that cannot share the link has open sessions.
pub fn node_of(plan: &WiredPlan) -> io::Result<Arc<WiredNode>> {
    NODES.lock().node_of(plan, WiredNode::begin)
}

/// Counters of a plan's node; `None` if it was never used.
pub fn counts_of(plan: &WiredPlan) -> Option<CarrierCounts> {
    let registry = NODES.lock();
    let node = registry.nodes.iter().find(|(of, _)| of == plan);
    node.map(|(_, node)| node.counts())
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use lanlab_os::RawLinkPlace;
    use lanlab_stack::node::CarrierKind;
    use lanlab_stack::profile::DOS;

    use super::super::tests::unconnected;
    use super::*;

    fn begin(plan: &WiredPlan) -> io::Result<Arc<WiredNode>> {
        unconnected(plan, UdpSocket::bind("127.0.0.1:0")?)
    }

    fn plan(place: &str) -> WiredPlan {
        WiredPlan::new(RawLinkPlace::Interface(place.to_owned()), CarrierKind::Nbf)
    }

    fn registry() -> Registry {
        Registry { nodes: Vec::new() }
    }

    #[test]
    fn programs_with_one_plan_share_a_node() {
        let mut registry = registry();
        let first = registry.node_of(&plan("a"), begin).unwrap();
        let same = registry.node_of(&plan("a"), |_| panic!("it is there")).unwrap();
        assert!(Arc::ptr_eq(&first, &same));
        let elsewhere = registry.node_of(&plan("b"), begin).unwrap();
        assert!(!Arc::ptr_eq(&first, &elsewhere));
    }

    #[test]
    fn a_different_plan_on_a_link_gets_its_own_node() {
        let mut registry = registry();
        let first = registry.node_of(&plan("a"), begin).unwrap();
        let other = WiredPlan { profile: DOS, ..plan("a") };
        let refused = registry.node_of(&other, |_| panic!("both would answer")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AddrInUse);
        assert!(Arc::ptr_eq(&first, &registry.node_of(&plan("a"), begin).unwrap()));
        drop(first);
        registry.node_of(&other, begin).unwrap();
        let plans: Vec<_> = registry.nodes.iter().map(|(of, _)| of.clone()).collect();
        assert_eq!(plans, [other]);
    }

    #[test]
    fn two_nodes_never_read_one_socket() {
        let shared = WiredPlan { place: RawLinkPlace::Descriptor(7), ..plan("") };
        let carrier = CarrierKind::Ncp;
        assert!(shared.collides(&WiredPlan { carrier, ..shared.clone() }));
        assert!(!plan("a").collides(&WiredPlan { carrier, ..plan("a") }));
        assert!(!plan("a").collides(&plan("b")));
    }
}
