//! Bounded waiting by a given clock.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use lanlab_units::Clock;

/// The result of a future; `None` if it takes longer than `patience`.
pub async fn within<T>(
    clock: &impl Clock,
    patience: Duration,
    awaited: impl Future<Output = T>,
) -> Option<T> {
    let (mut awaited, mut end) = (
        pin!(awaited),
        pin!(async {
            clock.wait_until(clock.now() + patience, || false).await;
        }),
    );
    poll_fn(|cx| match awaited.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => end.as_mut().poll(cx).map(|()| None),
    })
    .await
}
