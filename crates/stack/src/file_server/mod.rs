//! Common parts of the file servers of all protocols: sessions and how to drive them, open files,
//! locks and waiting lock requests, short names for old clients.
//!
//! A [`FileServer`] is shared by all clients; a [`Session`] is one connection. Neither has a clock, a socket
//! or a file. The driver of a session moves whole messages and executes file calls:
//!
//! 1. call [`handle_message`](Session::handle_message) with a message of the client;
//! 2. while [`poll_file_call`](Session::poll_file_call) returns a call, execute it and return its
//!    [answer](Session::handle_file_answer);
//! 3. while [`poll_message`](Session::poll_message) returns a message, send it; repeat from 2 until both
//!    return nothing; then continue with 1.
//!
//! A session answers its requests one after another, except those that wait for another session, for example
//! for a lock. It answers these when the wait ends, and other requests in the meantime. This requires a
//! driver with a clock, which calls [`handle_timeout`](Session::handle_timeout) before each message and at
//! the time of [`poll_timeout`](Session::poll_timeout), and continues with 2 whenever
//! [`poll_woken`](Session::poll_woken) is ready. With other drivers, a lock on a range in use fails at once.

pub(crate) mod channel;
pub(crate) mod locks;
pub(crate) mod open_files;
pub(crate) mod sharing;
pub mod short_names;
#[cfg(test)]
#[path = "tests/toy.rs"]
mod toy;
pub(crate) mod waiting;

use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use lanlab_units::Instant;

use crate::carrier::CarrierFacts;
use crate::files::{FileAnswer, FileCall};

use channel::SessionChannel;

/// Before a message longer than this, the buffers of the last reply are freed.
const LONG: usize = 66 << 10;

/// State shared by all clients of a server.
pub trait FileServer {
    /// A client has connected. `challenge` is random for each session; `time` is the current time, 100 ns since
    /// 1601.
    fn session(&self, carrier: CarrierFacts, challenge: [u8; 8], time: u64) -> Session;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    Admitted {
        /// The logged-in user; absent if no user is needed.
        user: Option<String>,
        dialect: &'static str,
    },
    /// The client gave the password of the share, which needs no user.
    SharePassword {
        dialect: &'static str,
    },
    WrongPassword {
        /// The claimed user; absent if the password is the share's.
        user: Option<String>,
        dialect: &'static str,
    },
    ReadOnly,
    Refused(String),
}

pub struct Session {
    channel: SessionChannel,
    answering: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    /// A session served by a task that communicates with its driver only through `channel`.
    pub(crate) fn new(
        channel: SessionChannel,
        answering: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self { channel, answering: Some(Box::pin(answering)) }
    }

    /// Handle a whole message of the client, once the previous one was answered. [`memory`](Self::memory) returns
    /// its buffer.
    pub fn handle_message(&mut self, message: &mut Vec<u8>) {
        let mut slots = self.channel.slots();
        if message.len() > LONG {
            slots.sent = Default::default();
        }
        slots.message = Some(take(message));
    }

    /// The next file call. The data of a write is in `data`, by exchanging buffers.
    pub fn poll_file_call(&mut self, data: &mut Vec<u8>) -> Option<FileCall> {
        self.advance();
        let (call, given) = self.channel.slots().call.take()?;
        *data = given;
        Some(call)
    }

    /// The result of the file call. `data` holds the bytes read, or returns the buffer written.
    pub fn handle_file_answer(&mut self, answer: FileAnswer, data: &mut Vec<u8>) {
        self.channel.slots().answer = Some((answer, take(data)));
    }

    /// Advance the clock; then continue at step 2 of the module documentation.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.channel.slots().now = Some(now);
    }

    /// Time of the next [`handle_timeout`](Self::handle_timeout) if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.channel.slots().timeout
    }

    /// Ready once another session has ended a wait of this one.
    pub fn poll_woken(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut slots = self.channel.slots();
        if take(&mut slots.is_woken) {
            return Poll::Ready(());
        }
        slots.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    pub fn memory(&mut self) -> Vec<u8> {
        take(&mut self.channel.slots().used)
    }

    /// The next message to the client: `head` followed by `data`. Their buffers are reused.
    pub fn poll_message(&mut self, head: &mut Vec<u8>, data: &mut Vec<u8>) -> bool {
        self.advance();
        let mut slots = self.channel.slots();
        if head.capacity() > 0 {
            slots.sent = (take(head), take(data));
        }
        let Some(reply) = slots.reply.take() else { return false };
        (*head, *data) = reply;
        true
    }

    /// The client disconnected. File calls may follow, which close its open files.
    pub fn end(&mut self) {
        self.channel.slots().is_ended = true;
    }

    /// Whether a client has logged in or, where there is no login, has connected to the share.
    pub fn is_known(&self) -> bool {
        self.channel.is_known()
    }

    pub fn failed_logins(&self) -> u32 {
        self.channel.slots().failed_logins
    }

    pub fn poll_remark(&self) -> Option<Remark> {
        self.channel.slots().remarks.pop_front()
    }

    /// Whether the connection must end: the client sent a malformed message, or has disconnected and everything it
    /// left is closed.
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
