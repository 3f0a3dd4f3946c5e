//! State of a session, and how it answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lanlab_wire::smb1::header::{self, Header, flags, flags2};
use lanlab_wire::smb1::status::{Status, error};
use lanlab_wire::smb1::writer::{Place, Writer};

use super::Offer;
use super::pending::{Pending, Wait};
use super::refusals::Refused;
use super::search::Search;
use crate::carrier::CarrierFacts;
use crate::file_server::channel::SessionChannel;
use crate::file_server::open_files::{OpenFiles, Opened};
use crate::files::{FileAnswer, FileCall, Found, Handle, Names};
use crate::smb::Dialect;
use crate::smb::signing::Signing;

/// Longest message accepted and announced, except large writes.
pub const MAX_BUFFER: u16 = 16_644;
/// Maximum bytes of a message without its data.
pub const AROUND_DATA: usize = lanlab_wire::smb1::AROUND_DATA as usize;
/// Maximum users, tree connections, searches and open files of a session.
const MAX_USERS: usize = 16;
const MAX_TREES: usize = 32;
const MAX_SEARCHES: usize = 32;
const MAX_OPENS: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    Disk,
    Pipes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Block,
    Sent,
    Over,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "rights that a client has each alone")]
pub struct Open {
    pub handle: Option<Handle>,
    pub opened: Opened,
    pub reads: bool,
    pub writes: bool,
    pub deletes: bool,
    pub dies: bool,
    /// Whether reads are permitted only for execution.
    pub only_executes: bool,
    pub is_directory: bool,
    pub tid: u16,
    pub uid: u16,
    pub pid: u32,
    pub refused_lock: Option<u64>,
    pub position: u64,
    pub deferred: Option<Refused>,
}

#[derive(Debug)]
pub struct Pipe {
    pub tid: u16,
    pub uid: u16,
    pub unread: Vec<u8>,
}

pub struct State {
    pub offer: Arc<Offer>,
    pub open_files: Arc<OpenFiles>,
    pub number: u64,
    pub carrier: CarrierFacts,
    pub challenge: [u8; 8],
    pub time: u64,
    pub requires_signatures: bool,
    pub channel: SessionChannel,
    pub dialect: Option<Dialect>,
    pub client_buffer: usize,
    pub has_large_reads: bool,
    pub is_extended: bool,
    /// The user that was sent a challenge and has not answered yet.
    pub challenged: Option<u16>,
    /// Signs and verifies messages, once a login has made a key and either end requests signing.
    pub signing: Option<Signing>,
    pub users: BTreeSet<u16>,
    pub trees: BTreeMap<u16, Tree>,
    pub opens: BTreeMap<u16, Open>,
    pub pipes: BTreeMap<u16, Pipe>,
    pub searches: BTreeMap<u16, Search>,
    pub pending: Option<Pending>,
    pub waits: Vec<Wait>,
    next: u16,
    // State of the request being answered:
    pub request: Header,
    pub command: u8,
    pub answer_number: u32,
    pub uid: u16,
    pub tid: u16,
    pub chained_fid: Option<u16>,
    head: Vec<u8>,
    pub data: Vec<u8>,
    place: Option<Place>,
}

/// Longest message except large reads and writes; carriers may have a lower limit.
const fn longest(carrier: CarrierFacts) -> u16 {
    if carrier.longest_message < MAX_BUFFER as u32 {
        carrier.longest_message as u16
    } else {
        MAX_BUFFER
    }
}

impl State {
    pub const fn max_buffer(&self) -> u16 {
        longest(self.carrier)
    }

    pub const fn carries_large(&self) -> bool {
        self.carrier.longest_message > MAX_BUFFER as u32
    }

    pub fn new(
        offer: Arc<Offer>,
        open_files: Arc<OpenFiles>,
        carrier: CarrierFacts,
        challenge: [u8; 8],
        time: u64,
        channel: SessionChannel,
    ) -> Self {
        Self {
            offer,
            number: open_files.next_number(),
            open_files,
            carrier,
            challenge,
            time,
            requires_signatures: false,
            channel,
            dialect: None,
            client_buffer: usize::from(longest(carrier)),
            has_large_reads: false,
            is_extended: false,
            challenged: None,
            signing: None,
            users: BTreeSet::new(),
            trees: BTreeMap::new(),
            opens: BTreeMap::new(),
            pipes: BTreeMap::new(),
            searches: BTreeMap::new(),
            pending: None,
            waits: Vec::new(),
            next: 0,
            request: Header::request(0, 0, 0),
            command: 0,
            answer_number: 0,
            uid: 0,
            tid: 0,
            chained_fid: None,
            head: Vec::new(),
            data: Vec::new(),
            place: None,
        }
    }

    pub fn begin(&mut self, request: Header) {
        self.request = request;
        (self.uid, self.tid) = (request.uid, request.tid);
        self.chained_fid = None;
        self.place = None;
        (self.head, self.data) = self.channel.take_sent();
        self.head.clear();
        self.data.clear();
    }

    fn response(&self, status: Status) -> Header {
        let kept = flags2::LONG_NAMES
            | flags2::NT_STATUS
            | flags2::UNICODE
            | flags2::IS_LONG_NAME
            | flags2::EXTENDED_SECURITY;
        let form = if matches!(status, Status::Dos { .. }) { flags2::NT_STATUS } else { 0 };
        let kept = kept & !form;
        let signed = if self.signing.is_some() { flags2::SIGNED } else { 0 };
        let asked = flags::OPLOCK | flags::OPLOCK_NOTIFY;
        Header {
            flags: (self.request.flags | flags::REPLY) & !asked,
            flags2: self.request.flags2 & kept | signed,
            uid: self.uid,
            tid: self.tid,
            ..self.request.response(status)
        }
    }

    /// Put the response of a request that succeeded, as its last step.
    #[expect(clippy::unnecessary_wraps, reason = "a request may end with it")]
    pub fn put(&mut self, emit: impl FnOnce(&mut Writer<'_>)) -> Result<(), Refused> {
        // In a chain: the data of the previous block.
        self.head.append(&mut self.data);
        let header = self.response(Status::success(self.request.flags2));
        let place = self.place;
        let mut writer = match place {
            None => Writer::begin(&mut self.head, &header),
            Some(place) => {
                let mut writer = Writer::resume(&mut self.head, place);
                writer.chain(self.command);
                writer
            }
        };
        emit(&mut writer);
        self.place = Some(writer.pause());
        Ok(())
    }

    pub fn put_nothing(&mut self) -> Result<(), Refused> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method has one lifetime"
        )]
        self.put(|writer| writer.empty())
    }

    pub async fn finish(&mut self, ended: Result<(), Refused>) {
        self.finish_as(self.request.command, ended).await;
    }

    /// Send a response to a later command of the request.
    pub async fn finish_as(&mut self, command: u8, ended: Result<(), Refused>) {
        let row = ended.err().unwrap_or(error::SUCCESS);
        let header = self.response(Status::of(row, self.request.flags2));
        let header = Header { command, ..header };
        if self.head.len() < header::LEN {
            self.head.resize(header::LEN, 0);
        }
        self.head[..header::LEN].copy_from_slice(&header.emit());
        if let Some(signing) = &self.signing {
            signing.sign_as(&mut self.head, &self.data, self.answer_number);
        }
        self.send_raw().await;
    }

    pub async fn send_raw(&mut self) {
        let (head, data) = (std::mem::take(&mut self.head), std::mem::take(&mut self.data));
        self.channel.send(head, data).await;
        self.place = None;
    }

    pub async fn ask(&mut self, call: FileCall) -> Result<FileAnswer, Refused> {
        match self.channel.call(call, &mut Vec::new()).await {
            FileAnswer::Refused(refusal) => Err(refusal.into()),
            answer => Ok(answer),
        }
    }

    pub async fn look(&mut self, path: &Names) -> Result<Found, Refused> {
        match self.ask(FileCall::Look { path: path.clone() }).await? {
            FileAnswer::Found(found) => Ok(found),
            _ => Err(error::UNSUCCESSFUL_IO),
        }
    }

    /// Like [`look`](Self::look), for a client's path: refuses a file about to be removed.
    pub async fn look_up(&mut self, path: &Names) -> Result<Found, Refused> {
        let found = self.look(path).await?;
        if self.open_files.is_doomed(found.number) { Err(error::DELETE_PENDING) } else { Ok(found) }
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect.unwrap_or(Dialect::Core)
    }

    /// Whether users log in: not in the core dialect, nor before Windows NT if the share is open.
    pub fn has_users(&self) -> bool {
        match self.dialect() {
            Dialect::Core => false,
            Dialect::LanMan1 | Dialect::LanMan2 => self.offer.user.is_some(),
            Dialect::Nt => true,
        }
    }

    /// The user of the request. The core dialect has only one.
    pub fn user(&self) -> u16 {
        if self.dialect() > Dialect::Core { self.uid } else { 0 }
    }

    fn number(&mut self, is_taken: impl Fn(&Self, u16) -> bool) -> u16 {
        loop {
            self.next = self.next.wrapping_add(1);
            // 0 and 65,535 are not valid in every dialect.
            if !matches!(self.next, 0 | u16::MAX) && !is_taken(self, self.next) {
                return self.next;
            }
        }
    }

    pub fn number_of_user(&mut self) -> Result<u16, Refused> {
        if self.users.len() >= MAX_USERS {
            return Err(error::TOO_MANY_SESSIONS);
        }
        Ok(self.number(|state, uid| state.users.contains(&uid)))
    }

    pub fn take_in(&mut self, uid: u16) -> Result<(), Refused> {
        if self.users.len() >= MAX_USERS {
            return Err(error::TOO_MANY_SESSIONS);
        }
        self.users.insert(uid);
        Ok(())
    }

    pub fn add_user(&mut self) -> Result<u16, Refused> {
        let uid = self.number_of_user()?;
        self.users.insert(uid);
        Ok(uid)
    }

    pub fn add_tree(&mut self, tree: Tree) -> Result<u16, Refused> {
        if self.trees.len() >= MAX_TREES {
            return Err(error::INSUFFICIENT_RESOURCES);
        }
        let tid = self.number(|state, tid| state.trees.contains_key(&tid));
        self.trees.insert(tid, tree);
        Ok(tid)
    }

    pub fn has_room(&self) -> Result<(), Refused> {
        if self.opens.len() >= MAX_OPENS { Err(error::TOO_MANY_OPENED_FILES) } else { Ok(()) }
    }

    pub fn add_open(&mut self, open: Open) -> u16 {
        let fid = self.number_of_open();
        self.opens.insert(fid, open);
        fid
    }

    pub fn add_pipe(&mut self, pipe: Pipe) -> u16 {
        let fid = self.number_of_open();
        self.pipes.insert(fid, pipe);
        fid
    }

    /// A new number for an open file or pipe, to which the rest of a chain refers.
    fn number_of_open(&mut self) -> u16 {
        let is_taken =
            |state: &Self, fid| state.opens.contains_key(&fid) || state.pipes.contains_key(&fid);
        let fid = self.number(is_taken);
        self.chained_fid = Some(fid);
        fid
    }

    /// Keep an unfinished search, under its number if it has one. The least recently used one is evicted.
    pub fn keep_search(&mut self, sid: Option<u16>, mut search: Search) -> u16 {
        search.used = self.searches.values().map(|other| other.used + 1).max().unwrap_or(0);
        if self.searches.len() >= MAX_SEARCHES {
            let oldest = self.searches.iter().min_by_key(|(_, search)| search.used);
            if let Some(sid) = oldest.map(|(sid, _)| *sid) {
                self.searches.remove(&sid);
            }
        }
        let sid =
            sid.unwrap_or_else(|| self.number(|state, sid| state.searches.contains_key(&sid)));
        self.searches.insert(sid, search);
        sid
    }

    /// Number of an open file; in a chain, of the file just opened.
    pub fn fid(&self, fid: u16) -> u16 {
        self.chained_fid.unwrap_or(fid)
    }

    /// An open file of the request's share and user. Reports a delayed write error.
    pub fn open(&mut self, fid: u16) -> Result<&mut Open, Refused> {
        let (fid, tid, uid) = (self.fid(fid), self.tid, self.user());
        let open = self.opens.get_mut(&fid).filter(|open| (open.tid, open.uid) == (tid, uid));
        let open = open.ok_or(error::INVALID_HANDLE)?;
        match open.deferred.take() {
            Some(refused) => Err(refused),
            None => Ok(open),
        }
    }
}
