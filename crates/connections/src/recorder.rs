//! Recording of frames into a file by a separate thread, so that a disk never delays a frame.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_wire::pcap;

/// Frames are passed to the thread in pieces of this size.
const PIECE_BYTES: usize = 64 << 10;
/// Maximum pieces queued for the disk; further frames are omitted and counted.
const WAITING_PIECES: usize = 256;
pub const MEMORY_BYTES: u64 = (PIECE_BYTES * (WAITING_PIECES + 2)) as u64;
/// Longest delay before a piece is passed on.
const HAND_ON_NS: u64 = 100_000_000;

#[derive(Debug)]
struct Piece {
    octets: Vec<u8>,
    frames: u64,
}

/// A file to which pieces are written entirely or not at all.
trait Disk: Write {
    fn truncate(&mut self, octets: u64) -> io::Result<()>;
}

impl Disk for File {
    fn truncate(&mut self, octets: u64) -> io::Result<()> {
        self.set_len(octets)
    }
}

#[derive(Debug)]
pub struct Recorder {
    piece: Vec<u8>,
    pieces: Option<SyncSender<Piece>>,
    pub path: String,
    writer: Option<JoinHandle<io::Result<()>>>,
    offset_ns: u64,
    frames_in_piece: u64,
    handed_on: Instant,
    recorded: u64,
    unrecorded: u64,
    unwritten: Arc<AtomicU64>,
}

impl Recorder {
    /// Create the file; it must not exist.
    pub fn create(path: &str) -> io::Result<Self> {
        Self::begin(path, File::create_new(path)?)
    }

    fn begin(path: &str, mut file: impl Disk + Send + 'static) -> io::Result<Self> {
        let (pieces, waiting): (_, Receiver<Piece>) = sync_channel(WAITING_PIECES);
        let unwritten = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&unwritten);
        let writer =
            std::thread::Builder::new().spawn(move || write(&waiting, &mut file, &counted))?;
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        pcap::emit_header(&mut piece);
        let now = os::monotonic();
        Ok(Self {
            piece,
            pieces: Some(pieces),
            path: path.to_owned(),
            writer: Some(writer),
            offset_ns: os::realtime_ns().saturating_sub(now.as_nanos()),
            frames_in_piece: 0,
            handed_on: now,
            recorded: 0,
            unrecorded: 0,
            unwritten,
        })
    }

    pub fn record(&mut self, at: Instant, frame: &[u8]) {
        if self.piece.len() + pcap::RECORD_HEADER_OCTETS + frame.len() > PIECE_BYTES {
            self.hand_on(at);
        }
        pcap::emit_record(self.offset_ns + at.as_nanos(), frame, &mut self.piece);
        self.frames_in_piece += 1;
    }

    pub fn tick(&mut self, now: Instant) {
        if !self.piece.is_empty() && now.nanos_since(self.handed_on) >= HAND_ON_NS {
            self.hand_on(now);
        }
    }

    fn hand_on(&mut self, now: Instant) {
        self.handed_on = now;
        let octets = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        let frames = std::mem::take(&mut self.frames_in_piece);
        match self.pieces.as_ref().map(|pieces| pieces.try_send(Piece { octets, frames })) {
            Some(Ok(())) => self.recorded += frames,
            Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) | None => {
                self.unrecorded += frames;
            }
        }
    }

    /// Numbers of frames in the file, including queued ones, and of omitted frames.
    pub fn counts(&self) -> (u64, u64) {
        let unwritten = self.unwritten.load(Ordering::Acquire);
        (self.recorded + self.frames_in_piece - unwritten, self.unrecorded + unwritten)
    }

    /// Write everything queued; the counts are final afterwards.
    ///
    /// # Errors A write failed. Frames omitted because of a slow disk are not an error.
    pub fn end(&mut self) -> io::Result<()> {
        // Blocking is fine here: no more frames are carried.
        let octets = std::mem::take(&mut self.piece);
        if let Some(pieces) = self.pieces.take() {
            let frames = std::mem::take(&mut self.frames_in_piece);
            if pieces.send(Piece { octets, frames }).is_ok() {
                self.recorded += frames;
            } else {
                self.unrecorded += frames;
            }
        }
        let Some(writer) = self.writer.take() else { return Ok(()) };
        writer.join().unwrap_or_else(|_| Err(io::Error::other("it stopped")))
    }
}

/// Write pieces until there are no more. After an error the remaining ones are only counted: the file ends with the
/// last complete record.
fn write(pieces: &Receiver<Piece>, file: &mut impl Disk, unwritten: &AtomicU64) -> io::Result<()> {
    let mut written_octets = 0;
    let mut written = Ok(());
    for piece in pieces {
        if written.is_ok() {
            written = file.write_all(&piece.octets);
            match &written {
                Ok(()) => written_octets += piece.octets.len() as u64,
                // If this fails, too, the partial record stays.
                Err(_) => drop(file.truncate(written_octets)),
            }
        }
        if written.is_err() {
            unwritten.fetch_add(piece.frames, Ordering::AcqRel);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use std::io::{Error, ErrorKind};

    use super::*;

    #[derive(Clone)]
    struct SmallDisk(usize, Arc<Mutex<Vec<u8>>>);

    impl Write for SmallDisk {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            let mut there = self.1.lock();
            let fits = octets.len().min(self.0 - there.len());
            there.extend(&octets[..fits]);
            if fits == 0 { Err(Error::from_raw_os_error(28)) } else { Ok(fits) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Disk for SmallDisk {
        fn truncate(&mut self, octets: u64) -> io::Result<()> {
            self.1.lock().truncate(usize::try_from(octets).unwrap());
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_leaves_whole_records_and_a_count_of_missing_frames() {
        let record = pcap::RECORD_HEADER_OCTETS + 1514;
        let disk = SmallDisk(200_000, Arc::default());
        let mut recorder = Recorder::begin("frames.pcap", disk.clone()).unwrap();
        for _ in 0..1000 {
            recorder.record(os::monotonic(), &[7; 1514]);
        }
        assert_eq!(recorder.end().unwrap_err().kind(), ErrorKind::StorageFull);
        let (written, lacking) = recorder.counts();
        assert_eq!(written + lacking, 1000);
        let octets = disk.1.lock();
        assert_eq!(
            octets.len(),
            pcap::FILE_HEADER_OCTETS + usize::try_from(written).unwrap() * record
        );
        assert!(written > 80 && lacking > 800, "{written} {lacking}");
    }

    #[test]
    fn a_disk_full_from_the_start_records_no_frame() {
        let mut recorder = Recorder::begin("frames.pcap", SmallDisk(0, Arc::default())).unwrap();
        recorder.record(os::monotonic(), &[7; 60]);
        assert_eq!(recorder.counts(), (1, 0));
        assert!(recorder.end().is_err());
        assert_eq!(recorder.counts(), (0, 1));
        // Later frames are dropped.
        recorder.record(os::monotonic(), &[7; 60]);
        recorder.tick(os::monotonic().plus_nanos(HAND_ON_NS));
        assert_eq!(recorder.counts(), (0, 2));
    }

    /// A writer that blocks until the other end of the channel is dropped.
    struct SlowDisk(Receiver<()>, SmallDisk);

    impl Write for SlowDisk {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            self.1.write(octets)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Disk for SlowDisk {
        fn truncate(&mut self, octets: u64) -> io::Result<()> {
            self.1.truncate(octets)
        }
    }

    #[test]
    fn frames_dropped_by_a_slow_disk_are_counted() {
        let (wait, waiting) = sync_channel(0);
        let disk = SmallDisk(64 << 20, Arc::default());
        let slow = SlowDisk(waiting, disk.clone());
        let mut recorder = Recorder::begin("frames.pcap", slow).unwrap();
        for _ in 0..20_000 {
            recorder.record(os::monotonic(), &[7; 1514]);
        }
        drop(wait);
        recorder.end().unwrap();
        let (written, lacking) = recorder.counts();
        assert_eq!(written + lacking, 20_000);
        assert!(lacking > 1000, "{lacking}");
        let record = pcap::RECORD_HEADER_OCTETS + 1514;
        let octets = disk.1.lock().len();
        assert_eq!(octets, pcap::FILE_HEADER_OCTETS + usize::try_from(written).unwrap() * record);
    }

    #[test]
    fn a_recording_is_complete_and_replaces_no_file() {
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
        let again = Recorder::create(path).map_err(|error| error.kind());
        assert_eq!(again.err(), Some(ErrorKind::AlreadyExists));
    }
}
