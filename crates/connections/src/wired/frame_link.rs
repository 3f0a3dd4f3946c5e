//! Link and clock of a node.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Weak};

use lanlab_os::{self as os, RawLink, RawLinkPlace};
use lanlab_units::Instant;
use parking_lot::Mutex;

/// A link of whole Ethernet frames, with its clock.
pub trait FrameLink: Debug + Send {
    fn mac(&self) -> [u8; 6];

    fn interface(&self) -> &str;

    /// The time on the clock of this link.
    fn now(&self) -> Instant;

    /// The next frame; `None` if none has arrived.
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>>;

    /// Send a frame; `false` if the link accepts none now.
    fn send(&mut self, frame: &[u8]) -> io::Result<bool>;

    /// Frames that were dropped before they were received, since the last call.
    fn new_drops(&mut self) -> u64;
}

impl FrameLink for RawLink {
    fn mac(&self) -> [u8; 6] {
        Self::mac(self)
    }

    fn interface(&self) -> &str {
        Self::interface(self)
    }

    fn now(&self) -> Instant {
        os::monotonic()
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        Self::receive(self, into)
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        Self::send(self, frame)
    }

    fn new_drops(&mut self) -> u64 {
        Self::new_drops(self)
    }
}

/// A node at an offline link, called by the medium instead of a thread.
pub trait Driven: Debug + Send + Sync {
    /// Handle arrived frames and due work.
    fn drive(&self);

    /// When to call it next without a frame.
    fn poll_timeout(&self) -> Option<Instant>;
}

type Open = dyn Fn(Weak<dyn Driven>) -> Box<dyn FrameLink> + Send + Sync;

static OFFLINE: Mutex<BTreeMap<RawLinkPlace, Arc<Open>>> = Mutex::new(BTreeMap::new());

/// For tests: make nodes at a place use an offline link in virtual time instead of a system
/// interface. Use a name that no interface has.
pub fn provide(
    place: RawLinkPlace,
    open: impl Fn(Weak<dyn Driven>) -> Box<dyn FrameLink> + Send + Sync + 'static,
) {
    OFFLINE.lock().insert(place, Arc::new(open));
}

pub(super) fn offline(place: &RawLinkPlace) -> Option<Arc<Open>> {
    OFFLINE.lock().get(place).cloned()
}
