//! The file server of SMB 1, without a clock, a socket or a file.
//!
//! A [`Server`] is what all sessions share, a [`Session`] one connection. Its driver moves whole
//! messages, and carries out calls for files:
//!
//! 1. [`handle_message`](Session::handle_message) with a message of the client;
//! 2. while [`poll_file_call`](Session::poll_file_call) gives a call, carry it out and give its
//!    [answer](Session::handle_file_answer);
//! 3. while [`poll_message`](Session::poll_message) gives a message, send it; then 2 again, until
//!    there is neither; then 1.
//!
//! Requests of a session are answered one after another, but for locks that are waited for: those are
//! answered when they are free, given up or too late, and others meanwhile. That takes a driver that says
//! the time by [`handle_timeout`](Session::handle_timeout), before each message and when
//! [`poll_timeout`](Session::poll_timeout) says, and that goes on with 2 whenever
//! [`poll_woken`](Session::poll_woken) is ready; another driver's clients hear at once that a range is not
//! free. Opportunistic locks are never given.

mod browsing;
mod changing;
mod closing;
mod connecting;
mod desk;
mod dispatch;
mod finding;
mod found;
mod information;
mod locking;
mod locks;
mod logging_in;
mod names;
mod open_files;
mod opening;
mod pending;
mod raw;
mod refusals;
mod renaming;
mod search;
mod searching;
mod setting;
mod shares;
pub mod short_names;
mod state;
mod transactions;
mod transferring;
mod waiting;

use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use lanlab_units::Instant;
use lanlab_wire::smb1::strings::CodePage;

use super::plan::User;
use crate::carrier::CarrierFacts;
use crate::files::{FileAnswer, FileCall};
use crate::smb::Dialect;

pub use names::can_be_asked_for;

use desk::Desk;
use open_files::OpenFiles;
use state::State;

/// What a server has, and to whom it gives it.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Name of the server.
    pub name: String,
    /// Name of the one share.
    pub share: String,
    /// Its only user, whose password is that of the share too; absent: anyone.
    pub user: Option<User>,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// Code page of both ends where strings are not UTF-16LE.
    pub code_page: CodePage,
    /// The dialects to speak.
    pub dialects: RangeInclusive<Dialect>,
}

/// What all sessions share.
#[derive(Debug, Clone)]
pub struct Server {
    offer: Arc<Offer>,
    open_files: Arc<OpenFiles>,
    requires_signatures: bool,
}

impl Server {
    /// A server to which no client is connected.
    pub fn new(offer: Offer) -> Self {
        Self { offer: Arc::new(offer), open_files: Arc::default(), requires_signatures: false }
    }

    /// The same, which takes only clients that sign their messages. That takes a user with a password
    /// and the dialect `NT LM 0.12`; all others are refused. Without it, messages are signed where the
    /// client asks for that.
    #[must_use]
    pub fn requiring_signatures(self) -> Self {
        Self { requires_signatures: true, ..self }
    }

    /// A client has connected. `challenge` is random and new for each session; `time` is now, 100 ns
    /// since 1601.
    pub fn session(&self, carrier: CarrierFacts, challenge: [u8; 8], time: u64) -> Session {
        let desk = Desk::default();
        let (offer, open_files) = (Arc::clone(&self.offer), Arc::clone(&self.open_files));
        let mut state = State::new(offer, open_files, carrier, challenge, time, desk.clone());
        state.requires_signatures = self.requires_signatures;
        Session { desk, answering: Some(Box::pin(state.run())) }
    }

    /// Files that are open, of all sessions.
    pub fn open_files(&self) -> usize {
        self.open_files.len()
    }
}

/// One connection. See the module.
pub struct Session {
    desk: Desk,
    answering: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    /// Take a whole message of the client, once the one before was answered. Its memory comes back by
    /// [`memory`](Self::memory).
    pub fn handle_message(&mut self, message: &mut Vec<u8>) {
        self.desk.give_message(message);
    }

    /// The next call for files. The data of a write are in `data`, whose memory is exchanged.
    pub fn poll_file_call(&mut self, data: &mut Vec<u8>) -> Option<FileCall> {
        self.advance();
        self.desk.take_call(data)
    }

    /// What came of the call. What was read is in `data`; what was written is given back in it.
    pub fn handle_file_answer(&mut self, answer: FileAnswer, data: &mut Vec<u8>) {
        self.desk.give_answer(answer, data);
    }

    /// Let time pass. Then 2 of the module.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.desk.set_now(now);
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called, if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.desk.timeout()
    }

    /// Ready if another session has ended a wait of this one since it was asked.
    pub fn poll_woken(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.desk.poll_woken(cx)
    }

    /// Memory of the message that was answered.
    pub fn memory(&mut self) -> Vec<u8> {
        self.desk.take_used()
    }

    /// The next message to the client: `head`, and `data` behind it. What they held before is used
    /// again.
    pub fn poll_message(&mut self, head: &mut Vec<u8>, data: &mut Vec<u8>) -> bool {
        self.advance();
        self.desk.take_reply(head, data)
    }

    /// The client has gone. Calls for files may follow, which end what it has left open.
    pub fn end(&mut self) {
        self.desk.end();
    }

    /// Whether a client has logged in or, where there is no login, has connected to the share.
    pub fn is_known(&self) -> bool {
        self.desk.is_known()
    }

    /// Logins that failed.
    pub fn failed_logins(&self) -> u32 {
        self.desk.failed_logins()
    }

    /// Whether the connection is to be ended: what came made no sense, or the client has gone and all
    /// it left is ended.
    pub fn is_over(&self) -> bool {
        self.answering.is_none()
    }

    fn advance(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        if let Some(answering) = &mut self.answering
            && answering.as_mut().poll(&mut cx).is_ready()
        {
            self.answering = None;
        }
    }
}
