//! State shared by all sessions of a station: interface, counters and events.

use std::collections::VecDeque;

use crate::carrier::{Event, SessionId};
use crate::ipx::Interface;
use crate::spare::keep;

const MOST_SPARE: usize = 64;

/// State shared by all sessions of a station. `C`: counters of the carrier; `I`: its interface.
#[derive(Debug)]
pub(crate) struct Common<C, I = Interface> {
    pub(crate) interface: I,
    pub(crate) counts: C,
    events: VecDeque<(Event, Option<Vec<u8>>)>,
    spare: Vec<Vec<u8>>,
}

impl<C: Default, I> Common<C, I> {
    pub(crate) fn new(interface: I) -> Self {
        let (counts, events) = (C::default(), VecDeque::new());
        Self { interface, counts, events, spare: Vec::new() }
    }
}

impl<C, I> Common<C, I> {
    pub(crate) fn event(&mut self, event: Event) {
        self.events.push_back((event, None));
    }

    pub(crate) fn message(&mut self, session: SessionId, message: Vec<u8>) {
        self.events.push_back((Event::Message(session), Some(message)));
    }

    pub(crate) fn memory(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    pub(crate) fn keep(&mut self, memory: Vec<u8>) {
        if self.spare.len() < MOST_SPARE {
            keep(&mut self.spare, memory);
        }
    }

    pub(crate) fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        let (event, memory) = self.events.pop_front()?;
        if let Some(mut memory) = memory {
            std::mem::swap(message, &mut memory);
            self.keep(memory);
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buffers of taken messages are reused, at most 64 of them.
    #[test]
    fn message_buffers_are_reused() {
        let mut common = Common::<(), ()>::new(());
        assert_eq!(common.memory().capacity(), 0);
        common.message(SessionId(1), Vec::with_capacity(100));
        let mut message = Vec::with_capacity(200);
        assert_eq!(common.poll_event(&mut message), Some(Event::Message(SessionId(1))));
        assert_eq!((message.capacity(), common.memory().capacity()), (100, 200));
        assert_eq!((common.poll_event(&mut message), message.capacity()), (None, 100));
        for _ in 0..70 {
            common.keep(Vec::with_capacity(9));
        }
        let kept = (0..70).filter(|_| common.memory().capacity() > 0).count();
        assert_eq!(kept, 64);
    }
}
