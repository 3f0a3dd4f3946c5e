//! Outgoing messages of a session: split into parts, one message after another.

use std::collections::VecDeque;

use lanlab_wire::nbf::{SessionCommand, flag, value};

use crate::netbios::Correlators;
use crate::spare::keep;

/// Maximum messages queued behind the one being sent.
const MOST_MESSAGES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Wait {
    #[default]
    Nothing,
    Continue(u16),
    Acknowledgement(u16),
    Receiver,
}

#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) command: SessionCommand,
    pub(super) data1: u8,
    pub(super) data2: u16,
    pub(super) response_correlator: u16,
    pub(super) data: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Habits {
    pub(super) part_bytes: usize,
    pub(super) piggybacks: bool,
}

#[derive(Debug, Default)]
pub(super) struct Sending {
    messages: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    sent_bytes: usize,
    wait: Wait,
    asks_continue: bool,
    resynchronizes: bool,
}

impl Sending {
    pub(super) fn new(asks_continue: bool) -> Self {
        Self { asks_continue, ..Self::default() }
    }

    pub(super) fn has_room(&self) -> bool {
        self.messages.len() < MOST_MESSAGES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn push(&mut self, message: &[u8]) {
        let mut memory = self.spare.pop().unwrap_or_default();
        memory.extend_from_slice(message);
        self.messages.push_back(memory);
    }

    pub(super) fn is_ready(&self) -> bool {
        self.wait == Wait::Nothing && !self.messages.is_empty()
    }

    pub(super) fn next_part(
        &mut self,
        habits: Habits,
        correlators: &mut Correlators,
    ) -> Option<Part<'_>> {
        if !self.is_ready() {
            return None;
        }
        let message = self.messages.front()?;
        let rest = &message[self.sent_bytes..];
        let data2 = if std::mem::take(&mut self.resynchronizes) { value::RESYNCHRONIZE } else { 0 };
        let mut data1 = 0;
        if rest.len() > habits.part_bytes {
            let mut response_correlator = 0;
            if std::mem::take(&mut self.asks_continue) {
                response_correlator = correlators.next();
                data1 |= flag::RECEIVE_CONTINUE;
                self.wait = Wait::Continue(response_correlator);
            }
            self.sent_bytes += habits.part_bytes;
            let data = &rest[..habits.part_bytes];
            let command = SessionCommand::DataFirstMiddle;
            return Some(Part { command, data1, data2, response_correlator, data });
        }
        let response_correlator = correlators.next();
        if habits.piggybacks {
            data1 |= flag::ACK_WITH_DATA_ALLOWED;
        }
        self.sent_bytes = message.len();
        self.wait = Wait::Acknowledgement(response_correlator);
        let command = SessionCommand::DataOnlyLast;
        Some(Part { command, data1, data2, response_correlator, data: rest })
    }

    /// The first message is complete. Returns whether there was one.
    fn done(&mut self) -> bool {
        let Some(memory) = self.messages.pop_front() else { return false };
        keep(&mut self.spare, memory);
        self.sent_bytes = 0;
        self.wait = Wait::Nothing;
        true
    }

    /// An acknowledgement arrived. Returns whether it completes a message.
    pub(super) fn handle_acknowledgement(&mut self, correlator: u16) -> bool {
        self.wait == Wait::Acknowledgement(correlator) && self.done()
    }

    pub(super) fn handle_continue(&mut self, correlator: u16) {
        if self.wait == Wait::Continue(correlator) {
            self.wait = Wait::Nothing;
        }
    }

    pub(super) fn handle_no_receive(&mut self) {
        if self.sent_bytes > 0 || self.wait != Wait::Nothing {
            self.wait = Wait::Receiver;
            self.asks_continue = true;
        }
    }

    pub(super) fn handle_receive_outstanding(&mut self, accepted_bytes: u16) {
        let Some(message) = self.messages.front() else { return };
        if self.sent_bytes == 0 && self.wait == Wait::Nothing {
            return;
        }
        self.sent_bytes = usize::from(accepted_bytes).min(message.len());
        self.wait = Wait::Nothing;
        self.resynchronizes = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HABITS: Habits = Habits { part_bytes: 100, piggybacks: false };

    fn parts(message_bytes: usize) -> Vec<(SessionCommand, usize)> {
        let mut sending = Sending::new(false);
        sending.push(&vec![7; message_bytes]);
        let mut correlators = Correlators::default();
        let mut parts = vec![];
        while let Some(part) = sending.next_part(HABITS, &mut correlators) {
            parts.push((part.command, part.data.len()));
        }
        parts
    }

    #[test]
    fn a_message_that_fits_is_sent_in_one_part() {
        use SessionCommand::{DataFirstMiddle, DataOnlyLast};
        for bytes in [0, 1, 99, 100] {
            assert_eq!(parts(bytes), [(DataOnlyLast, bytes)]);
        }
        assert_eq!(parts(101), [(DataFirstMiddle, 100), (DataOnlyLast, 1)]);
        assert_eq!(parts(200), [(DataFirstMiddle, 100), (DataOnlyLast, 100)]);
    }

    #[test]
    fn only_its_own_acknowledgement_completes_a_message() {
        let mut sending = Sending::new(false);
        let mut correlators = Correlators::default();
        sending.push(b"one");
        sending.push(b"two");
        let correlator = sending.next_part(HABITS, &mut correlators).unwrap().response_correlator;
        assert!(!sending.is_ready());
        for other in [0, correlator - 1, correlator + 1] {
            assert!(!sending.handle_acknowledgement(other));
        }
        assert!(sending.handle_acknowledgement(correlator) && sending.is_ready());
        assert!(!sending.handle_acknowledgement(correlator), "once");
    }

    #[test]
    fn only_a_started_message_continues_where_the_receiver_asks() {
        let mut correlators = Correlators::default();
        let mut sending = Sending::new(false);
        sending.push(b"not begun");
        sending.handle_receive_outstanding(3);
        let part = sending.next_part(HABITS, &mut correlators).unwrap();
        assert_eq!((part.data, part.data2), (&b"not begun"[..], 0));
        // An empty message, too, counts as begun once it is sent.
        let mut sending = Sending::new(false);
        sending.push(b"");
        assert!(sending.next_part(HABITS, &mut correlators).is_some());
        sending.handle_no_receive();
        assert!(sending.next_part(HABITS, &mut correlators).is_none());
        sending.handle_receive_outstanding(0);
        let part = sending.next_part(HABITS, &mut correlators).unwrap();
        assert_eq!((part.data, part.data2), (&b""[..], value::RESYNCHRONIZE));
        // An earlier "not ready" does not hold back the next message.
        let mut sending = Sending::new(true);
        sending.push(&[1; 150]);
        sending.handle_no_receive();
        let part = sending.next_part(HABITS, &mut correlators).unwrap();
        assert_eq!((part.data.len(), part.data1), (100, flag::RECEIVE_CONTINUE));
        sending.handle_no_receive();
        sending.handle_receive_outstanding(500);
        let part = sending.next_part(HABITS, &mut correlators).unwrap();
        assert_eq!((part.data.len(), part.command), (0, SessionCommand::DataOnlyLast));
    }
}
