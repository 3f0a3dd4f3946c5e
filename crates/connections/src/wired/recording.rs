//! Recording of a link's frames into a file, in both directions.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use lanlab_os::RawLinkPlace;
use lanlab_units::Instant;

/// Records the frames that a node receives and sends.
pub trait FrameSink: Debug + Send {
    /// Record a frame, without blocking.
    fn record(&mut self, at: Instant, frame: &[u8]);

    /// Do due work. Called at least once a second.
    fn tick(&mut self, now: Instant);

    /// Number of recorded frames, and of omitted ones.
    fn counts(&self) -> (u64, u64);

    /// Write everything to the file.
    fn end(&mut self);
}

pub type Sink = Arc<Mutex<dyn FrameSink>>;

static SINKS: Mutex<BTreeMap<RawLinkPlace, Sink>> = Mutex::new(BTreeMap::new());

/// Record the frames of a place, for nodes that start later.
pub fn record(place: RawLinkPlace, sink: impl FrameSink + 'static) {
    let mut sinks = SINKS.lock().unwrap_or_else(PoisonError::into_inner);
    sinks.insert(place, Arc::new(Mutex::new(sink)));
}

pub fn is_recorded(place: &RawLinkPlace) -> bool {
    SINKS.lock().unwrap_or_else(PoisonError::into_inner).contains_key(place)
}

pub fn end_recordings() {
    let sinks = std::mem::take(&mut *SINKS.lock().unwrap_or_else(PoisonError::into_inner));
    for sink in sinks.into_values() {
        sink.lock().unwrap_or_else(PoisonError::into_inner).end();
    }
}

pub(super) fn sink_of(place: &RawLinkPlace) -> Option<Sink> {
    SINKS.lock().unwrap_or_else(PoisonError::into_inner).get(place).cloned()
}
