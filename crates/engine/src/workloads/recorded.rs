//! Recording of this host's station for the life of the engine.

use lanlab_clients::wired::{self, FrameSink};
use lanlab_files::LinkPlace;
use lanlab_os::RawLinkPlace;
use lanlab_units::Instant;

use crate::listen::place_of;
use crate::medium::recorder::Recorder;
use crate::messages::Failure;

impl FrameSink for Recorder {
    fn record(&mut self, at: Instant, frame: &[u8]) {
        self.record(at, frame);
    }

    fn tick(&mut self, now: Instant) {
        self.tick(now);
    }

    fn counts(&self) -> (u64, u64) {
        self.counts()
    }

    fn end(&mut self) {
        // A full disk shows as omitted frames.
        let _ = self.end();
    }
}

/// Parse the place of a link, and start recording its frames if requested.
///
/// # Errors The place is invalid, or the file exists or cannot be created.
pub fn begin(link: &LinkPlace) -> Result<RawLinkPlace, Failure> {
    let LinkPlace::Recorded { descriptor, pcap } = link else { return place_of(link) };
    let place = place_of(&LinkPlace::Descriptor(*descriptor))?;
    if !wired::is_recorded(&place) {
        wired::record(place.clone(), Recorder::create(pcap)?);
    }
    Ok(place)
}

/// Start recording on a link, if there is one.
pub fn begin_any(link: Option<&LinkPlace>) -> Result<(), Failure> {
    link.map_or(Ok(()), |link| begin(link).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(descriptor: i32, pcap: &str) -> LinkPlace {
        LinkPlace::Recorded { descriptor, pcap: pcap.to_owned() }
    }

    #[test]
    fn a_recorder_takes_the_frames_of_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frames.pcap");
        let path = path.to_str().unwrap();
        let length = || std::fs::metadata(path).unwrap().len();
        let mut recorder = Recorder::create(path).unwrap();
        let sink: &mut dyn FrameSink = &mut recorder;
        assert_eq!(sink.counts(), (0, 0));
        let at = Instant::from_nanos(u64::MAX / 4);
        for _ in 0..3 {
            sink.record(at, &[7; 60]);
        }
        assert_eq!(sink.counts(), (3, 0));
        // The queued piece is now old enough to be written.
        sink.tick(at);
        let until = lanlab_os::monotonic().plus_nanos(20_000_000_000);
        while length() < 24 + 3 * (16 + 60) && lanlab_os::monotonic() < until {
            std::thread::yield_now();
        }
        assert_eq!(length(), 24 + 3 * (16 + 60));
        sink.record(at, &[8; 100]);
        sink.end();
        assert_eq!((sink.counts(), length()), ((4, 0), 24 + 3 * (16 + 60) + 16 + 100));
    }

    #[test]
    fn links_are_recorded_once_and_only_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (first, second) = (path("first.pcap"), path("second.pcap"));
        let place = RawLinkPlace::Descriptor(1_000_001);
        assert!(!wired::is_recorded(&place));
        assert_eq!(begin(&recorded(1_000_001, &first)), Ok(place.clone()));
        assert!(wired::is_recorded(&place));
        // An engine's second request names the same file again.
        assert_eq!(begin(&recorded(1_000_001, &first)), Ok(place));
        assert!(begin(&recorded(1_000_002, &first)).is_err(), "the file is there");
        assert_eq!(begin_any(Some(&recorded(1_000_003, &second))), Ok(()));
        assert!(wired::is_recorded(&RawLinkPlace::Descriptor(1_000_003)));
        let plain = RawLinkPlace::Descriptor(1_000_004);
        assert_eq!(begin(&LinkPlace::Descriptor(1_000_004)), Ok(plain.clone()));
        assert!(!wired::is_recorded(&plain));
        assert!(begin_any(Some(&LinkPlace::Descriptor(2))).is_err());
        assert_eq!(begin_any(None), Ok(()));
    }
}
