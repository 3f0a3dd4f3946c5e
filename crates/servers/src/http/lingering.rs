//! Request bodies.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};

const LINGER: Duration = Duration::from_secs(2);

/// A body whose rest is still read for a while after it was dropped: closing a connection with unread bytes resets
/// it, and the client would not see the refusal (RFC 9112, section 9.6).
#[derive(Debug)]
pub struct Lingering(Option<Incoming>, Begun);

pub type Begun = Arc<AtomicBool>;

impl Lingering {
    pub fn new(incoming: Incoming, begun: Begun) -> Self {
        Self(Some(incoming), begun)
    }
}

impl Body for Lingering {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.1.store(true, Ordering::Relaxed);
        match &mut self.0 {
            Some(incoming) => Pin::new(incoming).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or(SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let Some(mut rest) = self.0.take().filter(|rest| !rest.is_end_stream()) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        // The task also ends with the connection.
        runtime.spawn(tokio::time::timeout(LINGER, async move {
            while let Some(Ok(_)) = rest.frame().await {}
        }));
    }
}
