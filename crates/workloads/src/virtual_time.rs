//! A virtual clock, and an executor that runs futures on it.
//!
//! Time stops while any task can run, and then jumps to the next timer. Equal timers fire in the order they were
//! set, and tasks are polled in the order they were woken, so results are repeatable on any host under any load.
//!
//! # Driving it
//!
//! [`VirtualTime::run`] drives it if there are only tasks. A simulator with events of its own calls
//! [`poll_task`](VirtualTime::poll_task) until no task can run, and then [`advance_to`](VirtualTime::advance_to)
//! the earlier of its next event and [`next_timer_at`](VirtualTime::next_timer_at).

mod tasks;
mod wakers;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use lanlab_units::{Clock, Instant};

use tasks::Tasks;

pub use tasks::Unfinished;
pub use wakers::Wake;

#[derive(Clone, Default)]
pub struct VirtualTime(Rc<Inner>);

#[derive(Default)]
struct Inner {
    now: Cell<Instant>,
    /// Each with its time and number; a wait that is over removes its own.
    timers: RefCell<BTreeMap<(Instant, u64), Wake>>,
    last_timer: Cell<u64>,
    tasks: Tasks,
}

struct Timer<'a> {
    time: &'a VirtualTime,
    key: (Instant, u64),
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        self.time.0.timers.borrow_mut().remove(&self.key);
    }
}

pub struct Task<T> {
    state: Rc<RefCell<TaskState<T>>>,
    time: VirtualTime,
}

struct TaskState<T> {
    value: Option<T>,
    waiting: Option<Wake>,
}

impl<T> Task<T> {
    /// The value, once the task has ended; returned only once.
    pub fn take(&self) -> Option<T> {
        self.state.borrow_mut().value.take()
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.state.borrow_mut();
        if let Some(value) = state.value.take() {
            return Poll::Ready(value);
        }
        state.waiting = Some(self.time.waits_for(context, "another task"));
        Poll::Pending
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlock {
    pub at: Instant,
}

impl VirtualTime {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn spawn<T: 'static>(&self, work: impl Future<Output = T> + 'static) -> Task<T> {
        self.spawn_named("task", work)
    }

    /// Run a task with the others, under a name that [`unfinished`](Self::unfinished) reports.
    pub fn spawn_named<T: 'static>(
        &self,
        name: impl Into<Rc<str>>,
        work: impl Future<Output = T> + 'static,
    ) -> Task<T> {
        let state = Rc::new(RefCell::new(TaskState { value: None, waiting: None }));
        let (done, time) = (Rc::clone(&state), self.clone());
        self.0.tasks.spawn(
            name.into(),
            Box::pin(async move {
                let value = work.await;
                let mut state = done.borrow_mut();
                state.value = Some(value);
                if let Some(wake) = state.waiting.take() {
                    time.wake(wake);
                }
            }),
        );
        Task { state, time: self.clone() }
    }

    pub async fn sleep_until(&self, at: Instant) {
        let mut timer = None;
        poll_fn(|context| {
            if self.0.now.get() >= at {
                return Poll::Ready(());
            }
            let wake = self.waits_for(context, "a time");
            timer.get_or_insert_with(|| {
                let key = (at, self.0.last_timer.get() + 1);
                self.0.last_timer.set(key.1);
                self.0.timers.borrow_mut().insert(key, wake);
                Timer { time: self, key }
            });
            Poll::Pending
        })
        .await;
    }

    pub async fn sleep_ns(&self, time_ns: u64) {
        self.sleep_until(self.now().plus_nanos(time_ns)).await;
    }

    /// The wake handle of the future being polled, which waits for `what`.
    pub fn waits_for(&self, context: &Context<'_>, what: &'static str) -> Wake {
        self.0.tasks.waits_for(context, what)
    }

    pub fn wake(&self, wake: Wake) {
        self.0.tasks.wake(wake);
    }

    /// Poll the task that was woken first. `false` if none can run.
    pub fn poll_task(&self) -> bool {
        self.0.tasks.poll_next()
    }

    pub fn next_timer_at(&self) -> Option<Instant> {
        self.0.timers.borrow().first_key_value().map(|((at, _), _)| *at)
    }

    /// Advance the clock to `at`, if later, and fire all due timers, so that their tasks are polled in timer order.
    pub fn advance_to(&self, at: Instant) {
        let now = self.now().max(at);
        self.0.now.set(now);
        let mut timers = self.0.timers.borrow_mut();
        while let Some(timer) = timers.first_entry().filter(|timer| timer.key().0 <= now) {
            self.wake(timer.remove());
        }
    }

    /// Unfinished tasks in the order of their numbers, and what each waits for.
    pub fn unfinished(&self) -> Vec<Unfinished> {
        self.0.tasks.unfinished()
    }

    /// Drop all tasks. Tasks that hold this clock would keep it, and themselves, alive.
    pub fn drop_tasks(&self) {
        self.0.tasks.drop_all();
        drop(self.0.timers.take());
    }

    /// Run all tasks until this one completes; the others remain unfinished.
    pub fn run<T: 'static>(&self, work: impl Future<Output = T> + 'static) -> Result<T, Deadlock> {
        let task = self.spawn(work);
        loop {
            while self.poll_task() {
                if let Some(value) = task.take() {
                    return Ok(value);
                }
            }
            let Some(first) = self.next_timer_at() else {
                return Err(Deadlock { at: self.now() });
            };
            self.advance_to(first);
        }
    }
}

impl Clock for VirtualTime {
    #[inline]
    fn now(&self) -> Instant {
        self.0.now.get()
    }

    async fn wait_until(&self, at: Instant, is_over: impl Fn() -> bool) {
        if !is_over() {
            self.sleep_until(at).await;
        }
    }

    /// Other tasks run at every wait, and every operation waits.
    async fn yield_now(&self, _is_first: bool) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_run_in_the_order_of_their_times_and_then_of_their_timers() {
        let time = VirtualTime::new();
        let order = Rc::new(RefCell::new(Vec::new()));
        for (name, at_ns) in [("late", 30), ("first", 10), ("second", 10), ("early", 5)] {
            let (clock, order) = (time.clone(), Rc::clone(&order));
            time.spawn(async move {
                clock.sleep_until(Instant::from_nanos(at_ns)).await;
                order.borrow_mut().push((name, clock.now().as_nanos()));
            });
        }
        let clock = time.clone();
        time.run(async move { clock.sleep_ns(1000).await }).unwrap();
        let expected = [("early", 5), ("first", 10), ("second", 10), ("late", 30)];
        assert_eq!(*order.borrow(), expected);
        assert_eq!(time.now().as_nanos(), 1000);
    }

    #[test]
    fn unfinished_tasks_say_what_they_wait_for() {
        let time = VirtualTime::new();
        let (clock, other) = (time.clone(), time.clone());
        time.spawn_named("sleeper", async move { clock.sleep_ns(7).await });
        let never = time.spawn_named("stuck", std::future::pending::<()>());
        time.spawn_named("follower", never);
        time.spawn_named("quick", async move { drop(other) });
        while time.poll_task() {}
        let unfinished: Vec<_> = time
            .unfinished()
            .into_iter()
            .map(|task| (task.name.to_string(), task.waits_for))
            .collect();
        let expected = [
            ("sleeper", "a time"),
            ("stuck", "something that is no part of the simulation"),
            ("follower", "another task"),
        ];
        assert_eq!(unfinished, expected.map(|(name, what)| (name.to_owned(), what)));
        time.drop_tasks();
        assert!(time.unfinished().is_empty());
    }

    #[test]
    fn wakers_of_one_future_are_equal() {
        let time = VirtualTime::new();
        let wakes = |time: &VirtualTime| {
            let clock = time.clone();
            time.spawn(poll_fn(move |context| {
                Poll::Ready((clock.waits_for(context, "x"), clock.waits_for(context, "y")))
            }))
        };
        let (one, other) = (wakes(&time), wakes(&time));
        while time.poll_task() {}
        let ((first, again), (second, _)) = (one.take().unwrap(), other.take().unwrap());
        assert!(first.is_same(&again) && !first.is_same(&second));
        // Like a combinator that has its own waker.
        let context = Context::from_waker(std::task::Waker::noop());
        let own = time.waits_for(&context, "z");
        assert!(own.is_same(&time.waits_for(&context, "z")));
        assert!(!own.is_same(&first) && !first.is_same(&own));
    }

    #[test]
    fn a_clock_never_goes_back_and_fires_due_timers() {
        let time = VirtualTime::new();
        let clock = time.clone();
        let task = time.spawn(async move {
            clock.sleep_ns(10).await;
            clock.now().as_nanos()
        });
        assert!(time.poll_task() && !time.poll_task());
        assert_eq!(time.next_timer_at(), Some(Instant::from_nanos(10)));
        time.advance_to(Instant::from_nanos(9));
        assert!(!time.poll_task());
        time.advance_to(Instant::from_nanos(4));
        assert_eq!(time.now().as_nanos(), 9);
        time.advance_to(Instant::from_nanos(10));
        assert_eq!(time.next_timer_at(), None);
        assert!(time.poll_task());
        assert_eq!(task.take(), Some(10));
        assert_eq!(task.take(), None);
        // A finished wait is ignored.
        let clock = time.clone();
        let over = async move {
            clock.wait_until(Instant::FAR_FUTURE, || true).await;
            clock.sleep_until(Instant::from_nanos(3)).await;
            clock.now().as_nanos()
        };
        assert_eq!(time.run(over), Ok(10));
    }

    #[test]
    fn a_waker_of_the_standard_library_wakes_its_task() {
        let time = VirtualTime::new();
        let kept = Rc::new(RefCell::new(None::<std::task::Waker>));
        let (clock, waker) = (time.clone(), Rc::clone(&kept));
        time.spawn(async move {
            clock.sleep_ns(5).await;
            waker.borrow().as_ref().unwrap().wake_by_ref();
        });
        let (clock, mut polls) = (time.clone(), 0);
        let woken_at = time.run(poll_fn(move |context| {
            polls += 1;
            *kept.borrow_mut() = Some(context.waker().clone());
            if polls == 2 { Poll::Ready(clock.now().as_nanos()) } else { Poll::Pending }
        }));
        assert_eq!(woken_at, Ok(5));
    }

    #[test]
    fn a_value_can_be_awaited_and_a_deadlock_is_an_error() {
        let time = VirtualTime::new();
        let clock = time.clone();
        let task = time.spawn(async move {
            clock.sleep_ns(7).await;
            42
        });
        assert_eq!(time.run(task), Ok(42));
        let never = time.run(std::future::pending::<()>());
        assert_eq!(never, Err(Deadlock { at: Instant::from_nanos(7) }));
    }
}
