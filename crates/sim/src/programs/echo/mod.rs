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

#[derive(Clone)]
pub struct Echo {
    pub plan: Rc<Plan>,
    pub reply_bytes: usize,
    pub progress: Rc<Progress>,
    pub to: SocketAddr,
    pub buffers: (usize, usize),
}

pub struct Requested {
    pub ended_by: EndedBy,
    pub counts: Counts,
    pub tcp: Option<TcpFacts>,
}
