//! Reassembly of incoming messages: parts in the order of their numbers.

use lanlab_wire::nbipx::{SessionHeader, control};

use crate::sequenced::is_after;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Part,
    Whole,
    Again,
    Gap,
    Closed,
    Senseless,
}

#[derive(Debug)]
pub(super) struct Receiving {
    pub(super) next: u16,
    window: u16,
    granted: u16,
    has_asked: bool,
    pub(super) unacknowledged: u16,
}

impl Receiving {
    pub(super) const fn new(first: u16, window: u16) -> Self {
        Self {
            next: first,
            window,
            granted: first.wrapping_sub(1),
            has_asked: false,
            unacknowledged: 0,
        }
    }

    /// Highest number that the other end may send; the caller announces it.
    pub(super) const fn grant(&mut self, is_paused: bool) -> u16 {
        let last = self.next.wrapping_sub(1);
        if is_paused {
            return last;
        }
        self.granted = last.wrapping_add(self.window);
        self.granted
    }

    pub(super) const fn is_used_up(&self) -> bool {
        self.next.wrapping_sub(1) == self.granted
    }

    /// Append a part to the message in `buffer`.
    pub(super) fn handle_data(
        &mut self,
        header: &SessionHeader,
        data: &[u8],
        buffer: &mut Vec<u8>,
    ) -> Taken {
        if header.sequence != self.next {
            return if is_after(header.sequence, self.next) { Taken::Gap } else { Taken::Again };
        }
        if is_after(header.sequence, self.granted) {
            return Taken::Closed;
        }
        let end = usize::from(header.offset) + data.len();
        let is_last = header.control & control::END_OF_MESSAGE != 0;
        let total = usize::from(header.total_bytes);
        if usize::from(header.offset) != buffer.len() || end > total || is_last != (end == total) {
            return Taken::Senseless;
        }
        buffer.extend_from_slice(data);
        self.next = self.next.wrapping_add(1);
        self.unacknowledged += 1;
        self.has_asked = false;
        if is_last { Taken::Whole } else { Taken::Part }
    }

    /// Whether to request a missing packet now; true only once.
    pub(super) const fn is_to_ask(&mut self) -> bool {
        !std::mem::replace(&mut self.has_asked, true)
    }
}
