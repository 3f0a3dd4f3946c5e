//! Received messages of each session, and their waiting programs.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::task::{Context, Poll, Waker};

use lanlab_sessions::why_ended;
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::node::{Event, SessionId, Why};
use lanlab_wire::ethernet::Mac;

/// Messages queued for a session's program before its peer is held back.
const MANY_WAITING: usize = 16;
/// Queue limit: a peer that ignores being held back loses its session.
const MOST_WAITING: usize = 64;
/// Maximum message buffers kept for reuse.
const MOST_FREE: usize = 64;

#[derive(Debug, Default)]
pub struct Inbox {
    messages: VecDeque<Vec<u8>>,
    facts: Option<CarrierFacts>,
    ended: Option<Why>,
    is_flooded: bool,
    is_paused: bool,
    receives: Option<Waker>,
    sends: Option<Waker>,
}

impl Inbox {
    fn wake(&mut self) {
        for waker in [self.receives.take(), self.sends.take()].into_iter().flatten() {
            waker.wake();
        }
    }

    fn end(&self) -> Option<io::Error> {
        self.ended.map(why_ended)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Nothing,
    Pause(SessionId),
    Close(SessionId),
}

#[derive(Debug, Default)]
pub struct Inboxes {
    sessions: BTreeMap<SessionId, Inbox>,
    accepted: VecDeque<(SessionId, CarrierFacts, Mac)>,
    accepts: Option<Waker>,
    free: Vec<Vec<u8>>,
}

impl Inboxes {
    pub fn open(&mut self, id: SessionId) {
        self.sessions.insert(id, Inbox::default());
    }

    pub fn forget(&mut self, id: SessionId) {
        self.sessions.remove(&id);
    }

    pub fn take(&mut self, event: &Event, message: &mut Vec<u8>) -> Then {
        match *event {
            Event::Opened(id, facts) => {
                if let Some(inbox) = self.sessions.get_mut(&id) {
                    inbox.facts = Some(facts);
                    inbox.wake();
                }
            }
            Event::Accepted { session, facts, station, .. } => {
                self.sessions.insert(session, Inbox { facts: Some(facts), ..Inbox::default() });
                self.accepted.push_back((session, facts, station));
                if let Some(waker) = self.accepts.take() {
                    waker.wake();
                }
            }
            Event::Message(id) => return self.take_message(id, message),
            Event::Room(id) => {
                if let Some(inbox) = self.sessions.get_mut(&id) {
                    inbox.wake();
                }
            }
            Event::Ended(id, why) => {
                if let Some(inbox) = self.sessions.get_mut(&id) {
                    inbox.ended = Some(why);
                    inbox.wake();
                }
            }
            Event::Name(_) => {}
        }
        Then::Nothing
    }

    fn take_message(&mut self, id: SessionId, message: &mut Vec<u8>) -> Then {
        let Some(inbox) = self.sessions.get_mut(&id) else { return Then::Nothing };
        if inbox.messages.len() >= MOST_WAITING {
            inbox.is_flooded = true;
            return Then::Close(id);
        }
        let free = self.free.pop().unwrap_or_default();
        inbox.messages.push_back(std::mem::replace(message, free));
        if let Some(waker) = inbox.receives.take() {
            waker.wake();
        }
        if inbox.messages.len() < MANY_WAITING || std::mem::replace(&mut inbox.is_paused, true) {
            return Then::Nothing;
        }
        Then::Pause(id)
    }

    /// Whether a session that was held back resumes, because its program has caught up.
    pub fn resumes(&mut self, id: SessionId) -> bool {
        self.sessions.get_mut(&id).is_some_and(|inbox| {
            inbox.messages.is_empty() && std::mem::replace(&mut inbox.is_paused, false)
        })
    }

    pub fn wake_all(&mut self) {
        self.sessions.values_mut().for_each(Inbox::wake);
        if let Some(waker) = self.accepts.take() {
            waker.wake();
        }
    }

    pub fn poll_open(&mut self, cx: &Context<'_>, id: SessionId) -> Poll<io::Result<CarrierFacts>> {
        let Some(inbox) = self.sessions.get_mut(&id) else { return Poll::Ready(Err(gone())) };
        match (inbox.facts, inbox.end()) {
            (_, Some(error)) => Poll::Ready(Err(error)),
            (Some(facts), None) => Poll::Ready(Ok(facts)),
            (None, None) => {
                inbox.receives = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    pub fn poll_accept(&mut self, cx: &Context<'_>) -> Poll<(SessionId, CarrierFacts, Mac)> {
        if let Some(accepted) = self.accepted.pop_front() {
            return Poll::Ready(accepted);
        }
        self.accepts = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The next message, replacing the content of `into`, whose buffer is reused.
    pub fn poll_receive(
        &mut self,
        cx: &Context<'_>,
        id: SessionId,
        into: &mut Vec<u8>,
    ) -> Poll<io::Result<()>> {
        let Some(inbox) = self.sessions.get_mut(&id) else { return Poll::Ready(Err(gone())) };
        if let Some(message) = inbox.messages.pop_front() {
            let mut before = std::mem::replace(into, message);
            if self.free.len() < MOST_FREE {
                before.clear();
                self.free.push(before);
            }
            return Poll::Ready(Ok(()));
        }
        if inbox.is_flooded {
            let message = format!("more than {MOST_WAITING} messages that did not wait");
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, message)));
        }
        if let Some(error) = inbox.end() {
            return Poll::Ready(Err(error));
        }
        inbox.receives = Some(cx.waker().clone());
        Poll::Pending
    }

    pub fn wait_for_room(&mut self, cx: &Context<'_>, id: SessionId) -> Poll<io::Result<()>> {
        let Some(inbox) = self.sessions.get_mut(&id) else { return Poll::Ready(Err(gone())) };
        if let Some(error) = inbox.end() {
            return Poll::Ready(Err(error));
        }
        inbox.sends = Some(cx.waker().clone());
        Poll::Pending
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the session is closed")
}
