//! One after the other: a right that one holder has at a time, in the order of asking.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use lanlab_workloads::virtual_time::{VirtualTime, Wake};

/// See the module. Clones are the same right.
#[derive(Clone)]
pub struct Turns {
    state: Rc<RefCell<State>>,
    time: VirtualTime,
}

#[derive(Default)]
struct State {
    holder: Option<u64>,
    waiting: VecDeque<(u64, Option<Wake>)>,
    next: u64,
}

/// The right, which is given up when this is dropped; or a place in the queue.
pub struct Turn {
    turns: Turns,
    number: u64,
}

impl Turns {
    /// One that is free.
    pub fn new(time: VirtualTime) -> Self {
        Self { state: Rc::default(), time }
    }

    /// Wait for it; `what` is what a deadlock says that is waited for.
    pub async fn take(&self, what: &'static str) -> Turn {
        let turn = {
            let mut state = self.state.borrow_mut();
            let number = state.next;
            state.next += 1;
            if state.holder.is_none() {
                state.holder = Some(number);
            } else {
                state.waiting.push_back((number, None));
            }
            Turn { turns: self.clone(), number }
        };
        poll_fn(|context| {
            let mut state = self.state.borrow_mut();
            if state.holder == Some(turn.number) {
                return Poll::Ready(());
            }
            let own = state.waiting.iter_mut().find(|(number, _)| *number == turn.number);
            if let Some((_, wake)) = own {
                *wake = Some(self.time.waits_for(context, what));
            }
            Poll::Pending
        })
        .await;
        turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.state.borrow_mut();
        state.waiting.retain(|(number, _)| *number != self.number);
        if state.holder != Some(self.number) {
            return;
        }
        let next = state.waiting.pop_front();
        state.holder = next.as_ref().map(|(number, _)| *number);
        if let Some(wake) = next.and_then(|(_, wake)| wake) {
            self.turns.time.wake(wake);
        }
    }
}
