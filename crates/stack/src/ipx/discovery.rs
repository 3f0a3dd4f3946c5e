//! Servers and routes learned from others, for a client looking for one.

use std::collections::VecDeque;

use lanlab_wire::sap;

use super::output::Place;

const MOST: usize = 64;

#[derive(Debug)]
pub(crate) enum Found {
    Server { server: sap::Server, from: Place, is_nearest: bool },
    Route(u32, Place),
}

#[derive(Debug, Default)]
pub(crate) struct Discovery {
    pub(crate) is_wanted: bool,
    found: VecDeque<Found>,
}

impl Discovery {
    pub(super) fn add(&mut self, found: Found) {
        if self.is_wanted && self.found.len() < MOST {
            self.found.push_back(found);
        }
    }

    pub(crate) fn poll(&mut self) -> Option<Found> {
        self.found.pop_front()
    }
}
