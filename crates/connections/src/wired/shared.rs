//! What the thread of a link and the sessions on it share.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lanlab_os::Wake;
use lanlab_units::Instant;

use super::frame_link::Driven;
use super::state::State;

/// The node, and what wakes its thread.
#[derive(Debug)]
pub struct Shared {
    pub state: Mutex<State>,
    /// Wakes the thread.
    pub wake: Wake,
    pub is_over: AtomicBool,
}

impl Shared {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Do something with the node, send what comes of it, and see that the thread wakes in time.
    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        let done = work(&mut state);
        state.flush();
        let is_earlier = state.poll_timeout().is_some_and(|at| at < state.sleeps_until);
        drop(state);
        if is_earlier {
            self.wake.wake();
        }
        done
    }
}

impl Driven for Shared {
    fn drive(&self) {
        while self.state().drive() {}
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.state().node.poll_timeout()
    }
}
