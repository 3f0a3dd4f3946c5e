//! Several calls under way at once, without a task or an allocation for each.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Run futures on this thread until all have ended well, or one has not: the others are dropped then.
///
/// All are polled at each wake-up. There are few, and a poll in vain costs less than the bookkeeping
/// of who was woken.
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
    use super::*;
    use std::cell::Cell;
    use std::time::Duration;

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    #[test]
    fn all_go_on_at_once() {
        let under_way = Cell::new(0);
        let most = Cell::new(0);
        let lane = async || -> Result<(), ()> {
            under_way.set(under_way.get() + 1);
            tokio::time::sleep(Duration::from_millis(1)).await;
            most.set(most.get().max(under_way.get()));
            under_way.set(under_way.get() - 1);
            Ok(())
        };
        assert_eq!(run(all((0..8).map(|_| lane()).collect())), Ok(()));
        assert_eq!((most.get(), under_way.get()), (8, 0));
    }

    #[test]
    fn the_first_error_ends_all() {
        let lane = async |number: u64| -> Result<(), u64> {
            tokio::time::sleep(Duration::from_millis(if number == 3 { 1 } else { 60_000 })).await;
            Err(number)
        };
        assert_eq!(run(all((0..5).map(lane).collect())), Err(3));
    }
}
