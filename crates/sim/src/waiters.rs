//! Programs that wait for a change of their host's node.

use lanlab_workloads::virtual_time::{VirtualTime, Wake};

use crate::node::Key;

#[derive(Debug, Default)]
pub(crate) struct Waiters(Vec<(Key, Wake)>);

impl Waiters {
    /// Add a future that waits for a change of `key`, unless it waits already.
    pub(crate) fn add(&mut self, key: Key, wake: Wake) {
        if !self.0.iter().any(|(other, waiting)| *other == key && waiting.is_same(&wake)) {
            self.0.push((key, wake));
        }
    }

    /// After a change of `key`, wake the waiting futures in order of arrival.
    pub(crate) fn wake(&mut self, key: Key, time: &VirtualTime) {
        let mut place = 0;
        while place < self.0.len() {
            if self.0[place].0 == key {
                time.wake(self.0.remove(place).1);
            } else {
                place += 1;
            }
        }
    }
}
