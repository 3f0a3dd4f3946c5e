//! State of a session, and how it answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lanlab_units::Instant;
use lanlab_wire::ncp::bindery::KEY_LEN;
use lanlab_wire::ncp::completion;

use super::numbers::EntryNumbers;
use super::refusals::{Refused, of_files};
use super::search::Searches;
use super::{Offer, Server};
use crate::carrier::CarrierFacts;
use crate::file_server::Remark;
use crate::file_server::channel::SessionChannel;
use crate::file_server::open_files::{OpenFiles, Opened};
use crate::files::{FileAnswer, FileCall, Found, Handle, Names};

/// Maximum open files of a session.
pub const MAX_OPENS: usize = 256;
/// Data size before a client negotiates another, bytes: it passes every router.
const FIRST_DATA_BYTES: u16 = 512;

#[derive(Debug)]
pub struct Open {
    pub handle: Handle,
    pub opened: Opened,
    pub reads: bool,
    pub writes: bool,
}

#[derive(Debug, Clone)]
pub struct Directory {
    pub path: Names,
    pub letter: Option<u8>,
    pub is_temporary: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logged {
    pub file: u16,
    pub offset: u32,
    pub length: u32,
    pub is_shared: bool,
    pub is_locked: bool,
}

pub struct State {
    pub offer: Arc<Offer>,
    pub open_files: Arc<OpenFiles>,
    pub numbers: Arc<Mutex<EntryNumbers>>,
    pub carrier: CarrierFacts,
    pub channel: SessionChannel,
    /// Random bytes for keys, the number of keys, and the key in use.
    pub challenge: [u8; 8],
    pub keys: u64,
    pub key: Option<[u8; KEY_LEN]>,
    pub is_logged_in: bool,
    /// Login time, ticks since 1601.
    pub logged_in_at: Option<u64>,
    /// Start of the session: in 100 ns since 1601, and by the driver's clock.
    pub time: u64,
    pub began: Option<Instant>,
    /// Maximum data bytes per read or write.
    pub data_bytes: u16,
    pub directories: BTreeMap<u8, Directory>,
    pub opens: BTreeMap<u16, Open>,
    pub last_open: u16,
    pub searches: Searches,
    pub logged: Vec<Logged>,
    pub head: Vec<u8>,
    pub data: Vec<u8>,
}

impl State {
    pub fn new(
        Server { offer, open_files, numbers }: Server,
        carrier: CarrierFacts,
        (challenge, time): ([u8; 8], u64),
        channel: SessionChannel,
    ) -> Self {
        Self {
            offer,
            open_files,
            numbers,
            carrier,
            channel,
            challenge,
            keys: 0,
            key: None,
            is_logged_in: false,
            logged_in_at: None,
            time,
            began: None,
            data_bytes: FIRST_DATA_BYTES,
            directories: BTreeMap::new(),
            opens: BTreeMap::new(),
            last_open: 0,
            searches: Searches::default(),
            logged: vec![],
            head: Vec::new(),
            data: Vec::new(),
        }
    }

    pub async fn run(mut self) {
        let mut message = Vec::new();
        while let Some(next) = self.channel.next_message(message).await {
            message = next;
            if self.began.is_none() {
                self.began = self.channel.now();
            }
            (self.head, self.data) = self.channel.take_sent();
            self.head.clear();
            self.data.clear();
            self.head.push(completion::OK);
            if let Err(refused) = self.answer(&mut message).await {
                self.head.truncate(0);
                self.data.clear();
                self.head.push(refused);
            }
            let (head, data) = (std::mem::take(&mut self.head), std::mem::take(&mut self.data));
            self.channel.send(head, data).await;
        }
        self.close_all().await;
    }

    pub async fn ask(&mut self, call: FileCall) -> Result<FileAnswer, Refused> {
        match self.channel.call(call, &mut Vec::new()).await {
            FileAnswer::Refused(refusal) => Err(of_files(refusal)),
            answer => Ok(answer),
        }
    }

    /// Execute a call that changes files; `denied` is the error for a read-only volume.
    pub async fn change(&mut self, call: FileCall, denied: Refused) -> Result<(), Refused> {
        if self.is_read_only() {
            return Err(self.read_only(denied));
        }
        self.ask(call).await.map(drop)
    }

    /// Whether the client may change nothing: it has not logged in, or the volume is read-only.
    pub fn is_read_only(&self) -> bool {
        self.offer.read_only || !self.is_logged_in
    }

    /// Refuse a change, and log it if the volume is read-only.
    pub fn read_only(&self, denied: Refused) -> Refused {
        if self.offer.read_only {
            self.channel.remark(Remark::ReadOnly);
        }
        denied
    }

    pub fn numbers(&self) -> MutexGuard<'_, EntryNumbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn look(&mut self, path: &Names) -> Result<Found, Refused> {
        match self.ask(FileCall::Look { path: path.clone() }).await? {
            FileAnswer::Found(found) => Ok(found),
            _ => Err(completion::IO_ERROR),
        }
    }

    pub async fn look_at_directory(&mut self, path: &Names) -> Result<Found, Refused> {
        match self.look(path).await {
            Ok(found) if found.is_directory => Ok(found),
            Ok(_) | Err(completion::FAILED) => Err(completion::NO_SUCH_PATH),
            Err(refused) => Err(refused),
        }
    }

    pub async fn close_all(&mut self) {
        self.logged.clear();
        while let Some((_, open)) = self.opens.pop_first() {
            // There is no client left to report an error to.
            let _ = self.ask(FileCall::Close { handle: open.handle }).await;
        }
    }
}
