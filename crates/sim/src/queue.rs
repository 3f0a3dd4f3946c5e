//! What is to happen to hosts, by time; of two at the same time the one that was added first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lanlab_units::Instant;

use crate::address::HostId;

/// What happens to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Its processor ends the job of this turn.
    CpuEnds { turn: u32 },
    /// Its node wanted to be called at this time.
    NodeTimeout,
    /// Its adapter can send the next frame.
    AdapterReady,
}

#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Entry>,
    next_number: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    at: Instant,
    number: u64,
    host: HostId,
    what: What,
}

impl EventQueue {
    pub(crate) fn add(&mut self, at: Instant, host: HostId, what: What) {
        self.heap.push(Entry { at, number: self.next_number, host, what });
        self.next_number += 1;
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|entry| entry.at)
    }

    pub(crate) fn pop(&mut self) -> Option<(Instant, HostId, What)> {
        self.heap.pop().map(|entry| (entry.at, entry.host, entry.what))
    }
}

/// The earlier is the greater: a `BinaryHeap` gives the greatest first.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Entry {}
