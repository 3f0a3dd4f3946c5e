//! Recording of a link's frames into a file, in both directions.

use std::collections::BTreeMap;
use std::sync::Arc;

use lanlab_os::RawLinkPlace;
use parking_lot::Mutex;

use crate::Recorder;

pub type Sink = Arc<Mutex<Recorder>>;

static SINKS: Mutex<BTreeMap<RawLinkPlace, Sink>> = Mutex::new(BTreeMap::new());

/// Record the frames of a place, for nodes that start later.
pub fn record(place: RawLinkPlace, recorder: Recorder) {
    SINKS.lock().insert(place, Arc::new(Mutex::new(recorder)));
}

pub fn is_recorded(place: &RawLinkPlace) -> bool {
    SINKS.lock().contains_key(place)
}

pub fn end_recordings() {
    let sinks = std::mem::take(&mut *SINKS.lock());
    for sink in sinks.into_values() {
        // A full disk shows as omitted frames.
        let _ = sink.lock().end();
    }
}

pub(super) fn sink_of(place: &RawLinkPlace) -> Option<Sink> {
    SINKS.lock().get(place).cloned()
}
