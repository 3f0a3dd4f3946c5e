//! The redirector of NetWare's core protocol.
//!
//! Calls are executed one after another; all requests of a call are sent before the next call begins.

mod bursts;
mod calls;
mod connecting;
mod exchange;
mod listing;
mod names;
mod refusals;

use std::collections::{BTreeMap, VecDeque};

use lanlab_wire::ncp::files::FileHandle;
use lanlab_wire::ncp::function::Function;

use crate::carrier::CarrierFacts;
use crate::redirector::{CallId, Calls, FileId};
use connecting::Connecting;
use listing::Listing;

pub use super::server::User;

#[derive(Debug, Clone)]
pub struct Plan {
    pub volume: String,
    /// The user; absent for a guest.
    pub user: Option<User>,
    /// Maximum data bytes per read or write.
    pub most_data_bytes: u16,
    pub large_packets: bool,
    /// Maximum packets per read burst and per write burst, if the server supports bursts; absent: bursts are not
    /// requested.
    pub burst_packets: Option<(u32, u32)>,
    pub carrier: CarrierFacts,
}

#[derive(Debug)]
enum Step {
    Connecting(Connecting),
    Open,
    Read { offset: u32, count: u32 },
    Write { count: u32 },
    ReadBurst { count: u32 },
    WriteBurst { count: u32 },
    Close { file: FileId },
    Check,
    Rename { from: String, to: String },
    List(Listing),
    Other,
}

#[derive(Debug)]
struct Request {
    call: CallId,
    function: Function,
    step: Step,
    message: Vec<u8>,
}

#[derive(Debug)]
pub struct Client {
    plan: Plan,
    server: Option<(String, (u8, u8))>,
    root: u8,
    data_bytes: u32,
    has_large_packets: bool,
    /// Maximum bytes per read burst and per write burst, once the server has agreed to bursts.
    bursts: Option<(u32, u32)>,
    files: BTreeMap<FileId, FileHandle>,
    next_file: u32,
    calls: Calls,
    waiting: VecDeque<Request>,
    current: Option<Request>,
}

impl Client {
    /// The call that completes when the session is established.
    pub const CONNECTED: CallId = CallId(0);

    pub fn new(plan: Plan) -> Self {
        let mut client = Self {
            plan,
            server: None,
            root: 0,
            data_bytes: 0,
            has_large_packets: false,
            bursts: None,
            files: BTreeMap::new(),
            next_file: 0,
            calls: Calls::default(),
            waiting: VecDeque::new(),
            current: None,
        };
        client.negotiate();
        client
    }
}
