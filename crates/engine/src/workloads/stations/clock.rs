//! The clock of the stations of one thread: the host's, waited for to some microseconds, by a thread
//! that has nothing else to do or by many stations that share it.

use std::cell::RefCell;
use std::rc::Rc;

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_workloads::Clock;

use super::timers::Timers;
use crate::waiting::Waiter;

/// How often a thread that waits looks whether it still should.
const TICK_NS: u64 = 20_000_000;

/// How stations of a thread wait.
pub enum ThreadClock {
    /// One station, which may keep its thread.
    Alone(RefCell<Waiter>),
    /// Many: others go on meanwhile.
    Shared(Rc<Timers>),
}

impl Clock for ThreadClock {
    #[inline]
    fn now(&self) -> Instant {
        os::monotonic()
    }

    async fn wait_until(&self, at: Instant, is_over: impl Fn() -> bool) {
        match self {
            Self::Alone(waiter) => {
                while !is_over() {
                    let now = os::monotonic();
                    if at.nanos_since(now) <= TICK_NS {
                        waiter.borrow_mut().wait_until(at);
                        return;
                    }
                    os::sleep_until(now.plus_nanos(TICK_NS));
                }
            }
            Self::Shared(timers) => timers.wait_until(at, is_over).await,
        }
    }

    /// Let others go on now and then, where a service answers at once; after the first operation in
    /// any case.
    async fn give_way(&self, is_first: bool) {
        match self {
            Self::Shared(_) if is_first => tokio::task::yield_now().await,
            Self::Shared(_) => tokio::task::consume_budget().await,
            // Of more threads than processors each would have its share of one, some milliseconds,
            // before the last of them had begun.
            Self::Alone(_) if is_first => std::thread::yield_now(),
            Self::Alone(_) => {}
        }
    }
}
