//! The thread of a link, and state shared with its users.

use std::fmt::{self, Debug, Formatter};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use lanlab_os::{self as os, Interest, Readiness, Wake};
use lanlab_units::Instant;
use parking_lot::{Mutex, MutexGuard};

pub const LINK: usize = 0;
const KICK: usize = LINK + 1;
const LONGEST_SLEEP_NS: u64 = 1_000_000_000;

/// The user of a link, which sends and receives there.
pub trait AtLink: Send {
    /// Called by the link's thread: handle arrived frames and due work. Returns whether more may be waiting.
    fn drive_by_thread(&mut self) -> bool;

    fn flush(&mut self);

    /// When the thread must wake at the latest; `None`: with the next frame.
    fn poll_timeout(&self) -> Option<Instant>;

    /// As [`Self::poll_timeout`], called when the thread goes to sleep.
    fn before_sleep(&mut self, _now: Instant) -> Option<Instant> {
        self.poll_timeout()
    }

    /// The error that made the link unusable.
    fn failure(&self) -> Option<&LinkFailure>;

    fn interface(&self) -> &str;

    fn check(&self) -> io::Result<()> {
        self.failure().map_or(Ok(()), |(kind, message)| {
            let interface = self.interface();
            Err(io::Error::new(*kind, format!("interface `{interface}`: {message}")))
        })
    }
}

/// Kind and message of a link error, given to every user.
pub type LinkFailure = (io::ErrorKind, String);

pub struct Shared<S> {
    state: Mutex<S>,
    wake: Wake,
    is_over: AtomicBool,
    /// When the thread wakes, ns; accessed while `state` is locked.
    sleeps_until_ns: AtomicU64,
}

impl<S> Debug for Shared<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

impl<S: AtLink> Shared<S> {
    pub fn new(state: S, wake: Wake) -> Self {
        let (is_over, sleeps_until_ns) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { state: Mutex::new(state), wake, is_over, sleeps_until_ns }
    }

    pub fn state(&self) -> MutexGuard<'_, S> {
        self.state.lock()
    }

    /// Work at the link, send the resulting frames, and make sure that the thread wakes in time.
    pub fn with<T>(&self, work: impl FnOnce(&mut S) -> T) -> T {
        let mut state = self.state();
        let done = work(&mut state);
        state.flush();
        let sleeps_until = Instant::from_nanos(self.sleeps_until_ns.load(Ordering::Relaxed));
        let is_earlier = state.poll_timeout().is_some_and(|at| at < sleeps_until);
        drop(state);
        if is_earlier {
            self.wake.wake();
        }
        done
    }
}

pub struct LinkThread<S> {
    shared: Arc<Shared<S>>,
    thread: Option<JoinHandle<()>>,
}

impl<S> Debug for LinkThread<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkThread").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl<S: AtLink + 'static> LinkThread<S> {
    /// Start the thread, which watches [`LINK`] for frames. `kept` lives as long as the thread.
    pub fn begin(
        name: &str,
        shared: &Arc<Shared<S>>,
        mut readiness: Readiness,
        kept: impl Send + 'static,
    ) -> io::Result<Self> {
        readiness.watch(&shared.wake, KICK, Interest::Read)?;
        let own = Arc::clone(shared);
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            let _kept = kept;
            run(&own, &mut readiness);
        })?;
        Ok(Self { shared: Arc::clone(shared), thread: Some(thread) })
    }
}

impl<S> Drop for LinkThread<S> {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        self.shared.wake.wake();
        if let Some(thread) = self.thread.take() {
            // The thread ends at once, even if the link is stuck.
            let _ = thread.join();
        }
    }
}

fn run<S: AtLink>(shared: &Shared<S>, readiness: &mut Readiness) {
    os::prepare_thread();
    os::shorten_slices();
    loop {
        let (has_more, sleep_ns) = {
            let mut state = shared.state();
            let has_more = state.drive_by_thread();
            let now = os::monotonic();
            let until = state.before_sleep(now).unwrap_or(Instant::FAR_FUTURE);
            let sleep_ns = until.nanos_since(now).min(LONGEST_SLEEP_NS);
            let sleeps_until_ns = now.plus_nanos(sleep_ns).as_nanos();
            shared.sleeps_until_ns.store(sleeps_until_ns, Ordering::Relaxed);
            if shared.is_over.load(Ordering::Acquire) || state.failure().is_some() {
                return;
            }
            (has_more, sleep_ns)
        };
        if has_more {
            continue;
        }
        let Ok(mut ready) = readiness.wait(Duration::from_nanos(sleep_ns)) else { return };
        if ready.any(|key| key == KICK) {
            shared.wake.reset();
        }
    }
}
