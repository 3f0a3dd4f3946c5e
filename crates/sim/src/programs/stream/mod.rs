//! `stream`: a sender and a receiver, over UDP or TCP.

mod tcp;
mod udp;

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

use lanlab_messages::{CpuTime, EndedBy};
use lanlab_units::Instant;
use lanlab_workloads::Progress;
use lanlab_workloads::measure::IntervalMeter;
use lanlab_workloads::stream::{Counts, Meters, Plan, Sent, SharedMeters};

use super::{HostCpuMeter, HostNode};
use crate::node::Key;
use crate::program::Host;

pub use tcp::{receive as receive_tcp, send as send_tcp};
pub use udp::{receive as receive_udp, send as send_udp};

/// A stream between two hosts.
#[derive(Clone)]
pub struct Stream {
    pub plan: Rc<Plan>,
    /// How far its sender is, and whether it is still wanted.
    pub sent: Rc<Progress>,
    /// How far its receiver is.
    pub received: Rc<Progress>,
    /// Where the receiver is.
    pub to: SocketAddr,
    /// What both ends know of each other without a frame.
    pub agreement: Rc<Agreement>,
}

/// What both ends know of each other without a frame.
#[derive(Debug, Default)]
pub struct Agreement {
    /// When the warm-up begins.
    start: Cell<Option<Instant>>,
    /// Number of the first measured message.
    first_measured: Cell<Option<u64>>,
    /// Messages in all, once all are sent.
    sent_messages: Cell<Option<u64>>,
    /// What the receiver's program waits for.
    receiver_waits_for: Cell<Option<Key>>,
}

/// What a sender came to.
pub struct StreamSent {
    pub sent: Sent,
    /// The gaps between messages.
    pub meters: SharedMeters<HostCpuMeter>,
}

/// What a receiver came to.
pub enum StreamReceived {
    Datagrams {
        counts: Counts,
        /// Delays and intervals.
        meters: Box<Meters<HostCpuMeter>>,
    },
    Bytes {
        ended_by: EndedBy,
        total_bytes: u64,
        window_bytes: u64,
        window_ns: u64,
        /// Calls that brought something.
        receive_calls: u64,
        /// Arrivals over time.
        intervals: IntervalMeter,
        /// Processor time of its host.
        cpu: CpuTime,
        /// What its connection counted.
        connection: Box<lanlab_stack::ip::ConnectionFacts>,
    },
}

impl Stream {
    /// Have the receiver's program look at what both know.
    fn notify(&self, receiver: &Host<HostNode>) {
        if let Some(key) = self.agreement.receiver_waits_for.get() {
            receiver.with_node(|node, _| node.ip.notify(key));
        }
    }
}
