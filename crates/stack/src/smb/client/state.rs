//! State of a client session and its pending requests.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use lanlab_wire::smb1::header::{Header, flags, flags2};
use lanlab_wire::smb1::writer::Writer;

use super::agreed::{Agreed, Login};
use super::listing::Listing;
use crate::redirector::{CallId, Calls, FileId, Refusal};
use crate::smb::Dialect;
use crate::smb::plan::Plan;
use crate::smb::signing::Signing;

pub enum Step {
    Negotiate,
    Login(Login),
    Connect,
    Open,
    Read { count: u32 },
    Write { count: u32 },
    ReadRaw { file: FileId, offset: u64, count: u32 },
    WriteRaw { file: FileId, offset: u64, data: Vec<u8> },
    WriteRest { count: u32 },
    ReadMultiplexed { file: FileId, offset: u64, count: u32 },
    WriteMultiplexed { file: FileId, offset: u64, data: Vec<u8> },
    Stat,
    List(Box<Listing>),
    Other,
}

pub struct Pending {
    pub call: CallId,
    pub command: u8,
    pub step: Step,
    pub number: Option<u32>,
}

pub struct Client {
    pub(super) plan: Plan,
    pub(super) agreed: Option<Arc<Agreed>>,
    pub(super) signing: Option<Signing>,
    pub(super) extended_key: Option<[u8; 16]>,
    pub(super) uid: u16,
    pub(super) tid: u16,
    pub(super) next_mid: u16,
    pub(super) calls: Calls,
    pub(super) pending: BTreeMap<u16, Pending>,
    pub(super) waiting: VecDeque<(u16, Vec<u8>)>,
    pub(super) sent: usize,
    /// Number of the raw read or write in progress, which excludes other requests.
    pub(super) raw: Option<u16>,
    pub(super) raw_rest: Option<Vec<u8>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("smb::Client").field("facts", &self.calls.facts).finish_non_exhaustive()
    }
}

impl Client {
    /// The call that completes when the session is established.
    pub const CONNECTED: CallId = CallId(0);

    pub fn new(plan: Plan) -> Self {
        let mut client = Self {
            plan,
            agreed: None,
            signing: None,
            extended_key: None,
            uid: 0,
            tid: 0,
            next_mid: 1,
            calls: Calls::default(),
            pending: BTreeMap::new(),
            waiting: VecDeque::new(),
            sent: 0,
            raw: None,
            raw_rest: None,
        };
        client.negotiate();
        client
    }

    pub(super) fn header(&self, command: u8) -> Header {
        let (flags, mut flags2) = match self.agreed.as_ref().map(|agreed| agreed.dialect) {
            None | Some(Dialect::Core) => (0, 0),
            Some(_) => (flags::CASE_INSENSITIVE | flags::CANONICALIZED_PATHS, 0),
        };
        if let Some(agreed) = &self.agreed {
            flags2 |= agreed.flags2;
        }
        // If the server does not require signing, the login requests it.
        let asks = self.plan.requires_signatures && self.agreed.is_some();
        if self.signing.is_some() || asks {
            flags2 |= flags2::SIGNED | flags2::SIGNATURE_REQUIRED;
        }
        // The process ID is constant; old servers treat zero as no process.
        Header { pid: 1, tid: self.tid, uid: self.uid, ..Header::request(command, flags, flags2) }
    }

    pub(super) fn send(&mut self, call: CallId, command: u8, step: Step, mut message: Vec<u8>) {
        let mut mid = self.next_mid;
        // Servers use 0xffff for unsolicited messages ([MS-CIFS] 2.2.1.6.2).
        while mid == u16::MAX || self.pending.contains_key(&mid) {
            mid = mid.wrapping_add(1);
        }
        self.next_mid = mid.wrapping_add(1);
        message[30..32].copy_from_slice(&mid.to_le_bytes());
        self.pending.insert(mid, Pending { call, command, step, number: None });
        self.waiting.push_back((mid, message));
    }

    pub(super) fn await_again(&mut self, mid: u16, call: CallId, command: u8, step: Step) {
        self.sent += 1;
        self.pending.insert(mid, Pending { call, command, step, number: None });
    }

    pub(super) fn fail(&mut self, refusal: &Refusal) {
        self.calls.broken = Some(refusal.clone());
        self.waiting.clear();
        for (_, pending) in std::mem::take(&mut self.pending) {
            self.calls.end(pending.call, Err(refusal.clone()));
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.agreed.as_ref().map_or(1, |agreed| usize::from(agreed.max_mpx))
    }

    pub(super) fn ask(
        &mut self,
        id: CallId,
        command: u8,
        step: Step,
        emit: impl FnOnce(&mut Writer<'_>),
    ) {
        let header = self.header(command);
        self.ask_as(&header, id, step, emit);
    }

    pub(super) fn ask_as(
        &mut self,
        header: &Header,
        id: CallId,
        step: Step,
        emit: impl FnOnce(&mut Writer<'_>),
    ) {
        let mut message = self.calls.memory();
        emit(&mut Writer::begin(&mut message, header));
        self.send(id, header.command, step, message);
    }
}
