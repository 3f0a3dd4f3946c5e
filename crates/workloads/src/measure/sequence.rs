//! Classification of sequence numbers: new, duplicate or reordered.

const WINDOW: u64 = 65_536;
const WORDS: usize = (WINDOW / 64) as usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    InOrder,
    /// First arrival, but after a message sent later (RFC 4737, section 3.3).
    Reordered,
    Duplicate,
    /// Too far behind the newest number to tell whether it is a duplicate.
    Stale,
}

/// A bit for each of the newest 65,536 sequence numbers.
#[derive(Debug)]
pub struct SequenceWindow {
    bits: Box<[u64; WORDS]>,
    pub next: u64,
}

impl Default for SequenceWindow {
    fn default() -> Self {
        Self { bits: Box::new([0; WORDS]), next: 0 }
    }
}

impl SequenceWindow {
    pub fn observe(&mut self, sequence: u64) -> Seen {
        if sequence >= self.next {
            self.advance(sequence);
            self.set(sequence);
            return Seen::InOrder;
        }
        if self.next - sequence > WINDOW {
            return Seen::Stale;
        }
        if self.is_set(sequence) {
            return Seen::Duplicate;
        }
        self.set(sequence);
        Seen::Reordered
    }

    /// Record `count` consecutive numbers from `first` on, all newer than any before.
    pub fn observe_run(&mut self, first: u64, count: u64) {
        debug_assert!(first >= self.next, "{first} is not newer than {}", self.next);
        self.advance(first + count - 1);
        // Only the end of a run longer than the window is kept.
        for sequence in first.max(self.next.saturating_sub(WINDOW))..first + count {
            self.set(sequence);
        }
    }

    /// Number of arrivals from `first` on; `None` if `first` is outside the window.
    pub fn arrived_since(&self, first: u64) -> Option<u64> {
        if first >= self.next {
            return Some(0);
        }
        (self.next - first <= WINDOW)
            .then(|| (first..self.next).filter(|sequence| self.is_set(*sequence)).count() as u64)
    }

    fn advance(&mut self, newest: u64) {
        let entering = newest - self.next + 1;
        if entering >= WINDOW {
            self.bits.fill(0);
        } else {
            for sequence in self.next..=newest {
                let (word, bit) = Self::place(sequence);
                self.bits[word] &= !bit;
            }
        }
        self.next = newest + 1;
    }

    fn place(sequence: u64) -> (usize, u64) {
        let index = sequence % WINDOW;
        ((index / 64) as usize, 1 << (index % 64))
    }

    fn set(&mut self, sequence: u64) {
        let (word, bit) = Self::place(sequence);
        self.bits[word] |= bit;
    }

    fn is_set(&self, sequence: u64) -> bool {
        let (word, bit) = Self::place(sequence);
        self.bits[word] & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn arrivals_are_distinguished() {
        let mut window = SequenceWindow::default();
        assert_eq!(window.observe(0), Seen::InOrder);
        assert_eq!(window.observe(3), Seen::InOrder);
        assert_eq!(window.observe(1), Seen::Reordered);
        assert_eq!(window.observe(1), Seen::Duplicate);
        assert_eq!(window.observe(3), Seen::Duplicate);
        assert_eq!(window.observe(100_000), Seen::InOrder);
        assert_eq!(window.observe(2), Seen::Stale);
        assert_eq!(window.observe(99_999), Seen::Reordered);
    }

    #[test]
    fn a_jump_past_the_window_clears_it() {
        let mut window = SequenceWindow::default();
        for sequence in 0..WINDOW {
            window.observe(sequence);
        }
        assert_eq!(window.observe(3 * WINDOW), Seen::InOrder);
        assert_eq!(window.arrived_since(2 * WINDOW + 1), Some(1));
        assert_eq!(window.arrived_since(2 * WINDOW), None);
    }

    #[test]
    fn a_run_equals_single_arrivals() {
        let (mut by_run, mut by_one) = (SequenceWindow::default(), SequenceWindow::default());
        for (first, count) in [(0, 5), (7, 64), (200, 1), (70_000, 66_000), (140_000, 3)] {
            by_run.observe_run(first, count);
            for sequence in first..first + count {
                assert_eq!(by_one.observe(sequence), Seen::InOrder);
            }
            assert_eq!(by_run.next, by_one.next);
            assert_eq!(by_run.bits, by_one.bits);
        }
    }

    proptest! {
        /// Compared with a set that never forgets.
        #[test]
        fn the_window_agrees_with_a_set(steps in prop::collection::vec((0_u64..200, any::<bool>()), 1..300)) {
            let (mut window, mut set, mut newest) = (SequenceWindow::default(), BTreeSet::new(), 0_u64);
            for (step, forward) in steps {
                let sequence = if forward { newest + step } else { newest.saturating_sub(step) };
                let expected = match (set.insert(sequence), sequence >= newest || set.len() == 1) {
                    (false, _) => Seen::Duplicate,
                    (true, true) => Seen::InOrder,
                    (true, false) => Seen::Reordered,
                };
                newest = newest.max(sequence);
                prop_assert_eq!(window.observe(sequence), expected);
            }
            let half = newest / 2;
            let counted = set.iter().filter(|sequence| **sequence >= half).count() as u64;
            prop_assert_eq!(window.arrived_since(half), Some(counted));
        }
    }
}
