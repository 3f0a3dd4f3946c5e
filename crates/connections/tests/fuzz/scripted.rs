//! A peer that has said all it will say, for what must hold for any octets.

use std::collections::VecDeque;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Octets taken one after the other; zeros when there are no more.
#[derive(Debug)]
pub struct Feed<'a> {
    octets: &'a [u8],
}

impl<'a> Feed<'a> {
    pub fn new(octets: &'a [u8]) -> Self {
        Self { octets }
    }

    pub fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    pub fn rest(&self) -> &'a [u8] {
        self.octets
    }

    /// The next `length` octets, or as many as are left.
    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, left) = self.octets.split_at(length.min(self.octets.len()));
        self.octets = left;
        taken
    }

    pub fn u8(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// A number of 16 bits.
    pub fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.u8(), self.u8()])
    }

    /// Octets whose length is before them: what a fuzzer changes in them changes nothing behind.
    pub fn part(&mut self) -> &'a [u8] {
        let length = self.u16();
        self.take(length.into())
    }
}

/// A connection to a peer that has said all it will say. Each part comes in pieces of at most `size`
/// octets; where one is empty, nothing has come yet. What is sent to the peer is thrown away.
#[derive(Debug)]
pub struct Pieces {
    parts: VecDeque<Vec<u8>>,
    taken: usize,
    size: usize,
}

impl Pieces {
    pub fn new(said: &[u8], size: usize) -> Self {
        let parts = if said.is_empty() { VecDeque::new() } else { [said.to_vec()].into() };
        Self { parts, taken: 0, size }
    }

    /// In parts of their own, of which each is waited for.
    pub fn awaited(parts: &[&[u8]]) -> Self {
        let parts = parts.iter().flat_map(|part| [part.to_vec(), Vec::new()]).collect();
        Self { parts, taken: 0, size: usize::MAX }
    }
}

impl AsyncRead for Pieces {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let Some(part) = this.parts.front() else { return Poll::Ready(Ok(())) };
        let rest = &part[this.taken..];
        let count = rest.len().min(this.size).min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        let (was_empty, is_over) = (part.is_empty(), count == rest.len());
        this.taken += count;
        if is_over {
            this.parts.pop_front();
            this.taken = 0;
        }
        if was_empty {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pieces {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(data.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// What comes of something that has nothing to wait for.
///
/// # Panics
/// If it waits.
pub fn at_once<T>(work: impl Future<Output = T>) -> T {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits, and all is there"),
    }
}
