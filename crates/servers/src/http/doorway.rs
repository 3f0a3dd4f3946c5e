//! Limited reading from connections before login.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::admission::Proof;

/// Bytes read at once before login. hyper's buffer starts at 8 KiB and doubles whenever a read fills it; smaller
/// reads keep it small, except for a long head.
const STRANGER_READ_BYTES: usize = 4 << 10;

/// A connection that is read in small pieces until its client has logged in.
#[derive(Debug)]
pub struct Doorway<S> {
    stream: S,
    proof: Option<Proof>,
}

impl<S> Doorway<S> {
    pub fn new(stream: S, proof: Proof) -> Self {
        Self { stream, proof: Some(proof) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Doorway<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, proof } = self.get_mut();
        proof.take_if(|proof| proof.is_given());
        let stream = Pin::new(stream);
        if proof.is_none() {
            return stream.poll_read(context, buffer);
        }
        let room = buffer.remaining().min(STRANGER_READ_BYTES);
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
        ready!(stream.poll_read(context, &mut part))?;
        let read = part.filled().len();
        buffer.advance(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Doorway<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, octets)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
