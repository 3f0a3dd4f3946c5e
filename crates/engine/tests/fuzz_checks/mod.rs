//! What a stranger may send to every parser and state machine of the engine, and what must hold then.
//!
//! One function for each fuzz target (`fuzz/`): it takes any octets and panics if something does not
//! hold. The tests feed them the seeds of the corpus, so that what a fuzzer has found once stays
//! mended.

mod accounting;
#[cfg(test)]
mod corpus;
mod host_texts;
mod ip_frames;
mod iperf3;
mod lines;
mod machines;
mod messages;

pub use accounting::tally;
pub use host_texts::host_texts;
pub use ip_frames::ip_frames;
pub use iperf3::iperf3_dialogue;
pub use lines::engine_line;
pub use machines::session_machines;
pub use messages::{probe, session};

/// Octets taken one after the other; zeros when there are no more.
struct Feed<'a> {
    octets: &'a [u8],
}

impl<'a> Feed<'a> {
    fn new(octets: &'a [u8]) -> Self {
        Self { octets }
    }

    fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, left) = self.octets.split_at(length.min(self.octets.len()));
        self.octets = left;
        taken
    }

    fn u8(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.u8(), self.u8()])
    }

    fn u32(&mut self) -> u32 {
        u32::from(self.u16()) << 16 | u32::from(self.u16())
    }

    /// Small numbers, numbers near the greatest, and any others.
    fn number(&mut self) -> u64 {
        match self.u8() {
            octet @ 0..=199 => octet.into(),
            octet @ 200..=219 => u64::MAX - u64::from(octet - 200),
            octet @ 220..=239 => (1_u64 << 62) - 10 + u64::from(octet - 220),
            _ => u64::from(self.u32()) << 32 | u64::from(self.u32()),
        }
    }
}
