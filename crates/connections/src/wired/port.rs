//! One end of a session.

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::node::{NotSent, SessionId};

use super::shared::Shared;
use crate::link_thread::AtLink;

#[derive(Debug)]
pub struct WiredPort {
    _node: Arc<dyn Any + Send + Sync>,
    shared: Arc<Shared>,
    id: SessionId,
    pub(super) facts: CarrierFacts,
    whole: Vec<u8>,
    is_whole: bool,
}

impl WiredPort {
    pub(super) fn new(
        node: Arc<dyn Any + Send + Sync>,
        shared: Arc<Shared>,
        id: SessionId,
        facts: CarrierFacts,
    ) -> Self {
        Self { _node: node, shared, id, facts, whole: Vec::new(), is_whole: false }
    }

    #[cfg(test)]
    pub(super) fn link_takes(&self) -> u64 {
        self.shared.state().reader.as_ref().map_or(0, |reader| reader.takes)
    }

    #[cfg(test)]
    pub(super) fn has_link(&self) -> bool {
        self.shared.state().has_link(self.id)
    }

    pub fn facts(&self) -> CarrierFacts {
        self.facts
    }

    /// Send a message of two parts. Until done, pass the same message again.
    ///
    /// # Errors
    /// Errors of the link, or why the session has ended; `InvalidInput` if the message is too long.
    pub fn poll_send(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 2]) -> Poll<io::Result<()>> {
        if !parts[1].is_empty() && !self.is_whole {
            self.whole = parts.concat();
            self.is_whole = true;
        }
        let message = if parts[1].is_empty() { parts[0] } else { &self.whole };
        let (id, longest) = (self.id, self.facts.longest_message);
        let sent = self.shared.with(|state| {
            loop {
                if let Err(error) = state.check() {
                    return Poll::Ready(Err(error));
                }
                let waits = match state.node.send(state.link.now(), id, message) {
                    Ok(()) => return Poll::Ready(Ok(())),
                    Err(NotSent::Full) => state.inboxes.wait_for_room(cx, id),
                    // The session has ended; its inbox has the reason.
                    Err(NotSent::NoSession) => match state.inboxes.wait_for_room(cx, id) {
                        Poll::Pending => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
                        ended @ Poll::Ready(_) => ended,
                    },
                    Err(NotSent::TooLong) => {
                        let found = message.len();
                        let message = format!("a message of {found} octets; allowed: {longest}");
                        Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidInput, message)))
                    }
                };
                // A program that waited for a message still has the link, and now waits here.
                if waits.is_ready() || !(state.has_link(id) && state.poll_frames(cx, id)) {
                    return waits;
                }
            }
        });
        if sent.is_ready() {
            self.is_whole = false;
            // Free the buffer: the node has a copy, and there may be many sessions.
            self.whole = Vec::new();
        }
        sent
    }

    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut Vec<u8>,
    ) -> Poll<io::Result<()>> {
        let id = self.id;
        self.shared.with(|state| state.poll_receive(cx, id, into))
    }
}

impl Drop for WiredPort {
    fn drop(&mut self) {
        let id = self.id;
        self.shared.with(|state| {
            state.stop_reading(id);
            state.inboxes.forget(id);
            state.node.close(state.link.now(), id);
        });
    }
}
