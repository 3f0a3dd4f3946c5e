//! The frames of this host's station, recorded into a file for as long as the engine lasts.

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
        // A disk that is full shows as frames left out.
        let _ = self.end();
    }
}

/// The place of a link. Where its frames are to be recorded, begin to.
///
/// # Errors
/// The place is none, or the file is there already or cannot be made.
pub fn begin(link: &LinkPlace) -> Result<RawLinkPlace, Failure> {
    let LinkPlace::Recorded { descriptor, pcap } = link else { return place_of(link) };
    let place = place_of(&LinkPlace::Descriptor(*descriptor))?;
    if !wired::is_recorded(&place) {
        wired::record(place.clone(), Recorder::create(pcap)?);
    }
    Ok(place)
}

/// The same of a link that may be absent.
///
/// # Errors
/// As [`begin`].
pub fn begin_any(link: Option<&LinkPlace>) -> Result<(), Failure> {
    link.map_or(Ok(()), |link| begin(link).map(drop))
}
