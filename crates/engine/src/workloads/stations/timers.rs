//! Waiting of many stations on one thread. The runtime's own timers go by whole milliseconds, which is
//! more than most operations take; so one alarm of the system wakes the thread a little before the
//! first of them is due, and it looks at the clock until then, with whatever else there is to do.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Poll, Waker};

use lanlab_os as os;
use lanlab_units::Instant;

use crate::waiting::Margin;

/// One that waits.
struct Sleeper {
    wake_at: Instant,
    waker: Waker,
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.wake_at == other.wake_at
    }
}

impl Eq for Sleeper {}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The first to be woken is the greatest.
impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> Ordering {
        other.wake_at.cmp(&self.wake_at)
    }
}

/// The timers of one thread.
pub struct Timers {
    sleepers: RefCell<BinaryHeap<Sleeper>>,
    margin: RefCell<Margin>,
    alarm: alarm::Alarm,
}

impl Timers {
    /// On the runtime of this thread.
    ///
    /// # Errors
    /// The system's own.
    pub fn new() -> io::Result<Rc<Self>> {
        Ok(Rc::new(Self {
            sleepers: RefCell::default(),
            margin: RefCell::new(Margin::new()),
            alarm: alarm::Alarm::new()?,
        }))
    }

    /// Wait until a moment, or until it is all over.
    pub async fn wait_until(&self, at: Instant, is_over: impl Fn() -> bool) {
        let mut wake_at = None;
        poll_fn(move |context| {
            let now = os::monotonic();
            if now >= at || is_over() {
                return Poll::Ready(());
            }
            let is_noted = wake_at.is_some();
            let wake_at = *wake_at.get_or_insert_with(|| {
                at.minus_nanos(self.margin.borrow().of(at.nanos_since(now)))
            });
            if now >= wake_at {
                // As good as due: asked again as soon as the others have been.
                context.waker().wake_by_ref();
            } else if !is_noted {
                self.note(Sleeper { wake_at, waker: context.waker().clone() });
            }
            Poll::Pending
        })
        .await;
    }

    fn note(&self, sleeper: Sleeper) {
        let mut sleepers = self.sleepers.borrow_mut();
        let is_first = sleepers.peek().is_none_or(|first| sleeper.wake_at < first.wake_at);
        if is_first {
            self.alarm.set(sleeper.wake_at);
        }
        sleepers.push(sleeper);
    }

    /// Wake who is due, without end. To be run beside the stations.
    pub async fn run(self: Rc<Self>) {
        loop {
            self.alarm.rings().await;
            self.wake(os::monotonic());
        }
    }

    fn wake(&self, now: Instant) {
        let mut sleepers = self.sleepers.borrow_mut();
        if let Some(first) = sleepers.peek()
            && first.wake_at <= now
        {
            self.margin.borrow_mut().learn(now.nanos_since(first.wake_at));
        }
        while sleepers.peek().is_some_and(|first| first.wake_at <= now) {
            if let Some(sleeper) = sleepers.pop() {
                sleeper.waker.wake();
            }
        }
        if let Some(next) = sleepers.peek() {
            self.alarm.set(next.wake_at);
        }
    }

    /// Wake everybody: the job is stopped.
    pub fn wake_all(&self) {
        for sleeper in self.sleepers.borrow_mut().drain() {
            sleeper.waker.wake();
        }
    }
}

#[cfg(all(target_os = "linux", not(lanlab_portable)))]
mod alarm {
    use std::io;

    use lanlab_units::Instant;
    use tokio::io::unix::AsyncFd;

    /// An alarm of the kernel, to the nanosecond.
    pub struct Alarm(AsyncFd<lanlab_os::Alarm>);

    impl Alarm {
        #[expect(
            deprecated,
            reason = "what replaces it is unsafe, for types that change descriptors"
        )]
        pub fn new() -> io::Result<Self> {
            AsyncFd::new(lanlab_os::Alarm::new()?).map(Self)
        }

        pub fn set(&self, at: Instant) {
            self.0.get_ref().set(at).expect("an alarm that is there can be set");
        }

        pub async fn rings(&self) {
            if let Ok(mut ready) = self.0.readable().await {
                // That it has been set anew meanwhile is no error.
                let _ = self.0.get_ref().quiet();
                ready.clear_ready();
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", not(lanlab_portable))))]
mod alarm {
    use std::cell::Cell;
    use std::io;
    use std::time::Duration;

    use lanlab_os as os;
    use lanlab_units::Instant;
    use tokio::sync::Notify;

    /// The runtime's timers go by whole milliseconds: so much before it is due, the alarm rings.
    const COARSE_NS: u64 = 2_000_000;

    /// The runtime's timer, and looking at the clock for what is left.
    pub struct Alarm {
        at: Cell<Option<Instant>>,
        is_set: Notify,
    }

    impl Alarm {
        pub fn new() -> io::Result<Self> {
            Ok(Self { at: Cell::new(None), is_set: Notify::new() })
        }

        pub fn set(&self, at: Instant) {
            self.at.set(Some(at));
            self.is_set.notify_one();
        }

        pub async fn rings(&self) {
            loop {
                let Some(at) = self.at.get() else {
                    self.is_set.notified().await;
                    continue;
                };
                let left_ns = at.nanos_since(os::monotonic());
                if left_ns == 0 {
                    self.at.set(None);
                    return;
                }
                if left_ns <= COARSE_NS {
                    tokio::task::yield_now().await;
                    continue;
                }
                let pause = Duration::from_nanos(left_ns - COARSE_NS);
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = self.is_set.notified() => {}
                }
            }
        }
    }
}
