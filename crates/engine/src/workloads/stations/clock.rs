//! The clock of one thread's stations, one or many: the host's, with waits precise to microseconds.

use std::cell::RefCell;
use std::rc::Rc;

use lanlab_os as os;
use lanlab_units::{Clock, Instant};

use super::timers::Timers;
use crate::waiting::Waiter;

const TICK_NS: u64 = 20_000_000;

pub enum ThreadClock {
    Alone(RefCell<Waiter>),
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

    /// Yield occasionally, because a fast service never makes a station wait; always after the
    /// first operation.
    async fn yield_now(&self, is_first: bool) {
        match self.way(is_first) {
            Way::Task => tokio::task::yield_now().await,
            Way::SpentTask => tokio::task::consume_budget().await,
            Way::Thread => std::thread::yield_now(),
            Way::None => {}
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Way {
    Task,
    SpentTask,
    Thread,
    None,
}

impl ThreadClock {
    fn way(&self, is_first: bool) -> Way {
        match (self, is_first) {
            (Self::Shared(_), true) => Way::Task,
            (Self::Shared(_), false) => Way::SpentTask,
            // With more threads than processors, each would spin for its time slice of some milliseconds before the
            // last had begun.
            (Self::Alone(_), true) => Way::Thread,
            (Self::Alone(_), false) => Way::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;
    use crate::workloads::copy::runtime;

    const SECOND_NS: u64 = 1_000_000_000;

    fn alone() -> ThreadClock {
        ThreadClock::Alone(Waiter::new().into())
    }

    fn is_ready_at_once(future: impl Future<Output = ()>) -> bool {
        pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_thread_of_one_station_waits_until_its_moment() {
        let clock = alone();
        for wait_ns in [100_000, 10_000_000, 50_000_000] {
            let at = clock.now().plus_nanos(wait_ns);
            assert!(is_ready_at_once(clock.wait_until(at, || false)));
            assert!(os::monotonic() >= at, "{wait_ns}");
        }
    }

    #[test]
    fn long_waits_check_for_cancellation() {
        let (clock, looks) = (alone(), Cell::new(0));
        let at = clock.now().plus_nanos(60 * SECOND_NS);
        let is_over = || looks.replace(looks.get() + 1) == 2;
        assert!(is_ready_at_once(clock.wait_until(at, is_over)));
        assert_eq!(looks.get(), 3);
        assert!(os::monotonic().nanos_since(at) == 0);
    }

    #[test]
    fn stations_yield_to_others_on_their_thread() {
        let runtime = runtime().unwrap();
        let _guard = runtime.enter();
        let shared = ThreadClock::Shared(Timers::new().unwrap());
        let ways = [true, false].map(|is_first| (shared.way(is_first), alone().way(is_first)));
        assert_eq!(ways, [(Way::Task, Way::Thread), (Way::SpentTask, Way::None)]);
        assert!(!is_ready_at_once(shared.yield_now(true)));
        assert!(is_ready_at_once(shared.yield_now(false)));
        assert!(is_ready_at_once(alone().yield_now(true)));
    }
}
