//! Path MTU discovery in both directions with unfragmented datagrams. Each round sends several
//! sizes between the largest that arrived and the smallest that did not, and last a size known to
//! pass: until it is answered, a host may be paused, and missing answers prove nothing.
//!
//! # Driving it
//!
//! Send what `poll_send` returns until it returns `None`, then wait for an answer or for `poll_timeout`; repeat
//! until `is_done`.

use std::collections::VecDeque;

use lanlab_units::Instant;

const AT_ONCE: u32 = 12;
/// Shortest, longest and initial time that a round waits for answers.
const LEAST_WAIT_NS: u64 = 20_000_000;
const MOST_WAIT_NS: u64 = 100_000_000;
const FIRST_WAIT_NS: u64 = 140_000_000;
/// A path without any answer is given up after two rounds.
const SILENT_NS: u64 = 2 * FIRST_WAIT_NS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    /// The largest packet that arrived; 0: none.
    passed: u32,
    failed: u32,
}

impl Way {
    fn pass(&mut self, size: u32) {
        self.passed = self.passed.max(size);
        // A size that passes cannot be too long; the earlier answer was lost.
        self.failed = self.failed.max(self.passed + 1);
    }

    fn between(self) -> impl Iterator<Item = u32> {
        let gaps = (self.failed - self.passed - 1).min(AT_ONCE) + 1;
        (1..gaps).map(move |gap| self.passed + gap * (self.failed - self.passed) / gaps)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub least: u32,
    pub most: u32,
}

#[derive(Debug)]
pub struct PathSearch {
    there: Way,
    back: Way,
    tried: Vec<u32>,
    queue: VecDeque<u32>,
    /// A size known to pass, sent last and only in this round, and whether it was answered.
    control: u32,
    is_answered: bool,
    began: Instant,
    again_at: Option<Instant>,
    round_ends: Instant,
    silent_at: Instant,
    deadline: Instant,
    round_trip_ns: Option<u64>,
}

impl PathSearch {
    /// Find the largest packet of at most `most` bytes. `floor` passes on every path (RFC 791, section 3.2; RFC
    /// 8200, section 5).
    pub fn new(floor: u32, most: u32, now: Instant, within_ns: u64) -> Self {
        let unknown = Way { passed: 0, failed: most + 1 };
        let mut search = Self {
            there: unknown,
            back: unknown,
            tried: Vec::new(),
            queue: VecDeque::new(),
            control: floor.min(most) + 1,
            is_answered: false,
            began: now,
            again_at: None,
            round_ends: now,
            silent_at: now.plus_nanos(SILENT_NS),
            deadline: now.plus_nanos(within_ns),
            round_trip_ns: None,
        };
        search.begin_round(vec![most], now);
        search
    }

    fn begin_round(&mut self, mut sizes: Vec<u32>, now: Instant) {
        sizes.sort_unstable();
        sizes.dedup();
        let wait_ns = self.round_trip_ns.map_or(FIRST_WAIT_NS, |round_trip_ns| {
            round_trip_ns.saturating_mul(4).clamp(LEAST_WAIT_NS, MOST_WAIT_NS)
        });
        self.began = now;
        self.again_at = Some(now.plus_nanos(wait_ns / 2));
        self.round_ends = now.plus_nanos(wait_ns);
        // A unique size, so that a late answer of an earlier round is not mistaken for this one.
        self.control -= 1;
        self.is_answered = false;
        self.tried = sizes;
        self.enqueue();
    }

    fn enqueue(&mut self) {
        self.queue = self.tried.iter().copied().chain([self.control]).collect();
    }

    pub fn poll_send(&mut self) -> Option<u32> {
        self.queue.pop_front()
    }

    pub fn handle_seen(&mut self, size: u32, now: Instant) {
        self.is_answered |= size == self.control;
        if size == self.control || self.tried.contains(&size) {
            self.there.pass(size);
            let round_trip_ns = now.nanos_since(self.began);
            self.round_trip_ns =
                Some(self.round_trip_ns.map_or(round_trip_ns, |least| least.min(round_trip_ns)));
        }
    }

    pub fn handle_whole(&mut self, size: u32, now: Instant) {
        self.handle_seen(size, now);
        if size == self.control || self.tried.contains(&size) {
            self.back.pass(size);
        }
    }

    pub fn poll_timeout(&self) -> Instant {
        self.again_at.unwrap_or(self.round_ends).min(self.deadline)
    }

    /// Advance the clock, or continue after an answer. Spurious calls do nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        let largest = self.tried.last().copied().unwrap_or(0);
        let all_came = self.there.passed >= largest && self.back.passed >= largest;
        if all_came || now >= self.round_ends {
            self.end_round(now);
        } else if self.again_at.is_some_and(|at| now >= at) {
            self.again_at = None;
            self.enqueue();
        }
    }

    fn end_round(&mut self, now: Instant) {
        let largest = self.tried.last().copied().unwrap_or(0);
        if !self.is_answered && self.there.passed.min(self.back.passed) < largest {
            return self.begin_round(self.tried.clone(), now);
        }
        for size in &self.tried {
            if *size > self.there.passed {
                self.there.failed = self.there.failed.min(*size);
            } else if *size > self.back.passed {
                self.back.failed = self.back.failed.min(*size);
            }
        }
        // Only sizes that reach the other end can return.
        let mut back = self.back;
        back.failed = back.failed.min(self.there.passed + 1).max(back.passed + 1);
        let sizes: Vec<u32> = self.there.between().chain(back.between()).collect();
        if sizes.is_empty() {
            self.tried.clear();
        } else {
            self.begin_round(sizes, now);
        }
    }

    pub fn is_done(&self, now: Instant) -> bool {
        let is_silent = self.there.passed == 0 && now >= self.silent_at;
        self.tried.is_empty() || is_silent || now >= self.deadline
    }

    /// Bounds of both directions; `None` if nothing came back. The way back is tested only up to
    /// the size that passes on the way there.
    pub fn found(&self) -> Option<(Bounds, Bounds)> {
        let bounds = |way: Way| Bounds { least: way.passed, most: way.failed - 1 };
        (self.there.passed > 0).then(|| (bounds(self.there), bounds(self.back)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path with these sizes and this round trip; it loses one packet of `lost`.
    fn found(
        there: u32,
        back: u32,
        round_trip_ms: u64,
        lost: usize,
    ) -> (Option<(Bounds, Bounds)>, u64) {
        const WITHIN_NS: u64 = 1_000_000_000;
        let at = |nanos| Instant::ZERO.plus_nanos(nanos);
        let mut now = at(1_000);
        let began = now;
        let mut search = PathSearch::new(576, 1500, now, WITHIN_NS);
        let mut answers: Vec<(Instant, u32, bool)> = Vec::new();
        let mut sent = 0;
        while !search.is_done(now) {
            while let Some(size) = search.poll_send() {
                sent += 1;
                let is_lost = lost > 0 && sent % lost == 0;
                if size <= there && !is_lost {
                    let due = now.plus_nanos(round_trip_ms * 1_000_000 + 1_000);
                    answers.push((due, size, false));
                    if size <= back {
                        answers.push((due, size, true));
                    }
                }
            }
            let next = answers.iter().map(|answer| answer.0).min();
            now =
                next.map_or(search.poll_timeout(), |next| next.min(search.poll_timeout())).max(now);
            answers.retain(|(due, size, is_whole)| {
                let is_due = *due <= now;
                if is_due && *is_whole {
                    search.handle_whole(*size, now);
                } else if is_due {
                    search.handle_seen(*size, now);
                }
                !is_due
            });
            search.handle_timeout(now);
        }
        (search.found(), now.nanos_since(began) / 1_000_000)
    }

    fn exactly(size: u32) -> Bounds {
        Bounds { least: size, most: size }
    }

    fn at_ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn sent(search: &mut PathSearch) -> Vec<u32> {
        std::iter::from_fn(|| search.poll_send()).collect()
    }

    #[test]
    fn a_round_is_sent_twice_and_its_length_follows_the_round_trip() {
        let mut search = PathSearch::new(576, 1500, at_ms(0), 2_000_000_000);
        assert_eq!(sent(&mut search), [1500, 576]);
        assert_eq!(search.poll_timeout(), at_ms(70));
        search.handle_timeout(at_ms(69));
        assert_eq!(sent(&mut search), [0_u32; 0]);
        search.handle_timeout(at_ms(70));
        assert_eq!((sent(&mut search), search.poll_timeout()), (vec![1500, 576], at_ms(140)));
        // Without an answer, the same size is resent. An answer to an unsent size does not count.
        search.handle_seen(1000, at_ms(75));
        search.handle_whole(1000, at_ms(75));
        search.handle_timeout(at_ms(140));
        assert_eq!((sent(&mut search), search.found()), (vec![1500, 575], None));
        // The round trip is the shorter of 10 and 12 ms.
        search.handle_seen(576, at_ms(145));
        search.handle_seen(575, at_ms(150));
        search.handle_whole(575, at_ms(152));
        search.handle_timeout(at_ms(152));
        assert_eq!(sent(&mut search), [0_u32; 0], "1500 may still come");
        search.handle_timeout(at_ms(280));
        // Twelve sizes, evenly spaced between 575 and 1500; no larger one can return.
        let sizes = [646, 717, 788, 859, 930, 1001, 1073, 1144, 1215, 1286, 1357, 1428, 574];
        assert_eq!(sent(&mut search), sizes);
        assert_eq!(search.poll_timeout(), at_ms(300));
        let bounds = |least, most| Bounds { least, most };
        assert_eq!(search.found(), Some((bounds(575, 1499), bounds(575, 1500))));
        search.handle_whole(1001, at_ms(290));
        search.handle_whole(574, at_ms(291));
        search.handle_timeout(at_ms(320));
        assert_eq!(search.found(), Some((bounds(1001, 1072), bounds(1001, 1500))));
        assert!(!search.is_done(at_ms(1_999)) && search.is_done(at_ms(2_000)));
    }

    #[test]
    fn a_round_takes_20_to_100_ms_once_the_round_trip_is_known() {
        for (round_trip_ms, half_ms) in [(1, 10), (5, 10), (6, 12), (25, 50), (60, 50)] {
            let mut search = PathSearch::new(576, 1500, at_ms(0), 2_000_000_000);
            search.handle_whole(576, at_ms(round_trip_ms));
            search.handle_timeout(at_ms(140));
            assert_eq!(search.poll_timeout(), at_ms(140 + half_ms), "{round_trip_ms} ms");
        }
        // If all arrived, the next round begins at once.
        let mut search = PathSearch::new(576, 1500, at_ms(0), 2_000_000_000);
        search.handle_seen(1500, at_ms(10));
        search.handle_whole(576, at_ms(10));
        assert!(!search.is_done(at_ms(10)));
        search.handle_timeout(at_ms(10));
        assert_eq!(search.poll_timeout(), at_ms(70), "1500 may still come back");
    }

    #[test]
    fn missing_answers_of_a_paused_host_prove_nothing_of_the_return_path() {
        let mut search = PathSearch::new(576, 1500, at_ms(0), 2_000_000_000);
        search.handle_seen(1500, at_ms(1));
        search.handle_whole(576, at_ms(1));
        search.handle_timeout(at_ms(140));
        let sizes = sent(&mut search);
        search.handle_timeout(at_ms(160));
        assert_eq!(search.found(), Some((exactly(1500), Bounds { least: 576, most: 1499 })));
        // The same sizes again, with another control.
        let (control, again) = (sizes.len() - 1, sent(&mut search));
        assert_eq!((&again[..control], again[control]), (&sizes[..control], sizes[control] - 1));
    }

    #[test]
    fn an_unrestricted_path_is_found_in_one_round_trip() {
        assert_eq!(found(1500, 1500, 1, 0), (Some((exactly(1500), exactly(1500))), 1));
        assert_eq!(found(9000, 9000, 100, 0), (Some((exactly(1500), exactly(1500))), 100));
    }

    #[test]
    fn every_smaller_path_is_found_to_the_byte() {
        for size in 576..1500 {
            let (sizes, took_ms) = found(size, 1500, 1, 0);
            // Longer packets are lost on the way there.
            assert_eq!(sizes, Some((exactly(size), Bounds { least: size, most: 1500 })));
            assert!(took_ms <= 300, "{size}: {took_ms} ms");
        }
    }

    #[test]
    fn the_return_path_may_have_a_smaller_mtu() {
        for size in [576, 1000, 1279, 1280, 1400, 1491] {
            assert_eq!(found(1500, size, 1, 0).0, Some((exactly(1500), exactly(size))));
            let (sizes, took_ms) = found(1492, size, 1, 0);
            assert_eq!(sizes, Some((exactly(1492), exactly(size))));
            assert!(took_ms <= 300, "{size}: {took_ms} ms");
        }
    }

    #[test]
    fn lost_packets_are_resent() {
        for size in [1400, 1492, 1500] {
            let back = Bounds { least: size, most: 1500 };
            assert_eq!(found(size, size, 1, 7).0, Some((exactly(size), back)));
        }
    }

    #[test]
    fn long_paths_report_bounds_in_time() {
        let back = Bounds { least: 1400, most: 1500 };
        assert_eq!(found(1400, 1400, 80, 0).0, Some((exactly(1400), back)));
        // At 130 ms an answer comes after its round: nothing is exact by the time limit.
        let (sizes, took_ms) = found(1400, 1400, 130, 0);
        let (there, back) = sizes.unwrap();
        assert!(there.least <= 1400 && 1400 <= there.most && there.most < 1500, "{there:?}");
        assert!(back.least <= 1400 && 1400 <= back.most, "{back:?}");
        assert_eq!(took_ms, 1_000);
    }

    #[test]
    fn a_paused_host_does_not_rule_out_a_size() {
        let bounds = |least, most| Bounds { least, most };
        let mut search = PathSearch::new(576, 1500, at_ms(0), 2_000_000_000);
        search.handle_whole(576, at_ms(1));
        search.handle_timeout(at_ms(140));
        let found = search.found();
        assert_eq!(found, Some((bounds(576, 1499), bounds(576, 1500))));
        let round = sent(&mut search);
        // Nothing arrives in this round or the next, so both sizes are resent.
        for ms in [160, 180] {
            search.handle_timeout(at_ms(ms));
            assert_eq!(search.found(), found);
            assert_eq!(sent(&mut search)[..12], round[..12]);
        }
        // The first answer is late: the last one of this round is still missing.
        for size in &round {
            search.handle_whole(*size, at_ms(199));
        }
        search.handle_timeout(at_ms(200));
        assert_eq!(search.found(), Some((bounds(1428, 1499), bounds(1428, 1500))));
    }

    #[test]
    fn nothing_is_found_if_nobody_answers() {
        assert_eq!(found(0, 0, 1, 0), (None, 280));
    }
}
