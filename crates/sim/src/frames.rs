//! The frames of a world: reused buffers, identified by number.

pub(crate) type FrameId = u32;

/// Shortest Ethernet frame without check sequence, bytes (IEEE 802.3, 4.2.3.3: 512 bits with it).
const SHORTEST_BYTES: usize = 60;
const HEADER_BYTES: usize = 14;
const PREAMBLE_AND_CHECK_BYTES: u32 = 8 + 4;

#[derive(Debug, Default)]
pub(crate) struct Frames {
    frames: Vec<Frame>,
    unused: Vec<FrameId>,
}

#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    pub(crate) payload_bytes: u32,
    pub(crate) is_recorded: bool,
    holders: u32,
}

impl Frame {
    pub(crate) fn wire_bytes(&self) -> u32 {
        self.bytes.len() as u32 + PREAMBLE_AND_CHECK_BYTES
    }
}

impl Frames {
    /// A new frame with one holder, filled by `write`. `None`: nothing was written.
    #[inline]
    pub(crate) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> Option<FrameId> {
        let id = self.unused.pop().unwrap_or_else(|| {
            self.frames.push(Frame::default());
            (self.frames.len() - 1) as FrameId
        });
        let frame = &mut self.frames[id as usize];
        frame.bytes.clear();
        if !write(&mut frame.bytes) {
            self.unused.push(id);
            return None;
        }
        frame.payload_bytes = frame.bytes.len().saturating_sub(HEADER_BYTES) as u32;
        if frame.bytes.len() < SHORTEST_BYTES {
            frame.bytes.resize(SHORTEST_BYTES, 0);
        }
        frame.is_recorded = false;
        frame.holders = 1;
        Some(id)
    }

    pub(crate) fn get(&self, id: FrameId) -> &Frame {
        &self.frames[id as usize]
    }

    pub(crate) fn get_mut(&mut self, id: FrameId) -> &mut Frame {
        &mut self.frames[id as usize]
    }

    pub(crate) fn hold(&mut self, id: FrameId) {
        self.frames[id as usize].holders += 1;
    }

    pub(crate) fn release(&mut self, id: FrameId) {
        let frame = &mut self.frames[id as usize];
        frame.holders -= 1;
        if frame.holders == 0 {
            self.unused.push(id);
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.frames.len() - self.unused.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_frames_are_padded_and_free_buffers_reused() {
        let mut frames = Frames::default();
        let write = |into: &mut Vec<u8>| {
            into.extend_from_slice(&[1; 20]);
            true
        };
        let first = frames.add(write).unwrap();
        assert_eq!(frames.get(first).bytes.len(), 60);
        assert_eq!(frames.get(first).payload_bytes, 6);
        assert_eq!(frames.get(first).wire_bytes(), 72);
        frames.hold(first);
        frames.release(first);
        let second = frames.add(write).unwrap();
        assert_ne!(first, second);
        frames.release(first);
        assert_eq!(frames.held(), 1);
        assert_eq!(frames.add(|_| false), None);
        assert_eq!(frames.add(write), Some(first));
    }
}
