//! A connection of a station as a byte stream.

use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use lanlab_os as os;
use lanlab_stack::ip::small::READ_BYTES;
use lanlab_stack::ip::{ConnectionFacts, ConnectionId, Received};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::shared::Shared;
use crate::link_thread::AtLink;

#[derive(Debug)]
pub struct SmallStream {
    _node: Arc<dyn Debug + Send + Sync>,
    shared: Arc<Shared>,
    id: ConnectionId,
    pub peer: SocketAddr,
}

impl SmallStream {
    pub(super) fn new(
        node: Arc<dyn Debug + Send + Sync>,
        shared: Arc<Shared>,
        id: ConnectionId,
        peer: SocketAddr,
    ) -> Self {
        Self { _node: node, shared, id, peer }
    }

    pub fn local_address(&self) -> SocketAddr {
        self.shared.state().framed.station.interface.local(self.id)
    }

    pub fn facts(&self) -> ConnectionFacts {
        self.shared.state().framed.station.interface.facts(self.id)
    }

    pub(super) fn poll_open(&self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.state();
        state.check()?;
        if state.framed.station.interface.is_open(self.id) {
            return Poll::Ready(Ok(()));
        }
        if state.framed.station.interface.is_over(self.id) {
            return Poll::Ready(Err(ErrorKind::ConnectionRefused.into()));
        }
        state.wait(cx);
        Poll::Pending
    }
}

impl AsyncRead for SmallStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.shared.with(|state| {
            state.check()?;
            let now = os::monotonic();
            let before = buffer.remaining();
            loop {
                let wanted = buffer.remaining().min(READ_BYTES);
                if wanted == 0 {
                    return Poll::Ready(Ok(()));
                }
                let room = buffer.initialize_unfilled_to(wanted);
                match state.framed.station.interface.receive(now, self.id, room) {
                    Received::Bytes(count) => buffer.advance(count),
                    _ if buffer.remaining() < before => return Poll::Ready(Ok(())),
                    Received::End => return Poll::Ready(Ok(())),
                    Received::Broken => {
                        return Poll::Ready(Err(ErrorKind::ConnectionReset.into()));
                    }
                    Received::Nothing => {
                        state.wait(cx);
                        return Poll::Pending;
                    }
                }
            }
        })
    }
}

impl AsyncWrite for SmallStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.shared.with(|state| {
            state.check()?;
            let interface = &mut state.framed.station.interface;
            let count = interface.send(os::monotonic(), self.id, data);
            if count > 0 || data.is_empty() {
                return Poll::Ready(Ok(count));
            }
            if !interface.is_open(self.id) {
                return Poll::Ready(Err(ErrorKind::ConnectionReset.into()));
            }
            state.wait(cx);
            Poll::Pending
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared.with(|state| state.framed.station.interface.close(os::monotonic(), self.id));
        Poll::Ready(Ok(()))
    }
}

impl Drop for SmallStream {
    fn drop(&mut self) {
        self.shared.with(|state| state.framed.station.interface.leave(os::monotonic(), self.id));
    }
}
