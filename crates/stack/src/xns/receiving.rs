//! Reassembly of incoming messages in packet order. Early packets wait.

use lanlab_wire::xns::spp::{Header, control, stream};

use crate::netbios::LONGEST_MESSAGE;
use crate::sequenced::is_after;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Now,
    Early,
    Again,
    Beyond,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Part,
    Whole,
    Attention,
    End,
    EndReply,
    TooLong,
}

#[derive(Debug)]
pub(super) struct Receiving {
    pub(super) next: u16,
    early: Vec<(Header, Vec<u8>)>,
    window: u16,
    /// Highest number granted to the other end; never decreases.
    granted: u16,
}

impl Receiving {
    pub(super) const fn new(window: u16) -> Self {
        Self { next: 0, early: Vec::new(), window, granted: u16::MAX }
    }

    /// Highest number that the other end may send; the caller announces it.
    pub(super) const fn grant(&mut self, is_paused: bool) -> u16 {
        let last = self.next.wrapping_sub(1).wrapping_add(self.window);
        if !is_paused && is_after(last, self.granted) {
            self.granted = last;
        }
        self.granted
    }

    pub(super) const fn is_used_up(&self) -> bool {
        self.next.wrapping_sub(1) == self.granted
    }

    pub(super) fn when(&self, header: &Header) -> When {
        let number = header.sequence;
        if is_after(self.next, number) {
            return When::Again;
        }
        // An attention packet needs no room.
        let room = u16::from(header.control & control::ATTENTION != 0);
        if is_after(number, self.granted.wrapping_add(room)) {
            return When::Beyond;
        }
        if number == self.next {
            return When::Now;
        }
        if self.early.iter().any(|(known, _)| known.sequence == number) {
            return When::Again;
        }
        When::Early
    }

    pub(super) fn keep(&mut self, header: &Header, data: &[u8]) {
        self.early.push((*header, data.to_vec()));
    }

    pub(super) fn take_kept(&mut self) -> Option<(Header, Vec<u8>)> {
        let at = self.early.iter().position(|(header, _)| header.sequence == self.next)?;
        Some(self.early.swap_remove(at))
    }

    /// The packet is next: data is appended to the message in `buffer`.
    pub(super) fn take(&mut self, header: &Header, data: &[u8], buffer: &mut Vec<u8>) -> Taken {
        self.next = self.next.wrapping_add(1);
        if header.control & control::ATTENTION != 0 {
            return Taken::Attention;
        }
        match header.stream {
            stream::END => return Taken::End,
            stream::END_REPLY => return Taken::EndReply,
            _ if buffer.len() + data.len() > LONGEST_MESSAGE => return Taken::TooLong,
            _ => buffer.extend_from_slice(data),
        }
        let is_last = header.control & control::END_OF_MESSAGE != 0;
        if is_last { Taken::Whole } else { Taken::Part }
    }

    pub(super) fn clear(&mut self) {
        self.early = Vec::new();
    }
}
