//! Splits a stream of octets into messages.

use bytes::{Buf, Bytes, BytesMut};

use super::MAX_MESSAGE_OCTETS;

#[derive(Debug, Default)]
pub struct Frames {
    pending: BytesMut,
}

impl Frames {
    pub fn push(&mut self, octets: &[u8]) {
        self.pending.extend_from_slice(octets);
    }

    /// The next complete message, without its length.
    ///
    /// # Errors
    /// The length, if it is zero or too large.
    pub fn next_message(&mut self) -> Result<Option<Bytes>, usize> {
        let Some((length, _)) = self.pending.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if length == 0 || length > MAX_MESSAGE_OCTETS {
            return Err(length);
        }
        if self.pending.len() < 4 + length {
            self.pending.reserve(4 + length - self.pending.len());
            return Ok(None);
        }
        self.pending.advance(4);
        Ok(Some(self.pending.split_to(length).freeze()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn excessive_lengths_are_refused_at_once() {
        for (octets, found) in [([0, 0, 0, 0], 0), ([0xff; 4], 0xffff_ffff)] {
            let mut frames = Frames::default();
            frames.push(&octets);
            assert_eq!(frames.next_message(), Err(found));
        }
    }

    proptest! {
        #[test]
        fn sftp_messages_round_trip(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..300), 0..9),
            step in 1_usize..97,
        ) {
            let mut stream = Vec::new();
            for message in &messages {
                stream.extend_from_slice(&(message.len() as u32).to_be_bytes());
                stream.extend_from_slice(message);
            }
            let (mut frames, mut found) = (Frames::default(), Vec::new());
            for part in stream.chunks(step) {
                frames.push(part);
                while let Some(message) = frames.next_message().unwrap() {
                    found.push(message.to_vec());
                }
            }
            prop_assert_eq!(found, messages);
        }
    }
}
