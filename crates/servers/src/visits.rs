//! A log of client activity for the operator: connections, dialects, logins and refusals.
//!
//! Clients control how much is logged, so the log is bounded: repetitions share an entry with a count, few entries
//! are queued, and their rate is limited. Omitted entries are counted.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Maximum queued entries, and maximum returned at once after a quiet period.
const WAITING: usize = 20;
/// Interval between further entries.
const EACH: Duration = Duration::from_secs(1);
/// Maximum characters of an entry: client names can be long.
const LONGEST: usize = 160;

pub const READ_ONLY: &str = "a change: the directory is served read-only";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub peer: String,
    pub what: String,
    pub times: u64,
    pub left_out: u64,
}

#[derive(Debug, Default)]
pub struct Visits {
    accepted: AtomicU64,
    waiting: Mutex<Waiting>,
    noted: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    seen: VecDeque<Seen>,
    left_out: u64,
    /// When the next entry beyond the burst may be returned.
    next: Duration,
}

impl Visits {
    pub fn arrive(self: &Arc<Self>, peer: String) -> Visitor {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        Visitor { visits: Arc::clone(self), peer, is_noted: AtomicBool::new(false) }
    }

    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    fn note(&self, peer: &str, what: &str) {
        let what: String =
            what.chars().take(LONGEST).map(|c| if c.is_control() { '?' } else { c }).collect();
        let waiting = &mut *self.waiting.lock();
        let same = |seen: &&mut Seen| seen.peer == peer && seen.what == what;
        if let Some(seen) = waiting.seen.iter_mut().find(same) {
            seen.times += 1;
        } else if waiting.seen.len() < WAITING {
            let left_out = std::mem::take(&mut waiting.left_out);
            waiting.seen.push_back(Seen { peer: peer.to_owned(), what, times: 1, left_out });
        } else {
            waiting.left_out += 1;
        }
        self.noted.notify_one();
    }

    /// Wait until there are entries. Only one task may wait.
    pub async fn noted(&self) {
        while self.waiting.lock().seen.is_empty() {
            self.noted.notified().await;
        }
    }

    /// Entries that may be shown now; `now` counts from any fixed time.
    pub fn take(&self, now: Duration) -> Vec<Seen> {
        let waiting = &mut *self.waiting.lock();
        let saved = EACH * (WAITING as u32 - 1);
        waiting.next = waiting.next.max(now.saturating_sub(saved));
        let mut given = Vec::new();
        while waiting.next <= now
            && let Some(seen) = waiting.seen.pop_front()
        {
            waiting.next += EACH;
            given.push(seen);
        }
        given
    }
}

#[derive(Debug)]
pub struct Visitor {
    visits: Arc<Visits>,
    peer: String,
    is_noted: AtomicBool,
}

impl Visitor {
    /// A client was admitted: as this user, if it logged in, and with this dialect or program.
    pub fn admitted(&self, user: Option<&str>, speaks: Option<&str>) {
        let who = match user {
            Some(user) => format!("logged in as {user}"),
            None => "served without a login".to_owned(),
        };
        self.note(&match speaks {
            Some(speaks) => format!("{who} ({speaks})"),
            None => who,
        });
    }

    pub fn knew_the_share_password(&self, speaks: &str) {
        self.note(&format!("gave the password of the share ({speaks})"));
    }

    pub fn refused(&self, what: &str) {
        self.note(&format!("refused: {what}"));
    }

    pub fn wrong_password(&self, user: &str, speaks: Option<&str>) {
        let speaks = speaks.map(|speaks| format!(" ({speaks})")).unwrap_or_default();
        self.refused(&format!("wrong password or user `{user}`{speaks}"));
    }

    fn note(&self, what: &str) {
        self.is_noted.store(true, Ordering::Relaxed);
        self.visits.note(&self.peer, what);
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        if !*self.is_noted.get_mut() {
            self.visits.note(&self.peer, "left without a login");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(seen: &[Seen]) -> Vec<String> {
        seen.iter().map(|one| format!("{} {} {}", one.peer, one.what, one.times)).collect()
    }

    #[test]
    fn each_connection_is_logged_once_and_repetitions_are_counted() {
        let visits = Arc::new(Visits::default());
        let first = visits.arrive("10.0.0.5".to_owned());
        first.admitted(Some("cnc"), Some("LANMAN1.0"));
        drop(first);
        for _ in 0..3 {
            visits.arrive("10.0.0.6".to_owned()).wrong_password("b\x1b[2Job", None);
        }
        drop(visits.arrive("10.0.0.7".to_owned()));
        let wanted = [
            "10.0.0.5 logged in as cnc (LANMAN1.0) 1",
            "10.0.0.6 refused: wrong password or user `b?[2Job` 3",
            "10.0.0.7 left without a login 1",
        ];
        assert_eq!(texts(&visits.take(Duration::from_secs(9))), wanted);
        assert_eq!(visits.accepted(), 5);
        assert!(visits.take(Duration::from_secs(9)).is_empty());
    }

    #[tokio::test]
    async fn an_entry_ends_the_wait_for_entries() {
        let visits = Arc::new(Visits::default());
        let short = Duration::from_millis(10);
        assert!(tokio::time::timeout(short, visits.noted()).await.is_err());
        let waiting = tokio::spawn({
            let visits = Arc::clone(&visits);
            async move { visits.noted().await }
        });
        tokio::task::yield_now().await;
        drop(visits.arrive("10.0.0.7".to_owned()));
        waiting.await.unwrap();
        visits.noted().await;
        assert_eq!(visits.take(Duration::from_secs(9)).len(), 1);
        assert!(tokio::time::timeout(short, visits.noted()).await.is_err());
    }

    #[test]
    fn a_flood_is_logged_briefly_with_the_number_of_omitted_entries() {
        let visits = Arc::new(Visits::default());
        let (mut given, mut counted) = (0, 0);
        for second in 0..100_u32 {
            for host in 0..500 {
                drop(visits.arrive(format!("10.{second}.0.{host}")));
            }
            for seen in visits.take(Duration::from_secs(500) + EACH * second) {
                given += 1;
                counted += seen.times + seen.left_out;
            }
        }
        // 20 at once, then one per second for 100 seconds.
        assert_eq!(given, 20 + 99);
        let last = visits.take(Duration::from_secs(5000));
        counted += last.iter().map(|seen| seen.times + seen.left_out).sum::<u64>();
        counted += visits.waiting.lock().left_out;
        assert_eq!((counted, visits.accepted()), (50_000, 50_000));
    }
}
