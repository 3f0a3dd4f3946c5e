//! Recording of this host's station for the life of the engine.

use lanlab_clients::wired;
use lanlab_files::LinkPlace;
use lanlab_os::RawLinkPlace;

use crate::listen::place_of;
use crate::messages::Failure;
use crate::recording;

/// Parse the place of a link, and start recording its frames if requested.
pub fn begin(link: &LinkPlace) -> Result<RawLinkPlace, Failure> {
    let LinkPlace::Recorded { descriptor, pcap } = link else { return place_of(link) };
    let place = place_of(&LinkPlace::Descriptor(*descriptor))?;
    if !wired::is_recorded(&place) {
        wired::record(place.clone(), recording::create(pcap)?);
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
