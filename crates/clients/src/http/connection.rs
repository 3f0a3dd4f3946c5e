//! One connection: sends a request and receives its response in the caller's buffers, without a
//! task in between.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{fmt, io};

use lanlab_files::{Class, Fault};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::head::{self, Head, Heads};
use super::inbox::Inbox;
use crate::exchanges::Wait;

/// Bytes of a request that are combined, so that a short one is one segment and one TLS record (RFC
/// 8446, section 5.1: at most 2¹⁴ bytes).
const TOGETHER_BYTES: usize = 1 << 14;

/// Transport of a connection: TCP, or TLS over TCP.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug> Stream for T {}

/// A connection to a server. Dropping it closes it, even in the middle of a request.
pub struct Connection {
    stream: Box<dyn Stream>,
    inbox: Inbox,
    heads: Heads,
    /// The header of a request that has not been sent yet.
    head: Vec<u8>,
    asks_head: bool,
    /// The wait for an answer that began with the last request.
    pub(crate) wait: Wait,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The buffers can contain a password, so they are not shown.
        f.debug_struct("Connection").field("stream", &self.stream).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub enum Broken {
    Ended,
    System(io::Error),
    Wrong(String),
}

impl Broken {
    pub fn fault(self, what: &str) -> Fault {
        match self {
            Self::Ended => Fault::new(
                Class::Reset,
                format!("{what}: the server has closed the connection before it was done"),
            ),
            Self::System(error) => Fault::of_connection(what, &error),
            Self::Wrong(found) => {
                let fault = Fault::new(Class::Protocol, format!("{what}: found {found}"));
                match found.as_str() {
                    head::IN_TLS => fault.hint(head::NEEDS_TLS),
                    head::NOT_HTTP => fault.foreign(),
                    _ => fault,
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    Quiet,
    Octets,
    Ended,
}

impl Connection {
    pub fn new(stream: Box<dyn Stream>) -> Self {
        Self {
            stream,
            inbox: Inbox::default(),
            heads: Heads::default(),
            head: Vec::new(),
            asks_head: false,
            wait: Wait::begin(0),
        }
    }

    /// Begin a request: `write` puts its header into a buffer, which is sent with the first
    /// [`Connection::send`].
    pub fn begin(&mut self, asks_head: bool, write: impl FnOnce(&mut Vec<u8>)) {
        self.asks_head = asks_head;
        self.head.clear();
        write(&mut self.head);
    }

    /// Send the header of the request, if not yet sent, and `data`. Returns the header of a
    /// response that arrives before everything has been sent.
    pub async fn send(&mut self, mut data: &[u8]) -> Result<Option<Head>, Broken> {
        if self.head.is_empty() {
            self.wait.carries(data.len());
        } else {
            self.wait = Wait::begin(data.len());
        }
        if !self.head.is_empty() {
            let mut together = std::mem::take(&mut self.head);
            let room = TOGETHER_BYTES.saturating_sub(together.len());
            let (first, rest) = data.split_at(data.len().min(room));
            together.extend_from_slice(first);
            let sent = self.write(&together, false).await;
            together.clear();
            self.head = together;
            if let Some(early) = sent? {
                return Ok(Some(early));
            }
            data = rest;
        }
        if data.is_empty() { Ok(None) } else { self.write(data, true).await }
    }

    pub async fn head(&mut self) -> Result<Head, Broken> {
        poll_fn(|context| self.poll_head(context)).await
    }

    pub fn inbox(&mut self) -> &mut Inbox {
        &mut self.inbox
    }

    /// Wait for more data for the inbox; returns its length, zero at the end.
    pub async fn fill(&mut self) -> Result<usize, Broken> {
        poll_fn(|context| self.poll_fill(context)).await
    }

    /// Wait for data and put it into `buffer`; zero at the end.
    pub async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Broken> {
        match self.inbox.take_into(buffer) {
            0 => poll_fn(|context| self.poll_read(context, buffer)).await,
            count => Ok(count),
        }
    }

    pub async fn look(&mut self) -> Idle {
        // Arrived data is visible only after the reactor has run.
        tokio::task::yield_now().await;
        if !self.inbox.waiting().is_empty() {
            return Idle::Octets;
        }
        poll_fn(|context| {
            Poll::Ready(match self.poll_fill(context) {
                Poll::Pending => Idle::Quiet,
                Poll::Ready(Ok(count)) if count > 0 => Idle::Octets,
                Poll::Ready(_) => Idle::Ended,
            })
        })
        .await
    }

    pub async fn close(mut self) {
        // The connection is unusable, even if this fails.
        let _ = poll_fn(|context| Pin::new(&mut self.stream).poll_shutdown(context)).await;
    }

    /// Write all of `data`, and watch for an early response. With `watch`, one may already have arrived.
    async fn write(&mut self, data: &[u8], mut watch: bool) -> Result<Option<Head>, Broken> {
        let mut sent = 0;
        let mut broken = None;
        poll_fn(|context| {
            loop {
                if watch {
                    match self.poll_head(context) {
                        Poll::Ready(Ok(head)) => return Poll::Ready(Ok(Some(head))),
                        // The first error is more informative; later ones only say that the
                        // connection is gone.
                        Poll::Ready(Err(read)) => {
                            return Poll::Ready(Err(broken.take().unwrap_or(read)));
                        }
                        Poll::Pending => {}
                    }
                }
                if let Some(error) = broken.take() {
                    return Poll::Ready(Err(error));
                }
                let stream = Pin::new(&mut self.stream);
                let is_all = sent == data.len();
                let written = if is_all {
                    stream.poll_flush(context).map_ok(|()| 0)
                } else {
                    stream.poll_write(context, &data[sent..])
                };
                match written {
                    Poll::Ready(Ok(_)) if is_all => return Poll::Ready(Ok(None)),
                    Poll::Ready(Ok(0)) => broken = Some(Broken::Ended),
                    Poll::Ready(Ok(count)) => {
                        sent += count;
                        // A response to the complete request is not early.
                        watch = sent < data.len();
                        continue;
                    }
                    Poll::Ready(Err(error)) => broken = Some(Broken::System(error)),
                    Poll::Pending if watch => return Poll::Pending,
                    Poll::Pending => {}
                }
                watch = true;
            }
        })
        .await
    }

    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<Result<Head, Broken>> {
        loop {
            match self.heads.take(&mut self.inbox, self.asks_head) {
                Ok(Some(head)) => return Poll::Ready(Ok(head)),
                Ok(None) => {}
                Err(found) => return Poll::Ready(Err(Broken::Wrong(found))),
            }
            match self.poll_fill(context) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(Broken::Ended)),
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(broken)) => return Poll::Ready(Err(broken)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// The inbox has room: a caller that waits for more has parsed the rest, or has given up.
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<Result<usize, Broken>> {
        let mut buffer = ReadBuf::new(self.inbox.room());
        let done = Pin::new(&mut self.stream).poll_read(context, &mut buffer);
        let count = buffer.filled().len();
        self.inbox.put(count);
        done.map(|done| done.map(|()| count).map_err(Broken::System))
    }

    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<Result<usize, Broken>> {
        let mut buffer = ReadBuf::new(buffer);
        let done = Pin::new(&mut self.stream).poll_read(context, &mut buffer);
        done.map(|done| done.map(|()| buffer.filled().len()).map_err(Broken::System))
    }
}
