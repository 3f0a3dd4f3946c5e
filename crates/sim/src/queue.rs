//! Future events of hosts in order of time, or of insertion at equal times.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lanlab_units::Instant;

use crate::address::HostId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    CpuEnds { turn: u32 },
    NodeTimeout,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_ordered_by_time_then_insertion() {
        let mut queue = EventQueue::default();
        let times = [5, 3, 5, 5, 3, 5, 5, 5, 3];
        for (host, at) in (0..).zip(times) {
            queue.add(Instant::from_nanos(at), host, What::AdapterReady);
        }
        assert_eq!(queue.next_at(), Some(Instant::from_nanos(3)));
        let hosts: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, host, _)| host).collect();
        assert_eq!(hosts, [1, 4, 8, 0, 2, 3, 5, 6, 7]);
    }
}
