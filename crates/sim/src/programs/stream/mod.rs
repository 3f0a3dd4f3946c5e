//! `stream`: a sender and a receiver, over UDP or TCP.

mod tcp;
mod udp;

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

use lanlab_units::Instant;
use lanlab_workloads::Progress;
use lanlab_workloads::stream::Plan;

use super::HostNode;
use crate::node::Key;
use crate::program::Host;

pub use tcp::{receive as receive_tcp, send as send_tcp};
pub use udp::{receive as receive_udp, send as send_udp};

#[derive(Clone)]
pub struct Stream {
    pub plan: Rc<Plan>,
    pub sent: Rc<Progress>,
    pub received: Rc<Progress>,
    pub to: SocketAddr,
    pub agreement: Rc<Agreement>,
}

#[derive(Debug, Default)]
pub struct Agreement {
    start: Cell<Option<Instant>>,
    first_measured: Cell<Option<u64>>,
    sent_messages: Cell<Option<u64>>,
    receiver_waits_for: Cell<Option<Key>>,
}

impl Stream {
    fn notify(&self, receiver: &Host<HostNode>) {
        if let Some(key) = self.agreement.receiver_waits_for.get() {
            receiver.with_node(|node, _| node.ip.notify(key));
        }
    }
}
