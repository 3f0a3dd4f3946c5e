//! `echo`: requesters and a responder, over UDP or TCP.

mod channel;
mod requester;
mod responder;

use std::net::SocketAddr;
use std::rc::Rc;

use lanlab_messages::{EndedBy, TcpFacts};
use lanlab_workloads::Progress;
use lanlab_workloads::echo::{Counts, Plan};

pub use requester::request;
pub use responder::{Answered, respond};

/// An echo between hosts.
#[derive(Clone)]
pub struct Echo {
    pub plan: Rc<Plan>,
    /// Payload of a reply.
    pub reply_bytes: usize,
    /// How far its requester is, and whether it is still wanted.
    pub progress: Rc<Progress>,
    /// Where the responder is.
    pub to: SocketAddr,
    /// Receive and send buffer of this end's socket over UDP.
    pub buffers: (usize, usize),
}

/// What a requester came to.
pub struct Requested {
    pub ended_by: EndedBy,
    pub counts: Counts,
    pub tcp: Option<TcpFacts>,
}
