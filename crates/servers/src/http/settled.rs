//! A task's wake-ups of itself, answered at once.
//!
//! hyper wakes its own task for each part of a request's body. The runtime would queue the task again and wake another
//! thread to share the queue, which costs more than a small file.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};

/// Polls in a row before other tasks have their turn.
const ROUNDS: usize = 8;

struct Waking {
    task: Waker,
    is_polled: AtomicBool,
    is_woken: AtomicBool,
}

impl Wake for Waking {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        if !self.is_polled.load(SeqCst) {
            self.task.wake_by_ref();
        }
    }
}

/// Run `work`, and poll it again at once if it was woken meanwhile.
pub async fn settled<T>(work: impl Future<Output = T>) -> T {
    let (mut work, mut kept) = (pin!(work), None::<Arc<Waking>>);
    poll_fn(|context| {
        let task = context.waker();
        let waking =
            kept.take().filter(|waking| waking.task.will_wake(task)).unwrap_or_else(|| {
                let is_polled = AtomicBool::new(true);
                Arc::new(Waking { task: task.clone(), is_polled, is_woken: AtomicBool::new(false) })
            });
        let waker = Waker::from(Arc::clone(&waking));
        waking.is_polled.store(true, SeqCst);
        for _ in 0..ROUNDS {
            waking.is_woken.store(false, SeqCst);
            if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Poll::Ready(done);
            }
            if !waking.is_woken.load(SeqCst) {
                break;
            }
        }
        waking.is_polled.store(false, SeqCst);
        if waking.is_woken.load(SeqCst) {
            task.wake_by_ref();
        }
        kept = Some(waking);
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn own_wakes_are_answered_at_once_and_others_passed_on() {
        let count = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        let (mut polls, mut inner) = (0, None);
        let mut work = Box::pin(settled(poll_fn(|context| {
            polls += 1;
            inner = Some(context.waker().clone());
            if polls < 3 {
                context.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        })));
        assert!(work.as_mut().poll(&mut context).is_pending());
        assert_eq!(count.0.load(SeqCst), 0);
        drop(work);
        assert_eq!(polls, 3);
        inner.unwrap().wake();
        assert_eq!(count.0.load(SeqCst), 1);
        let mut endless = pin!(settled(poll_fn(|context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        })));
        assert!(endless.as_mut().poll(&mut context).is_pending());
        assert_eq!(count.0.load(SeqCst), 2, "other tasks have their turn");
    }
}
