//! Reassembly of incoming messages of a session.

use lanlab_units::Instant;
use lanlab_wire::nbf::{SessionCommand, SessionHeader, flag, value};

use super::LONGEST_MESSAGE;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Part,
    Whole,
    NoReceive(u16),
    Dropped,
    TooLong,
}

#[derive(Debug, Default)]
pub(super) struct Receiving {
    pub(super) buffer: Vec<u8>,
    pub(super) is_paused: bool,
    is_dropping: bool,
    /// Correlator of a message to acknowledge with data, and the deadline.
    pub(super) held: Option<(u16, Instant)>,
}

impl Receiving {
    pub(super) fn handle_data(&mut self, header: &SessionHeader, data: &[u8]) -> Taken {
        if self.is_dropping {
            if header.data2 != value::RESYNCHRONIZE || self.is_paused {
                return Taken::Dropped;
            }
            self.is_dropping = false;
        }
        if self.is_paused {
            self.is_dropping = true;
            // If no receive was ever posted for the message, nothing is sent until one is.
            if self.buffer.is_empty() {
                return Taken::Dropped;
            }
            return Taken::NoReceive(self.buffer.len() as u16);
        }
        if self.buffer.len() + data.len() > LONGEST_MESSAGE {
            return Taken::TooLong;
        }
        self.buffer.extend_from_slice(data);
        if header.command == SessionCommand::DataOnlyLast { Taken::Whole } else { Taken::Part }
    }

    /// A receive is posted again. Returns the number of accepted bytes if the sender needs it.
    pub(super) fn resume(&mut self) -> Option<u16> {
        self.is_paused = false;
        self.is_dropping.then_some(self.buffer.len() as u16)
    }
}

pub(super) const fn needs_no_ack(header: &SessionHeader) -> bool {
    header.data1 & flag::NO_ACK != 0
}
