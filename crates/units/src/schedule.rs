//! A queue of steps ordered by time, then rank, then insertion.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

#[derive(Debug)]
pub struct Schedule<At, Step> {
    heap: BinaryHeap<Entry<At, Step>>,
    next_number: u64,
}

#[derive(Debug)]
struct Entry<At, Step> {
    at: At,
    rank: u8,
    number: u64,
    step: Step,
}

impl<At: Ord + Copy, Step> Schedule<At, Step> {
    pub fn new() -> Self {
        Self { heap: BinaryHeap::new(), next_number: 0 }
    }

    pub fn add(&mut self, at: At, step: Step) {
        self.add_ranked(at, 0, step);
    }

    pub fn add_ranked(&mut self, at: At, rank: u8, step: Step) {
        self.heap.push(Entry { at, rank, number: self.next_number, step });
        self.next_number += 1;
    }

    pub fn next_at(&self) -> Option<At> {
        self.heap.peek().map(|entry| entry.at)
    }

    pub fn next_step(&self) -> Option<&Step> {
        self.heap.peek().map(|entry| &entry.step)
    }

    pub fn pop(&mut self) -> Option<(At, Step)> {
        self.heap.pop().map(|entry| (entry.at, entry.step))
    }

    pub fn pop_due(&mut self, now: At) -> Option<(At, Step)> {
        self.next_at().filter(|at| *at <= now).and_then(|_| self.pop())
    }
}

impl<At: Ord + Copy, Step> Default for Schedule<At, Step> {
    fn default() -> Self {
        Self::new()
    }
}

impl<At: Ord, Step> Ord for Entry<At, Step> {
    fn cmp(&self, other: &Self) -> Ordering {
        (&other.at, other.rank, other.number).cmp(&(&self.at, self.rank, self.number))
    }
}

impl<At: Ord, Step> PartialOrd for Entry<At, Step> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<At: Ord, Step> PartialEq for Entry<At, Step> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<At: Ord, Step> Eq for Entry<At, Step> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_ordered_by_time_rank_and_insertion() {
        let mut schedule = Schedule::new();
        let later = ('d'..='m').map(|step| (5, 1, step));
        for (at, rank, step) in [(5, 1, 'c'), (3, 1, 'b'), (3, 0, 'a')].into_iter().chain(later) {
            schedule.add_ranked(at, rank, step);
        }
        assert_eq!((schedule.next_at(), schedule.next_step()), (Some(3), Some(&'a')));
        assert_eq!((schedule.pop_due(2), schedule.pop_due(3)), (None, Some((3, 'a'))));
        let steps: String = std::iter::from_fn(|| schedule.pop()).map(|(_, step)| step).collect();
        assert_eq!(steps, "bcdefghijklm");
    }
}
