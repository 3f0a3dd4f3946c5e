//! Answered requests of this thread's sessions, and how long the client waited for them. Requests
//! that are sent together and answered together count once. SMB 1 and `NetWare` are not counted.

use std::cell::RefCell;
use std::time::Instant;

use hdrhistogram::Histogram;

/// An exchange that fits one segment counts as a round trip, a larger one as moving data.
const SMALL_BYTES: u64 = 1460;
const MAX_NS: u64 = 60_000_000_000;

#[derive(Debug, Clone)]
pub struct Exchanges {
    pub answered: u64,
    /// Round trips that began while no other was in progress: the client waited for them.
    pub waits: u64,
    /// Bytes of data, and the time during which at least one exchange moved data.
    pub moved_bytes: u64,
    pub moving_ns: u64,
    /// The part of `waits` that is included in `moving_ns`.
    pub moving_waits: u64,
    /// Response times of small exchanges.
    response: Histogram<u64>,
    until: Option<Instant>,
    moving_until: Option<Instant>,
}

thread_local! {
    static NOW: RefCell<Exchanges> = RefCell::new(Exchanges::default());
}

impl Default for Exchanges {
    fn default() -> Self {
        let response = Histogram::new_with_bounds(1, MAX_NS, 3).expect("constant bounds are valid");
        Self {
            answered: 0,
            waits: 0,
            moved_bytes: 0,
            moving_ns: 0,
            moving_waits: 0,
            response,
            until: None,
            moving_until: None,
        }
    }
}

impl Exchanges {
    pub fn add(&mut self, other: &Self) {
        self.answered += other.answered;
        self.waits += other.waits;
        self.moved_bytes += other.moved_bytes;
        self.moving_ns += other.moving_ns;
        self.moving_waits += other.moving_waits;
        self.response += &other.response;
    }

    pub fn response_mean_ns(&self) -> Option<u64> {
        (!self.response.is_empty()).then(|| self.response.mean() as u64)
    }

    /// Use the response times of `before` if there are no newer ones.
    #[must_use]
    pub fn or_response_of(mut self, before: Self) -> Self {
        if self.response.is_empty() {
            self.response = before.response;
        }
        self
    }

    fn record(&mut self, wait: Wait, ended: Instant, bytes: u64, is_answer: bool) {
        self.answered += u64::from(is_answer);
        if bytes > SMALL_BYTES {
            let is_alone = self.moving_until.is_none_or(|until| wait.at >= until);
            let began = self.moving_until.map_or(wait.at, |until| wait.at.max(until));
            self.moving_ns += nanos(began, ended);
            self.moving_until = Some(ended);
            self.moved_bytes += bytes;
            self.moving_waits += u64::from(is_answer && is_alone);
            self.waits += u64::from(is_answer && is_alone);
        } else if is_answer {
            self.waits += u64::from(self.until.is_none_or(|until| wait.at >= until));
            self.response.saturating_record(nanos(wait.at, ended));
        }
        self.until = self.until.max(Some(ended));
    }
}

fn nanos(began: Instant, ended: Instant) -> u64 {
    u64::try_from(ended.saturating_duration_since(began).as_nanos()).unwrap_or(u64::MAX)
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    at: Instant,
    bytes: u64,
}

impl Wait {
    pub(crate) fn begin(bytes: usize) -> Self {
        Self { at: Instant::now(), bytes: bytes as u64 }
    }

    pub(crate) fn carries(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Record an answer of `bytes`, which has just arrived.
    pub(crate) fn answered(self, bytes: usize) {
        let bytes = self.bytes + bytes as u64;
        NOW.with_borrow_mut(|now| now.record(self, Instant::now(), bytes, true));
    }

    /// Record data that arrived without a round trip of its own.
    pub(crate) fn moved(self, bytes: u64) {
        NOW.with_borrow_mut(|now| now.record(self, Instant::now(), bytes, false));
    }
}

/// The counts since the last call.
pub fn take() -> Exchanges {
    NOW.take()
}

/// Exclude the exchanges of `work`, such as a logout.
pub(crate) async fn uncounted<T>(work: impl Future<Output = T>) -> T {
    let before = take();
    let done = work.await;
    NOW.set(before);
    done
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Record an exchange between two times, in milliseconds after `start`.
    fn record(all: &mut Exchanges, start: Instant, (from, to): (u64, u64), bytes: u64) {
        let at = |ms| start + Duration::from_millis(ms);
        all.record(Wait { at: at(from), bytes: 0 }, at(to), bytes, true);
    }

    #[test]
    fn each_thread_counts_for_itself() {
        Wait::begin(0).answered(0);
        let other = std::thread::spawn(|| (Wait::begin(0).answered(0), take().answered).1);
        assert_eq!((take().answered, other.join().unwrap()), (1, 1));
        assert_eq!(take().answered, 0);
    }

    #[test]
    fn exchanges_under_way_at_once_are_waited_for_once() {
        let (mut all, start) = (Exchanges::default(), Instant::now());
        record(&mut all, start, (0, 4), 100);
        record(&mut all, start, (1, 6), 100);
        record(&mut all, start, (6, 9), 100);
        assert_eq!((all.answered, all.waits, all.moving_ns), (3, 2, 0));
        assert!(all.response_mean_ns().unwrap().abs_diff(4_000_000) < 4_000);
    }

    #[test]
    fn data_in_parallel_calls_moves_once_at_a_time() {
        let (mut all, start) = (Exchanges::default(), Instant::now());
        record(&mut all, start, (0, 10), 64_000);
        record(&mut all, start, (1, 15), 64_000);
        record(&mut all, start, (20, 25), 64_000);
        assert_eq!((all.answered, all.waits, all.moving_waits), (3, 2, 2));
        assert_eq!((all.moved_bytes, all.moving_ns), (192_000, 20_000_000));
        assert_eq!(all.response_mean_ns(), None);
        let before = all.clone().or_response_of(Exchanges::default());
        assert_eq!(before.response_mean_ns(), None);
    }
}
