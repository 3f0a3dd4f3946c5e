//! Writes a message.

use bytes::Bytes;

#[derive(Debug)]
pub struct Message {
    octets: Vec<u8>,
}

impl Message {
    pub fn new(kind: u8, room: usize) -> Self {
        let mut octets = Vec::with_capacity(room + 32);
        octets.extend_from_slice(&[0, 0, 0, 0, kind]);
        Self { octets }
    }

    #[must_use]
    pub fn u32(mut self, value: u32) -> Self {
        self.octets.extend_from_slice(&value.to_be_bytes());
        self
    }

    #[must_use]
    pub fn u64(mut self, value: u64) -> Self {
        self.octets.extend_from_slice(&value.to_be_bytes());
        self
    }

    #[must_use]
    pub fn string(self, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        let mut longer = self.u32(value.len() as u32);
        longer.octets.extend_from_slice(value);
        longer
    }

    /// At most `room` octets, which `fill` writes and counts, preceded by their length.
    pub fn filled<E>(
        self,
        room: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(Self, usize), E> {
        let mut longer = self.u32(0);
        let start = longer.octets.len();
        longer.octets.resize(start + room, 0);
        let count = fill(&mut longer.octets[start..])?;
        longer.octets.truncate(start + count);
        longer.octets[start - 4..start].copy_from_slice(&(count as u32).to_be_bytes());
        Ok((longer, count))
    }

    pub fn finish(mut self) -> Bytes {
        let length = (self.octets.len() - 4) as u32;
        self.octets[..4].copy_from_slice(&length.to_be_bytes());
        self.octets.into()
    }
}
