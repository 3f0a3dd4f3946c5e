//! Timers of many stations on one thread. The runtime's timers resolve a millisecond, longer than most operations.
//! So one system alarm wakes the thread slightly early, and it polls the clock in turn with other tasks.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Poll, Waker};

use lanlab_os as os;
use lanlab_units::{Instant, Schedule};
use tokio::io::unix::AsyncFd;

use crate::waiting::Margin;

pub struct Timers {
    sleepers: RefCell<Schedule<Instant, Waker>>,
    margin: RefCell<Margin>,
    alarm: Alarm,
}

impl Timers {
    pub fn new() -> io::Result<Rc<Self>> {
        Ok(Rc::new(Self {
            sleepers: RefCell::default(),
            margin: RefCell::new(Margin::new()),
            alarm: Alarm::new()?,
        }))
    }

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
                // Almost due: poll again after the other tasks.
                context.waker().wake_by_ref();
            } else if !is_noted {
                self.note(wake_at, context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    fn note(&self, wake_at: Instant, waker: Waker) {
        let mut sleepers = self.sleepers.borrow_mut();
        if is_first(&sleepers, wake_at) {
            self.alarm.set(wake_at);
        }
        sleepers.add(wake_at, waker);
    }

    /// Wake due sleepers, forever. Run it concurrently with the stations.
    pub async fn run(self: Rc<Self>) {
        loop {
            self.alarm.rings().await;
            self.wake(os::monotonic());
        }
    }

    fn wake(&self, now: Instant) {
        let mut sleepers = self.sleepers.borrow_mut();
        if let Some(first) = sleepers.next_at().filter(|first| *first <= now) {
            self.margin.borrow_mut().learn(now.nanos_since(first));
        }
        while let Some((_, waker)) = sleepers.pop_due(now) {
            waker.wake();
        }
        if let Some(next) = sleepers.next_at() {
            self.alarm.set(next);
        }
    }

    pub fn wake_all(&self) {
        while let Some((_, waker)) = self.sleepers.borrow_mut().pop() {
            waker.wake();
        }
    }
}

/// Whether a new deadline precedes all others, so that the alarm must be reset.
fn is_first(sleepers: &Schedule<Instant, Waker>, wake_at: Instant) -> bool {
    sleepers.next_at().is_none_or(|first| wake_at < first)
}

struct Alarm(AsyncFd<os::Alarm>);

impl Alarm {
    #[expect(deprecated, reason = "what replaces it is unsafe, for types that change descriptors")]
    fn new() -> io::Result<Self> {
        AsyncFd::new(os::Alarm::new()?).map(Self)
    }

    fn set(&self, at: Instant) {
        self.0.get_ref().set(at).expect("an alarm that is there can be set");
    }

    async fn rings(&self) {
        if let Ok(mut ready) = self.0.readable().await {
            // The alarm may have been reset, which is not an error.
            let _ = self.0.get_ref().quiet();
            ready.clear_ready();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::task::Wake;

    use super::*;
    use crate::workloads::copy::runtime;

    #[derive(Default)]
    struct Bell(AtomicU32);

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// Timers of a thread, and the number of wake-ups of each waiter.
    fn with_sleepers<const N: usize>(
        at_ns: [u64; N],
        test: impl FnOnce(&Timers, &dyn Fn() -> [u32; N]),
    ) {
        let runtime = runtime().unwrap();
        let _guard = runtime.enter();
        let timers = Timers::new().unwrap();
        let bells: [Arc<Bell>; N] = std::array::from_fn(|_| Arc::default());
        for (at_ns, bell) in at_ns.iter().zip(&bells) {
            timers.note(Instant::from_nanos(*at_ns), Waker::from(Arc::clone(bell)));
        }
        test(&timers, &|| std::array::from_fn(|number| bells[number].0.load(Relaxed)));
    }

    #[test]
    fn only_an_earlier_deadline_resets_the_alarm() {
        let mut sleepers = Schedule::new();
        let is_first = |sleepers: &Schedule<Instant, Waker>, at_ns| {
            super::is_first(sleepers, Instant::from_nanos(at_ns))
        };
        assert!(is_first(&sleepers, 30));
        for at_ns in [30, 20, 40] {
            sleepers.add(Instant::from_nanos(at_ns), Waker::noop().clone());
        }
        assert_eq!(
            [19, 20, 21, 50].map(|at_ns| is_first(&sleepers, at_ns)),
            [true, false, false, false]
        );
    }

    #[test]
    fn only_a_due_waiter_is_woken_and_only_once() {
        with_sleepers([30, 20, 50, 40], |timers, woken| {
            timers.wake(Instant::from_nanos(19));
            assert_eq!(woken(), [0, 0, 0, 0]);
            timers.wake(Instant::from_nanos(30));
            assert_eq!(woken(), [1, 1, 0, 0]);
            timers.wake(Instant::from_nanos(45));
            assert_eq!(woken(), [1, 1, 0, 1]);
            timers.wake_all();
            assert_eq!(woken(), [1, 1, 1, 1]);
            timers.wake(Instant::from_nanos(60));
            assert_eq!(woken(), [1, 1, 1, 1]);
        });
    }

    #[test]
    fn a_thread_learns_how_late_it_is_woken() {
        with_sleepers([1_000_000, 9_000_000], |timers, _| {
            let margin_ns = || timers.margin.borrow().of(0);
            let before_ns = margin_ns();
            // No sleeper is due yet.
            timers.wake(Instant::from_nanos(999_999));
            assert_eq!(margin_ns(), before_ns);
            // Later than the margin: the margin grows by an eighth.
            timers.wake(Instant::from_nanos(2_000_000));
            assert_eq!(margin_ns(), before_ns + before_ns / 8);
        });
    }

    #[test]
    fn every_waiter_is_woken_at_its_deadline() {
        let runtime = runtime().unwrap();
        runtime.block_on(tokio::task::LocalSet::new().run_until(async {
            let timers = Timers::new().unwrap();
            let bell = tokio::task::spawn_local(Rc::clone(&timers).run());
            let begin = os::monotonic();
            let mut waiting = tokio::task::JoinSet::new();
            for wait_ms in [30, 10, 60_000, 20, 0] {
                let (timers, at) = (Rc::clone(&timers), begin.plus_nanos(wait_ms * 1_000_000));
                waiting.spawn_local(async move {
                    timers.wait_until(at, || false).await;
                    assert!(os::monotonic() >= at);
                    wait_ms
                });
            }
            let mut ended = Vec::new();
            for _ in 0..4 {
                ended.push(waiting.join_next().await.unwrap().unwrap());
            }
            ended.sort_unstable();
            assert_eq!(ended, [0, 10, 20, 30]);
            bell.abort();
        }));
    }

    #[test]
    fn a_waiter_woken_for_the_end_stops_waiting() {
        let runtime = runtime().unwrap();
        runtime.block_on(tokio::task::LocalSet::new().run_until(async {
            let timers = Timers::new().unwrap();
            let at = os::monotonic().plus_nanos(3_600_000_000_000);
            let is_over = Rc::new(std::cell::Cell::new(false));
            let (waiting, seen) = (Rc::clone(&timers), Rc::clone(&is_over));
            let waits = tokio::task::spawn_local(async move {
                waiting.wait_until(at, || seen.get()).await;
            });
            tokio::task::yield_now().await;
            assert!(!waits.is_finished());
            is_over.set(true);
            timers.wake_all();
            waits.await.unwrap();
            assert!(os::monotonic() < at);
        }));
    }
}
