//! Concurrent calls without a task or an allocation for each.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Run futures on this thread until all succeed or one fails, which drops the others.
///
/// All are polled at each wake-up: they are few, and a spurious poll costs less than tracking wake-ups.
pub async fn all<E>(lanes: Vec<impl Future<Output = Result<(), E>>>) -> Result<(), E> {
    let mut lanes: Vec<_> = lanes.into_iter().map(Box::pin).collect();
    poll_fn(move |context| {
        let mut place = 0;
        while place < lanes.len() {
            match Pin::as_mut(&mut lanes[place]).poll(context) {
                Poll::Pending => place += 1,
                Poll::Ready(Ok(())) => drop(lanes.swap_remove(place)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
        if lanes.is_empty() { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use crate::virtual_time::VirtualTime;
    use lanlab_units::Clock;

    #[test]
    fn lanes_run_concurrently() {
        let time = VirtualTime::new();
        let under_way = Rc::new(Cell::new((0, 0)));
        let lane = |(time, under_way): (VirtualTime, Rc<Cell<(u32, u32)>>)| async move {
            let (now, most) = under_way.get();
            under_way.set((now + 1, most.max(now + 1)));
            time.sleep_ns(1_000_000).await;
            let (now, most) = under_way.get();
            under_way.set((now - 1, most));
            Ok::<(), ()>(())
        };
        let lanes = (0..8).map(|_| lane((time.clone(), Rc::clone(&under_way)))).collect();
        assert_eq!(time.run(all(lanes)), Ok(Ok(())));
        assert_eq!(under_way.get(), (0, 8));
        assert_eq!(time.now().as_nanos(), 1_000_000);
    }

    #[test]
    fn the_first_error_ends_all() {
        let time = VirtualTime::new();
        let lane = |time: VirtualTime, number: u64| async move {
            time.sleep_ns(if number == 3 { 1_000_000 } else { 60_000_000_000 }).await;
            Err::<(), u64>(number)
        };
        let lanes = (0..5).map(|number| lane(time.clone(), number)).collect();
        assert_eq!(time.run(all(lanes)), Ok(Err(3)));
        assert_eq!(time.now().as_nanos(), 1_000_000);
    }
}
