//! State shared by a node's thread and sessions.

use lanlab_units::Instant;

use super::frame_link::Driven;
use super::state::State;
use crate::link_thread;

pub type Shared = link_thread::Shared<State>;

impl Driven for Shared {
    fn drive(&self) {
        while self.state().drive() {}
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.state().node.poll_timeout()
    }
}
