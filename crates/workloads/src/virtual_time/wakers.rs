//! Waking of tasks: by number within the simulation, by a [`Waker`] from elsewhere.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

/// What wakes a future: its task's number, or the waker of a combinator that polls it.
#[derive(Debug)]
pub struct Wake(pub(super) WakeBy);

#[derive(Debug)]
pub(super) enum WakeBy {
    Task(u32),
    Waker(Waker),
}

impl Wake {
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (WakeBy::Task(one), WakeBy::Task(other)) => one == other,
            (WakeBy::Waker(one), WakeBy::Waker(other)) => one.will_wake(other),
            _ => false,
        }
    }
}

#[derive(Default)]
pub(super) struct WokenElsewhere {
    is_any: AtomicBool,
    tasks: Mutex<Vec<u32>>,
}

impl WokenElsewhere {
    pub(super) fn waker(self: &Arc<Self>, task: u32) -> Waker {
        Waker::from(Arc::new(TaskWaker { task, woken: Arc::clone(self) }))
    }

    /// Tasks woken since the last call, in order.
    pub(super) fn take(&self) -> Vec<u32> {
        // Wake-ups from another thread are seen at the next call.
        if !self.is_any.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_any.store(false, Ordering::Relaxed);
        std::mem::take(&mut tasks)
    }
}

struct TaskWaker {
    task: u32,
    woken: Arc<WokenElsewhere>,
}

impl std::task::Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut tasks = self.woken.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.push(self.task);
        self.woken.is_any.store(true, Ordering::Relaxed);
    }
}
