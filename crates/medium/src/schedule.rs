//! A queue of steps ordered by time, then rank, then insertion.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::bit_time::Exact;

#[derive(Debug)]
pub(crate) struct Schedule<Step> {
    heap: BinaryHeap<Entry<Step>>,
    next_number: u64,
}

#[derive(Debug)]
struct Entry<Step> {
    at: Exact,
    rank: u8,
    number: u64,
    step: Step,
}

impl<Step> Schedule<Step> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), next_number: 0 }
    }

    pub(crate) fn add(&mut self, at: Exact, step: Step) {
        self.add_ranked(at, 0, step);
    }

    pub(crate) fn add_ranked(&mut self, at: Exact, rank: u8, step: Step) {
        self.heap.push(Entry { at, rank, number: self.next_number, step });
        self.next_number += 1;
    }

    pub(crate) fn next_at(&self) -> Option<Exact> {
        self.heap.peek().map(|entry| entry.at)
    }

    pub(crate) fn next_step(&self) -> Option<&Step> {
        self.heap.peek().map(|entry| &entry.step)
    }

    pub(crate) fn pop(&mut self) -> Option<(Exact, Step)> {
        self.heap.pop().map(|entry| (entry.at, entry.step))
    }
}

impl<Step> Ord for Entry<Step> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.rank, other.number).cmp(&(self.at, self.rank, self.number))
    }
}

impl<Step> PartialOrd for Entry<Step> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<Step> PartialEq for Entry<Step> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<Step> Eq for Entry<Step> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_ordered_by_time_rank_and_insertion() {
        let mut schedule = Schedule::new();
        let later = ('d'..='m').map(|step| (5, 1, step));
        for (at, rank, step) in [(5, 1, 'c'), (3, 1, 'b'), (3, 0, 'a')].into_iter().chain(later) {
            schedule.add_ranked(Exact::from_nanos(at), rank, step);
        }
        assert_eq!(schedule.next_at(), Some(Exact::from_nanos(3)));
        let steps: String = std::iter::from_fn(|| schedule.pop()).map(|(_, step)| step).collect();
        assert_eq!(steps, "abcdefghijklm");
    }
}
