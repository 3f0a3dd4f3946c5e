//! Locks (RFC 4918, sections 6 and 7), in memory. They expire unless renewed, and their number is bounded.

use std::future::ready;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use dav_server::davpath::DavPath;
use dav_server::ls::{DavLock, DavLockSystem, LsFuture};
use parking_lot::{Mutex, MutexGuard};
use xmltree::Element;

const MAX_LOCKS: usize = 256;

/// Longest lifetime of a lock; clients may request less.
const LONGEST: Duration = Duration::from_mins(10);

#[derive(Debug, Clone, Default)]
pub struct Locks(Arc<Mutex<Vec<DavLock>>>);

impl Locks {
    fn kept(&self) -> MutexGuard<'_, Vec<DavLock>> {
        let mut kept = self.0.lock();
        let now = SystemTime::now();
        kept.retain(|lock| lock.timeout_at.is_none_or(|end| now < end));
        kept
    }
}

fn octets(path: &DavPath) -> &[u8] {
    let octets = path.as_bytes();
    octets.strip_suffix(b"/").unwrap_or(octets)
}

fn is_below(path: &DavPath, top: &DavPath) -> bool {
    octets(path).strip_prefix(octets(top)).is_some_and(|rest| rest.starts_with(b"/"))
}

fn covers(lock: &DavLock, path: &DavPath) -> bool {
    *lock.path == *path || (lock.deep && is_below(path, &lock.path))
}

fn hindrance<'a>(kept: &'a [DavLock], path: &DavPath, tokens: &[String]) -> Option<&'a DavLock> {
    let covering = || kept.iter().filter(|lock| covers(lock, path));
    let is_held = |lock: &&DavLock| tokens.contains(&lock.token);
    let exclusive = covering().find(|lock| !lock.shared && !is_held(lock));
    exclusive
        .or_else(|| if covering().any(|lock| is_held(&lock)) { None } else { covering().next() })
}

fn until(timeout: Option<Duration>) -> (Option<Duration>, Option<SystemTime>) {
    let timeout = timeout.unwrap_or(LONGEST).min(LONGEST);
    (Some(timeout), Some(SystemTime::now() + timeout))
}

/// An unguessable token (RFC 9562, version 4).
fn token() -> Option<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    random[6] = (random[6] & 0x0f) | 0x40;
    random[8] = (random[8] & 0x3f) | 0x80;
    let digits = hex::encode(random);
    let (a, b, c) = (&digits[..8], &digits[8..12], &digits[12..16]);
    Some(format!("urn:uuid:{a}-{b}-{c}-{}-{}", &digits[16..20], &digits[20..]))
}

impl DavLockSystem for Locks {
    fn lock(
        &'_ self,
        path: &DavPath,
        principal: Option<&str>,
        owner: Option<&Element>,
        timeout: Option<Duration>,
        shared: bool,
        deep: bool,
    ) -> LsFuture<'_, Result<DavLock, DavLock>> {
        let mut kept = self.kept();
        let (timeout, timeout_at) = until(timeout);
        let token = token();
        let lock = DavLock {
            token: token.clone().unwrap_or_default(),
            path: Box::new(path.clone()),
            principal: principal.map(str::to_owned),
            owner: owner.map(|owner| Box::new(owner.clone())),
            timeout_at,
            timeout,
            shared,
            deep,
        };
        let meets = |other: &&DavLock| covers(other, path) || (deep && is_below(&other.path, path));
        let others = kept.iter().filter(meets);
        let in_the_way = others.into_iter().find(|other| !(other.shared && shared)).cloned();
        let done = match in_the_way {
            Some(other) => Err(other),
            None if token.is_none() || kept.len() >= MAX_LOCKS => Err(lock),
            None => {
                kept.push(lock.clone());
                Ok(lock)
            }
        };
        Box::pin(ready(done))
    }

    fn unlock(&'_ self, path: &DavPath, token: &str) -> LsFuture<'_, Result<(), ()>> {
        let mut kept = self.kept();
        let count = kept.len();
        kept.retain(|lock| lock.token != token || !covers(lock, path));
        Box::pin(ready(if kept.len() < count { Ok(()) } else { Err(()) }))
    }

    fn refresh(
        &'_ self,
        path: &DavPath,
        token: &str,
        timeout: Option<Duration>,
    ) -> LsFuture<'_, Result<DavLock, ()>> {
        let mut kept = self.kept();
        let mut found = kept.iter_mut().filter(|lock| lock.token == token && covers(lock, path));
        let renewed = found.next().map(|lock| {
            (lock.timeout, lock.timeout_at) = until(timeout);
            lock.clone()
        });
        Box::pin(ready(renewed.ok_or(())))
    }

    /// With `ignore_principal`, dav-server evaluates a condition of `If` (section 10.4.4): the token's lock must
    /// exist and cover the path.
    fn check(
        &'_ self,
        path: &DavPath,
        _principal: Option<&str>,
        ignore_principal: bool,
        deep: bool,
        submitted_tokens: &[String],
    ) -> LsFuture<'_, Result<(), DavLock>> {
        let kept = self.kept();
        if ignore_principal {
            let mut covering = kept.iter().filter(|lock| covers(lock, path));
            let holds = covering.any(|lock| submitted_tokens.contains(&lock.token));
            return Box::pin(ready(if holds { Ok(()) } else { Err(nobodys(path)) }));
        }
        let mut found = hindrance(&kept, path, submitted_tokens);
        if deep && found.is_none() {
            let mut below = kept.iter().filter(|lock| is_below(&lock.path, path));
            found = below.find_map(|lock| hindrance(&kept, &lock.path, submitted_tokens));
        }
        Box::pin(ready(found.map_or(Ok(()), |lock| Err(lock.clone()))))
    }

    fn discover(&'_ self, path: &DavPath) -> LsFuture<'_, Vec<DavLock>> {
        let found = self.kept().iter().filter(|lock| covers(lock, path)).cloned().collect();
        Box::pin(ready(found))
    }

    fn delete(&'_ self, path: &DavPath) -> LsFuture<'_, Result<(), ()>> {
        self.kept().retain(|lock| *lock.path != *path && !is_below(&lock.path, path));
        Box::pin(ready(Ok(())))
    }
}

fn nobodys(path: &DavPath) -> DavLock {
    DavLock {
        token: String::new(),
        path: Box::new(path.clone()),
        principal: None,
        owner: None,
        timeout_at: None,
        timeout: None,
        shared: false,
        deep: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> DavPath {
        DavPath::new(text).unwrap()
    }

    async fn lock(locks: &Locks, at: &str, shared: bool, deep: bool) -> Option<String> {
        let lock = locks.lock(&path(at), None, None, None, shared, deep).await;
        lock.ok().map(|lock| lock.token)
    }

    async fn may_change(locks: &Locks, at: &str, deep: bool, tokens: &[&str]) -> bool {
        let tokens: Vec<String> = tokens.iter().map(|&token| token.to_owned()).collect();
        locks.check(&path(at), None, false, deep, &tokens).await.is_ok()
    }

    #[tokio::test]
    async fn only_the_owner_of_a_lock_can_change_a_locked_file() {
        let locks = Locks::default();
        let token = lock(&locks, "/a/b", false, false).await.unwrap();
        assert!(!may_change(&locks, "/a/b", false, &[]).await);
        assert!(!may_change(&locks, "/a/b", false, &["urn:uuid:other"]).await);
        assert!(may_change(&locks, "/a/b", false, &[&token]).await);
        assert!(may_change(&locks, "/a/b2", false, &[]).await);
        assert!(may_change(&locks, "/a", false, &[]).await);
        assert!(!may_change(&locks, "/a/", true, &[]).await, "it is below what goes");
        assert!(lock(&locks, "/a/b", false, false).await.is_none());
        assert!(lock(&locks, "/a", false, true).await.is_none());
        assert!(locks.unlock(&path("/x"), &token).await.is_err());
        assert!(locks.unlock(&path("/a/b"), &token).await.is_ok());
        assert!(may_change(&locks, "/a/b", false, &[]).await);
    }

    #[tokio::test]
    async fn shared_locks_coexist_and_deep_locks_cover_children() {
        let locks = Locks::default();
        let one = lock(&locks, "/a/", true, true).await.unwrap();
        let other = lock(&locks, "/a", true, true).await.unwrap();
        assert_ne!(one, other);
        assert!(lock(&locks, "/a/x", false, false).await.is_none());
        assert!(!may_change(&locks, "/a/x", false, &[]).await);
        assert!(may_change(&locks, "/a/x", false, &[&other]).await);
        assert_eq!(locks.discover(&path("/a/x")).await.len(), 2);
        assert!(locks.discover(&path("/b")).await.is_empty());
        locks.delete(&path("/a/")).await.unwrap();
        assert!(may_change(&locks, "/a/x", false, &[]).await);
    }

    #[tokio::test]
    async fn locks_expire_and_are_bounded() {
        let locks = Locks::default();
        let at = path("/a");
        let short = Some(Duration::from_millis(20));
        let lock_of = locks.lock(&at, None, None, short, false, false).await.unwrap();
        tokio::time::sleep(Duration::from_millis(40)).await;
        assert!(locks.discover(&at).await.is_empty());
        assert!(locks.refresh(&at, &lock_of.token, None).await.is_err());
        let held = locks.lock(&at, None, None, None, false, false).await.unwrap();
        assert_eq!(held.timeout, Some(LONGEST), "none is for ever");
        let day = Some(Duration::from_hours(24));
        assert_eq!(locks.refresh(&at, &held.token, day).await.unwrap().timeout, Some(LONGEST));
        for number in 1..MAX_LOCKS {
            assert!(lock(&locks, &format!("/{number}"), false, false).await.is_some());
        }
        assert!(lock(&locks, "/more", false, false).await.is_none());
    }
}
