//! What is sent after the head of a request.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// Octets at hand, or as many as have been said, part by part.
#[derive(Debug)]
pub enum Outgoing {
    /// All of it, if anything.
    Whole(Option<Bytes>),
    /// A file that is still being read.
    Parts {
        /// What comes next.
        parts: mpsc::Receiver<Bytes>,
        /// Octets that have been said and not been sent.
        left_bytes: u64,
    },
}

impl Outgoing {
    /// Nothing.
    pub fn nothing() -> Self {
        Self::Whole(None)
    }

    /// Octets that will be sent in all.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Whole(data) => data.as_ref().map_or(0, |data| data.len() as u64),
            Self::Parts { left_bytes, .. } => *left_bytes,
        }
    }
}

/// Whoever sent a file let go of it before its end. The connection ends then, so that the server
/// cannot take what it has for the whole.
#[derive(Debug)]
pub struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not all of the file was sent")
    }
}

impl std::error::Error for Cut {}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match self.get_mut() {
            Self::Whole(data) => Poll::Ready(data.take().map(|data| Ok(Frame::data(data)))),
            Self::Parts { left_bytes: 0, .. } => Poll::Ready(None),
            Self::Parts { parts, left_bytes } => {
                let Some(part) = ready!(parts.poll_recv(context)) else {
                    return Poll::Ready(Some(Err(Cut)));
                };
                *left_bytes = left_bytes.saturating_sub(part.len() as u64);
                Poll::Ready(Some(Ok(Frame::data(part))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.size_bytes() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.size_bytes())
    }
}
