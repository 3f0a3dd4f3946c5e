//! Detects by a directory's times whether it is unchanged.

use std::time::{Duration, Instant, SystemTime};

use cap_std::fs::{Metadata, MetadataExt};

/// Two changes within the file system's clock resolution look like one.
const RESOLUTION: Duration = Duration::from_secs(2);

/// The change times of a directory, and when they were first seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unchanged(Option<(Stamp, Instant)>);

type Stamp = (Option<SystemTime>, i64, i64);

impl Unchanged {
    /// Whether the directory was unchanged for longer than the resolution. Names read now are then
    /// current as long as this holds.
    pub fn check(&mut self, metadata: &Metadata, now: Instant) -> bool {
        let stamp = stamp(metadata);
        match self.0 {
            Some((seen, since)) if seen == stamp => now.duration_since(since) > RESOLUTION,
            _ => {
                self.0 = Some((stamp, now));
                false
            }
        }
    }
}

fn stamp(metadata: &Metadata) -> Stamp {
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    (modified, metadata.ctime(), metadata.ctime_nsec())
}
