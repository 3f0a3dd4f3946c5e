//! The UDP sockets of an interface.

use std::net::SocketAddr;

use super::{Interface, SocketId, Waiting};
use crate::ip::udp::{Datagram, Socket};
use crate::ip::{Refusal, frames};

impl Interface {
    /// Open a UDP socket with buffers of these sizes. Each datagram uses its payload and
    /// [`OVERHEAD_BYTES`](crate::ip::OVERHEAD_BYTES); one always fits.
    ///
    /// # Errors [`Refusal::PortInUse`].
    pub fn bind(
        &mut self,
        port: u16,
        receive_buffer_bytes: usize,
        send_buffer_bytes: usize,
    ) -> Result<SocketId, Refusal> {
        if self.sockets.iter().any(|socket| socket.port == port) {
            return Err(Refusal::PortInUse(port));
        }
        self.sockets.push(Socket::new(port, receive_buffer_bytes, send_buffer_bytes));
        Ok(SocketId(self.sockets.len() - 1))
    }

    /// Send a datagram.
    ///
    /// # Errors [`Refusal::Full`] if there is no room now; other refusals are permanent.
    pub fn send_datagram(
        &mut self,
        id: SocketId,
        to: SocketAddr,
        payload: &[u8],
    ) -> Result<(), Refusal> {
        let longest_bytes = frames::longest_datagram_bytes(to.ip());
        if payload.len() > longest_bytes {
            return Err(Refusal::TooLong { bytes: payload.len(), longest_bytes });
        }
        let (from, mac) = self.way_to(to)?;
        let socket = &mut self.sockets[id.0];
        if !socket.has_room_for(payload.len()) {
            socket.waits_for_room = true;
            return Err(Refusal::Full);
        }
        socket.queued(payload.len());
        let from = SocketAddr::new(from, socket.port);
        let mut frame = self.unused.pop().unwrap_or_default();
        frames::emit_datagram((self.config.mac, mac), from, to, payload, &mut frame);
        self.datagrams.push_back(Waiting { frame, socket: id.0, bytes: payload.len() });
        Ok(())
    }

    pub fn receive_datagram(&mut self, id: SocketId, into: &mut Vec<u8>) -> Option<Datagram> {
        self.sockets[id.0].take(into)
    }

    pub fn has_datagram(&self, id: SocketId) -> bool {
        self.sockets[id.0].has_received()
    }

    pub fn datagram_bytes(&self, id: SocketId) -> Option<usize> {
        self.sockets[id.0].next_bytes()
    }
}
