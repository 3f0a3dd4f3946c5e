//! What all sessions of a station share: its interface, what it has counted, and what it reports.

use std::collections::VecDeque;

use super::counts::Counts;
use crate::carrier::{Event, SessionId};
use crate::ipx::Interface;

/// Messages whose memory is kept.
const MOST_SPARE: usize = 64;

/// What all sessions of a station share.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) interface: Interface,
    pub(super) counts: Counts,
    events: VecDeque<(Event, Option<Vec<u8>>)>,
    spare: Vec<Vec<u8>>,
}

impl Common {
    pub(super) fn new(interface: Interface) -> Self {
        let (counts, events) = (Counts::default(), VecDeque::new());
        Self { interface, counts, events, spare: Vec::new() }
    }

    pub(super) fn event(&mut self, event: Event) {
        self.events.push_back((event, None));
    }

    /// Report a message.
    pub(super) fn message(&mut self, session: SessionId, message: Vec<u8>) {
        self.events.push_back((Event::Message(session), Some(message)));
    }

    /// Memory for a message.
    pub(super) fn memory(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Memory of a message that is not used any more.
    pub(super) fn keep(&mut self, mut memory: Vec<u8>) {
        if self.spare.len() < MOST_SPARE {
            memory.clear();
            self.spare.push(memory);
        }
    }

    /// What happened next; a message is in `message`, whose memory is exchanged.
    pub(super) fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        let (event, memory) = self.events.pop_front()?;
        if let Some(mut memory) = memory {
            std::mem::swap(message, &mut memory);
            self.keep(memory);
        }
        Some(event)
    }
}
