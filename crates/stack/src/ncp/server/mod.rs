//! The file server of NetWare's core protocol, without a clock, a socket or a file.
//!
//! It has one volume; its bindery contains the server and one user.
//! [`file_server`](crate::file_server) describes how to drive sessions, and holds the parts shared
//! with other servers.

mod bindery;
mod bursts;
mod changing;
mod directories;
mod dispatch;
mod entries;
mod name_spaces;
mod numbers;
mod opening;
mod paths;
mod records;
mod refusals;
mod search;
mod searching;
mod state;
mod transferring;
mod volumes;

use std::fmt;
use std::sync::{Arc, Mutex};

use crate::carrier::CarrierFacts;
use crate::file_server::channel::SessionChannel;
use crate::file_server::open_files::OpenFiles;
use crate::file_server::{FileServer, Session};
use crate::profile::netware::NetWare;
use numbers::EntryNumbers;
use state::State;

#[derive(Clone)]
pub struct User {
    pub name: String,
    pub password: String,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "User {:?}", self.name)
    }
}

#[derive(Debug, Clone)]
pub struct Offer {
    pub name: String,
    pub volume: String,
    /// The only user; absent: no login is needed.
    pub user: Option<User>,
    pub read_only: bool,
    pub netware: NetWare,
}

#[derive(Debug, Clone)]
pub struct Server {
    offer: Arc<Offer>,
    open_files: Arc<OpenFiles>,
    numbers: Arc<Mutex<EntryNumbers>>,
}

impl Server {
    pub fn new(offer: Offer) -> Self {
        Self { offer: Arc::new(offer), open_files: Arc::default(), numbers: Arc::default() }
    }

    pub fn open_files(&self) -> usize {
        self.open_files.len()
    }
}

impl FileServer for Server {
    fn session(&self, carrier: CarrierFacts, challenge: [u8; 8], time: u64) -> Session {
        let channel = SessionChannel::default();
        let state = State::new(self.clone(), carrier, (challenge, time), channel.clone());
        Session::new(channel, state.run())
    }
}
