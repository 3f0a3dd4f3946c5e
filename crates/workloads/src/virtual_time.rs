//! A virtual clock, and an executor that runs futures on it.
//!
//! Time stands still while any task can go on, and then leaps to the next timer. Timers of the same
//! time fire in the order in which they were set, and tasks are polled in the order in which they
//! were woken: so the same tasks always do the same, whatever the host does.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{self, AtomicBool};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use lanlab_units::Instant;

use crate::Clock;

/// A virtual clock with its tasks. Clones are the same clock.
#[derive(Clone, Default)]
pub struct VirtualTime(Rc<Inner>);

#[derive(Default)]
struct Inner {
    now: Cell<Instant>,
    timers: RefCell<BinaryHeap<Timer>>,
    /// The number of the next timer, by which those of the same time are told apart.
    next_timer: Cell<u64>,
    /// `None` where a task has ended or is being polled.
    tasks: RefCell<Vec<Option<BoxedTask>>>,
    wakers: RefCell<Vec<Arc<TaskWaker>>>,
    ready: Arc<Mutex<VecDeque<usize>>>,
}

type BoxedTask = Pin<Box<dyn Future<Output = ()>>>;

struct Timer {
    at: Instant,
    number: u64,
    waker: Waker,
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Timer {}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The first to fire is the greatest.
impl Ord for Timer {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

struct TaskWaker {
    task: usize,
    is_queued: AtomicBool,
    ready: Arc<Mutex<VecDeque<usize>>>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_queued.swap(true, atomic::Ordering::Relaxed) {
            self.ready.lock().unwrap_or_else(PoisonError::into_inner).push_back(self.task);
        }
    }
}

/// A task whose value can be awaited.
pub struct Task<T>(Rc<RefCell<TaskState<T>>>);

struct TaskState<T> {
    value: Option<T>,
    waiting: Option<Waker>,
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.0.borrow_mut();
        if let Some(value) = state.value.take() {
            return Poll::Ready(value);
        }
        state.waiting = Some(context.waker().clone());
        Poll::Pending
    }
}

/// Every task waits for another one, and none for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlock {
    /// When.
    pub at: Instant,
}

impl VirtualTime {
    /// At time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Have a task run with the others.
    pub fn spawn<T: 'static>(&self, work: impl Future<Output = T> + 'static) -> Task<T> {
        let state = Rc::new(RefCell::new(TaskState { value: None, waiting: None }));
        let done = Rc::clone(&state);
        let task = Box::pin(async move {
            let value = work.await;
            let mut state = done.borrow_mut();
            state.value = Some(value);
            if let Some(waker) = state.waiting.take() {
                waker.wake();
            }
        });
        let number = self.0.tasks.borrow().len();
        self.0.tasks.borrow_mut().push(Some(task));
        let ready = Arc::clone(&self.0.ready);
        let waker = Arc::new(TaskWaker { task: number, is_queued: AtomicBool::new(false), ready });
        waker.wake_by_ref();
        self.0.wakers.borrow_mut().push(waker);
        Task(state)
    }

    /// Wait until `at`; not at all if that has passed.
    pub async fn sleep_until(&self, at: Instant) {
        let mut is_set = false;
        poll_fn(|context| {
            if self.0.now.get() >= at {
                return Poll::Ready(());
            }
            if !is_set {
                is_set = true;
                self.set_timer(at, context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Wait for a time.
    pub async fn sleep_ns(&self, time_ns: u64) {
        self.sleep_until(self.now().plus_nanos(time_ns)).await;
    }

    fn set_timer(&self, at: Instant, waker: Waker) {
        let number = self.0.next_timer.get();
        self.0.next_timer.set(number + 1);
        self.0.timers.borrow_mut().push(Timer { at, number, waker });
    }

    /// Run all tasks until this one has its value; the others stay as they are then.
    ///
    /// # Errors
    /// No task can go on.
    pub fn run<T: 'static>(&self, work: impl Future<Output = T> + 'static) -> Result<T, Deadlock> {
        let task = self.spawn(work);
        loop {
            while let Some(number) = self.next_ready() {
                self.poll(number);
                if let Some(value) = task.0.borrow_mut().value.take() {
                    return Ok(value);
                }
            }
            // All timers of this time, so that their tasks are polled in the order of the timers.
            let Some(first) = self.0.timers.borrow_mut().pop() else {
                return Err(Deadlock { at: self.now() });
            };
            self.0.now.set(self.now().max(first.at));
            first.waker.wake();
            let mut timers = self.0.timers.borrow_mut();
            while timers.peek().is_some_and(|timer| timer.at <= first.at) {
                if let Some(timer) = timers.pop() {
                    timer.waker.wake();
                }
            }
        }
    }

    fn next_ready(&self) -> Option<usize> {
        self.0.ready.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn poll(&self, number: usize) {
        let waker = Arc::clone(&self.0.wakers.borrow()[number]);
        waker.is_queued.store(false, atomic::Ordering::Relaxed);
        let Some(mut task) = self.0.tasks.borrow_mut()[number].take() else { return };
        let waker = Waker::from(waker);
        if task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            self.0.tasks.borrow_mut()[number] = Some(task);
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

    /// Other tasks run whenever one waits for a time, and every operation takes time.
    async fn give_way(&self, _is_first: bool) {}
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
