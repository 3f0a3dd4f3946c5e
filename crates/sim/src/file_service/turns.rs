//! A lock with one holder at a time, granted in the order of requests or of positions.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use lanlab_workloads::virtual_time::{VirtualTime, Wake};

#[derive(Clone)]
pub struct Turns {
    state: Rc<RefCell<State>>,
    time: VirtualTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    FirstCome,
    /// The nearest position in the current direction; if there is none, the direction reverses.
    Elevator,
}

struct State {
    order: Order,
    holder: Option<u64>,
    waiting: Vec<Waiting>,
    next: u64,
    place: u32,
    goes_up: bool,
}

struct Waiting {
    number: u64,
    place: u32,
    wake: Option<Wake>,
}

/// A place in the queue, later the lock itself. Dropping it releases the place or the lock.
pub struct Turn {
    turns: Turns,
    number: u64,
}

impl Turns {
    pub fn new(order: Order, time: VirtualTime) -> Self {
        let waiting = Vec::new();
        let state = State { order, holder: None, waiting, next: 0, place: 0, goes_up: true };
        Self { state: Rc::new(RefCell::new(state)), time }
    }

    /// Wait for the lock; `what` describes the wait in a deadlock message.
    pub async fn take(&self, place: u32, what: &'static str) -> Turn {
        let turn = {
            let mut state = self.state.borrow_mut();
            let number = state.next;
            state.next += 1;
            if state.holder.is_none() {
                state.holder = Some(number);
            } else {
                state.waiting.push(Waiting { number, place, wake: None });
            }
            Turn { turns: self.clone(), number }
        };
        poll_fn(|context| {
            let mut state = self.state.borrow_mut();
            if state.holder == Some(turn.number) {
                return Poll::Ready(());
            }
            if let Some(own) = state.waiting.iter_mut().find(|each| each.number == turn.number) {
                own.wake = Some(self.time.waits_for(context, what));
            }
            Poll::Pending
        })
        .await;
        turn
    }

    pub fn move_to(&self, place: u32) {
        self.state.borrow_mut().place = place;
    }
}

impl State {
    fn take_next(&mut self) -> Option<Waiting> {
        if self.waiting.is_empty() {
            return None;
        }
        let next = match self.order {
            Order::FirstCome => 0,
            Order::Elevator => self.nearest().or_else(|| {
                self.goes_up = !self.goes_up;
                self.nearest()
            })?,
        };
        Some(self.waiting.remove(next))
    }

    /// The nearest waiting position in the current direction; of equal ones the first.
    fn nearest(&self) -> Option<usize> {
        let ahead = |waiting: &Waiting| {
            if self.goes_up {
                waiting.place.checked_sub(self.place)
            } else {
                self.place.checked_sub(waiting.place)
            }
        };
        let waiting = self.waiting.iter().enumerate();
        let ahead = waiting.filter_map(|(index, waiting)| Some((ahead(waiting)?, index)));
        ahead.min().map(|(_, index)| index)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.state.borrow_mut();
        state.waiting.retain(|each| each.number != self.number);
        if state.holder != Some(self.number) {
            return;
        }
        let next = state.take_next();
        state.holder = next.as_ref().map(|next| next.number);
        if let Some(wake) = next.and_then(|next| next.wake) {
            self.turns.time.wake(wake);
        }
    }
}
