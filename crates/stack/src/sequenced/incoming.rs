//! Incoming messages of a session.

use std::collections::VecDeque;

use crate::carrier::SessionId;
use crate::ipx::Common;

/// The message being reassembled, and those held while the session is paused.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) buffer: Vec<u8>,
    held: VecDeque<Vec<u8>>,
    is_paused: bool,
}

impl Incoming {
    pub(crate) const fn new() -> Self {
        Self { buffer: Vec::new(), held: VecDeque::new(), is_paused: false }
    }

    pub(crate) const fn is_paused(&self) -> bool {
        self.is_paused
    }

    pub(crate) fn deliver<C, I>(&mut self, session: SessionId, common: &mut Common<C, I>) {
        let memory = common.memory();
        let message = std::mem::replace(&mut self.buffer, memory);
        if self.is_paused {
            self.held.push_back(message);
        } else {
            common.message(session, message);
        }
    }

    pub(crate) const fn pause(&mut self) {
        self.is_paused = true;
    }

    pub(crate) fn resume<C, I>(&mut self, session: SessionId, common: &mut Common<C, I>) {
        self.is_paused = false;
        for message in std::mem::take(&mut self.held) {
            common.message(session, message);
        }
    }

    pub(crate) fn drop_held(&mut self) {
        self.held.clear();
        self.is_paused = false;
    }

    pub(crate) fn clear(&mut self) {
        self.buffer = Vec::new();
        self.held.clear();
    }
}
