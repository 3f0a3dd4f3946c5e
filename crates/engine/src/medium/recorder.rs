//! Frames on their way into a file, written by a thread of its own: a disk never delays a frame.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_wire::pcap;

use crate::messages::Failure;

/// Frames are handed to the thread in pieces of this size.
const PIECE_BYTES: usize = 64 << 10;
/// Most pieces that wait for the disk; more frames are left out, and counted.
const WAITING_PIECES: usize = 256;
/// Memory of a recorder, bytes.
pub const MEMORY_BYTES: u64 = (PIECE_BYTES * (WAITING_PIECES + 2)) as u64;
/// Longest time until a piece is handed on.
const HAND_ON_NS: u64 = 100_000_000;

#[derive(Debug)]
pub struct Recorder {
    piece: Vec<u8>,
    pieces: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<std::io::Result<()>>>,
    /// Calendar time of the monotonic clock's zero.
    offset_ns: u64,
    frames_in_piece: u64,
    handed_on: Instant,
    recorded: u64,
    unrecorded: u64,
}

impl Recorder {
    /// Create the file; it must not exist.
    ///
    /// # Errors
    /// `system.call` if it exists or cannot be created.
    pub fn create(path: &str) -> Result<Self, Failure> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let mut file = file.map_err(|error| Failure::system(format!("`{path}`"), &error))?;
        let (pieces, waiting): (_, Receiver<Vec<u8>>) = sync_channel(WAITING_PIECES);
        let writer = std::thread::Builder::new()
            .spawn(move || waiting.iter().try_for_each(|piece| file.write_all(&piece)))
            .map_err(|error| Failure::system("a thread that writes frames", &error))?;
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        pcap::emit_header(&mut piece);
        let now = os::monotonic();
        Ok(Self {
            piece,
            pieces: Some(pieces),
            writer: Some(writer),
            offset_ns: os::realtime_ns().saturating_sub(now.as_nanos()),
            frames_in_piece: 0,
            handed_on: now,
            recorded: 0,
            unrecorded: 0,
        })
    }

    /// Record a frame that ended at this time.
    pub fn record(&mut self, at: Instant, frame: &[u8]) {
        if self.piece.len() + pcap::RECORD_HEADER_OCTETS + frame.len() > PIECE_BYTES {
            self.hand_on(at);
        }
        pcap::emit_record(self.offset_ns + at.as_nanos(), frame, &mut self.piece);
        self.frames_in_piece += 1;
    }

    /// Hand on what has waited long enough.
    pub fn tick(&mut self, now: Instant) {
        if !self.piece.is_empty() && now.nanos_since(self.handed_on) >= HAND_ON_NS {
            self.hand_on(now);
        }
    }

    fn hand_on(&mut self, now: Instant) {
        self.handed_on = now;
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        let frames = std::mem::take(&mut self.frames_in_piece);
        match self.pieces.as_ref().map(|pieces| pieces.try_send(piece)) {
            Some(Ok(())) => self.recorded += frames,
            Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) | None => {
                self.unrecorded += frames;
            }
        }
    }

    /// Number of frames in the file, and of those that it lacks.
    pub fn counts(&self) -> (u64, u64) {
        (self.recorded + self.frames_in_piece, self.unrecorded)
    }

    /// Write the rest. `Err` if a write failed; frames left out because the disk was slow are no error.
    pub fn end(&mut self) -> Result<(), Failure> {
        // Waiting for the disk is fine here: no more frames are carried.
        let last = std::mem::take(&mut self.piece);
        if let Some(pieces) = self.pieces.take() {
            let frames = std::mem::take(&mut self.frames_in_piece);
            if pieces.send(last).is_ok() {
                self.recorded += frames;
            } else {
                self.unrecorded += frames;
            }
        }
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let written = writer.join().unwrap_or_else(|_| Err(std::io::Error::other("it stopped")));
        written.map_err(|error| Failure::system("the file of frames", &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_stands_in_the_file_and_a_file_that_is_there_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frames.pcap");
        let path = path.to_str().unwrap();
        let mut recorder = Recorder::create(path).unwrap();
        for _ in 0..1000 {
            recorder.record(os::monotonic(), &[7; 1514]);
        }
        recorder.end().unwrap();
        assert_eq!(recorder.counts(), (1000, 0));
        let octets = std::fs::read(path).unwrap();
        assert_eq!(octets.len(), 24 + 1000 * (16 + 1514));
        assert_eq!(Recorder::create(path).err().map(|failure| failure.code), Some("system.call"));
    }
}
