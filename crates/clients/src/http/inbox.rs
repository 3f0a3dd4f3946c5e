//! Received bytes that have not been consumed, in one buffer of bounded size.

/// Buffer size; no header of a response may be longer.
pub const INBOX_BYTES: usize = 1 << 16;

pub struct Inbox {
    octets: Box<[u8]>,
    taken: usize,
    filled: usize,
}

impl Default for Inbox {
    fn default() -> Self {
        Self { octets: vec![0; INBOX_BYTES].into_boxed_slice(), taken: 0, filled: 0 }
    }
}

impl Inbox {
    pub fn waiting(&self) -> &[u8] {
        &self.octets[self.taken..self.filled]
    }

    /// Consume the first `count` of [`Inbox::waiting`], or all if there are fewer.
    pub fn take(&mut self, count: usize) {
        self.taken = (self.taken + count).min(self.filled);
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        }
    }

    /// Move waiting data to `buffer` as far as it fits; returns the length.
    pub fn take_into(&mut self, buffer: &mut [u8]) -> usize {
        let count = self.waiting().len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.waiting()[..count]);
        self.take(count);
        count
    }

    /// Room for more data: empty only if [`INBOX_BYTES`] are waiting.
    pub fn room(&mut self) -> &mut [u8] {
        if self.filled == self.octets.len() {
            self.octets.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
        }
        &mut self.octets[self.filled..]
    }

    /// Note that `count` bytes were written to [`Inbox::room`].
    pub fn put(&mut self, count: usize) {
        self.filled = (self.filled + count).min(self.octets.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_forwarded_unchanged(
            moves in prop::collection::vec((0_usize..40_000, 0_usize..40_000), 0..40),
        ) {
            let (mut inbox, mut next_in, mut next_out) = (Inbox::default(), 0_usize, 0_usize);
            for (come, go) in moves {
                let room = inbox.room();
                let come = come.min(room.len());
                for octet in &mut room[..come] {
                    *octet = (next_in % 251) as u8;
                    next_in += 1;
                }
                inbox.put(come);
                let mut buffer = vec![0; go];
                let count = inbox.take_into(&mut buffer);
                for octet in &buffer[..count] {
                    prop_assert_eq!(*octet, (next_out % 251) as u8);
                    next_out += 1;
                }
                prop_assert_eq!(inbox.waiting().len(), next_in - next_out);
                prop_assert_eq!(inbox.room().is_empty(), inbox.waiting().len() == INBOX_BYTES);
            }
        }
    }
}
