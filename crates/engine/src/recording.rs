//! Recording of frames into a file, by the engine's own threads.

use lanlab_clients::Recorder;

use crate::messages::Failure;

/// Create a file of frames; it must not exist.
pub fn create(path: &str) -> Result<Recorder, Failure> {
    Recorder::create(path).map_err(|error| Failure::system(format!("`{path}`"), &error))
}

/// Write everything queued.
pub fn end(recorder: Option<&mut Recorder>) -> Result<(), Failure> {
    let Some(recorder) = recorder else { return Ok(()) };
    recorder.end().map_err(|error| {
        let message = format!("`{}` cannot be written: {error}", recorder.path);
        Failure::new("recording.failed", message)
            .hint("make room on the disk, or name a file on another one")
    })
}

#[cfg(test)]
mod tests {
    use lanlab_units::Instant;

    use super::*;

    #[test]
    fn a_recorder_takes_the_frames_of_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frames.pcap");
        let path = path.to_str().unwrap();
        let length = || std::fs::metadata(path).unwrap().len();
        let mut recorder = create(path).unwrap();
        assert_eq!(recorder.counts(), (0, 0));
        let at = Instant::from_nanos(u64::MAX / 4);
        for _ in 0..3 {
            recorder.record(at, &[7; 60]);
        }
        assert_eq!(recorder.counts(), (3, 0));
        // The queued piece is now old enough to be written.
        recorder.tick(at);
        let until = lanlab_os::monotonic().plus_nanos(20_000_000_000);
        while length() < 24 + 3 * (16 + 60) && lanlab_os::monotonic() < until {
            std::thread::yield_now();
        }
        assert_eq!(length(), 24 + 3 * (16 + 60));
        recorder.record(at, &[8; 100]);
        end(Some(&mut recorder)).unwrap();
        assert_eq!((recorder.counts(), length()), ((4, 0), 24 + 3 * (16 + 60) + 16 + 100));
        assert_eq!(create(path).err().map(|failure| failure.code), Some("system.call"));
    }
}
