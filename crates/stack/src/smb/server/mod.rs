//! The file server of SMB 1, without a clock, a socket or a file.
//!
//! [`file_server`](crate::file_server) describes how to drive sessions, and holds the parts shared
//! with servers of other protocols. Opportunistic locks are never granted.

mod browsing;
mod changing;
mod closing;
mod connecting;
mod dispatch;
mod finding;
mod found;
mod information;
mod locking;
mod logging_in;
mod multiplexed;
mod names;
mod opening;
mod pending;
mod pipes;
mod raw;
mod refusals;
mod renaming;
mod search;
mod searching;
mod setting;
mod state;
mod transactions;
mod transferring;

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::plan::User;
use crate::carrier::CarrierFacts;
use crate::file_server::channel::SessionChannel;
use crate::file_server::open_files::OpenFiles;
use crate::file_server::{FileServer, Session};
use crate::smb::Dialect;
use crate::systems::System;

use state::State;

#[derive(Debug, Clone)]
pub struct Offer {
    pub name: String,
    pub share: String,
    /// The only user, whose password is also the share's; absent: no login is needed.
    pub user: Option<User>,
    pub read_only: bool,
    /// Code page of both ends for strings that are not UTF-16LE.
    pub dialects: RangeInclusive<Dialect>,
}

#[derive(Debug, Clone)]
pub struct Server {
    offer: Arc<Offer>,
    open_files: Arc<OpenFiles>,
    requires_signatures: bool,
    longest_message: u32,
}

impl Server {
    pub fn new(offer: Offer) -> Self {
        let (offer, open_files) = (Arc::new(offer), Arc::default());
        Self { offer, open_files, requires_signatures: false, longest_message: u32::MAX }
    }

    /// The same server with the message size of a period server.
    #[must_use]
    pub const fn of(self, system: &System) -> Self {
        self.taking(system.buffer_bytes)
    }

    /// The same server with this limit on message size, bytes.
    #[must_use]
    pub const fn taking(mut self, longest_message: u32) -> Self {
        self.longest_message = longest_message;
        self
    }

    /// The same server, requiring signing. That needs a user with a password and the dialect `NT LM 0.12`; other
    /// clients are refused. By default messages are signed if the client requests it.
    #[must_use]
    pub fn requiring_signatures(self) -> Self {
        Self { requires_signatures: true, ..self }
    }

    pub fn open_files(&self) -> usize {
        self.open_files.len()
    }
}

impl FileServer for Server {
    fn session(&self, carrier: CarrierFacts, challenge: [u8; 8], time: u64) -> Session {
        let channel = SessionChannel::default();
        let longest_message = carrier.longest_message.min(self.longest_message);
        let carrier = CarrierFacts { longest_message, ..carrier };
        let (offer, open_files) = (Arc::clone(&self.offer), Arc::clone(&self.open_files));
        let mut state = State::new(offer, open_files, carrier, challenge, time, channel.clone());
        state.requires_signatures = self.requires_signatures;
        Session::new(channel, state.run())
    }
}
