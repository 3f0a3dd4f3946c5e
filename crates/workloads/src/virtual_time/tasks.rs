//! The tasks of a virtual clock, and which of them can run.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use super::wakers::{Wake, WakeBy, WokenElsewhere};

pub(super) type BoxedTask = Pin<Box<dyn Future<Output = ()>>>;

const UNKNOWN: &str = "something that is no part of the simulation";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub name: Rc<str>,
    pub waits_for: &'static str,
}

#[derive(Default)]
pub(super) struct Tasks {
    slots: RefCell<Vec<Slot>>,
    unused: RefCell<Vec<u32>>,
    ready: RefCell<VecDeque<u32>>,
    current: Cell<u32>,
    current_waker: Cell<Option<*const ()>>,
    current_waits_for: Cell<&'static str>,
    woken: Arc<WokenElsewhere>,
}

struct Slot {
    /// `None` while the task is polled, and after its end.
    task: Option<(BoxedTask, Waker)>,
    is_alive: bool,
    is_ready: bool,
    name: Rc<str>,
    waits_for: &'static str,
}

impl Tasks {
    pub(super) fn spawn(&self, name: Rc<str>, task: BoxedTask) {
        let number = {
            let mut slots = self.slots.borrow_mut();
            let number = self.unused.borrow_mut().pop().unwrap_or(slots.len() as u32);
            let task = Some((task, self.woken.waker(number)));
            let slot = Slot { task, is_alive: true, is_ready: false, name, waits_for: UNKNOWN };
            match slots.get_mut(number as usize) {
                Some(unused) => *unused = slot,
                None => slots.push(slot),
            }
            number
        };
        self.make_ready(number);
    }

    #[inline]
    pub(super) fn waits_for(&self, context: &Context<'_>, what: &'static str) -> Wake {
        self.current_waits_for.set(what);
        let waker = context.waker();
        Wake(if self.current_waker.get() == Some(waker.data()) {
            WakeBy::Task(self.current.get())
        } else {
            WakeBy::Waker(waker.clone())
        })
    }

    #[inline]
    pub(super) fn wake(&self, wake: Wake) {
        match wake.0 {
            WakeBy::Task(number) => self.make_ready(number),
            WakeBy::Waker(waker) => waker.wake(),
        }
    }

    fn make_ready(&self, number: u32) {
        let mut slots = self.slots.borrow_mut();
        let Some(slot) = slots.get_mut(number as usize) else { return };
        if slot.is_alive && !std::mem::replace(&mut slot.is_ready, true) {
            self.ready.borrow_mut().push_back(number);
        }
    }

    pub(super) fn poll_next(&self) -> bool {
        for number in self.woken.take() {
            self.make_ready(number);
        }
        let Some(number) = self.ready.borrow_mut().pop_front() else { return false };
        let taken = {
            let slot = &mut self.slots.borrow_mut()[number as usize];
            slot.is_ready = false;
            slot.task.take()
        };
        let Some((mut task, waker)) = taken else { return true };
        self.current.set(number);
        self.current_waker.set(Some(waker.data()));
        self.current_waits_for.set(UNKNOWN);
        let is_pending = task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending();
        self.current_waker.set(None);
        let mut slots = self.slots.borrow_mut();
        // The task may have dropped all tasks.
        let Some(slot) = slots.get_mut(number as usize) else { return true };
        if is_pending {
            slot.waits_for = self.current_waits_for.get();
            slot.task = Some((task, waker));
        } else {
            slot.is_alive = false;
            self.unused.borrow_mut().push(number);
        }
        true
    }

    pub(super) fn unfinished(&self) -> Vec<Unfinished> {
        let slots = self.slots.borrow();
        let alive = slots.iter().filter(|slot| slot.is_alive);
        alive
            .map(|slot| Unfinished { name: Rc::clone(&slot.name), waits_for: slot.waits_for })
            .collect()
    }

    pub(super) fn drop_all(&self) {
        // Dropping a task may call this clock, so no slot may be borrowed.
        let slots = std::mem::take(&mut *self.slots.borrow_mut());
        self.unused.borrow_mut().clear();
        self.ready.borrow_mut().clear();
        drop(slots);
    }
}
