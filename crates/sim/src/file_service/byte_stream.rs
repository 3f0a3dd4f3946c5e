//! One end of a TCP connection in a world, read and written as a stream of bytes.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

use lanlab_files::{Class, Fault, Result};
use lanlab_stack::ip::{ConnectionId, Received, Refusal};

use super::message_port::{Work, work};
use crate::program::Host;
use crate::programs::keys::connection_key;
use crate::programs::{CLIENT_PORT, HostNode, connection};

const CALL_BYTES: usize = 64 << 10;

/// One end of a connection. Dropping it closes it; its buffers are freed when the peer has closed,
/// too. Each send or receive call costs CPU time of its host
/// ([`Machine::send_call`](crate::Machine::send_call),
/// [`Machine::receive_call`](crate::Machine::receive_call)).
pub struct ByteStream {
    host: Host<HostNode>,
    connection: ConnectionId,
    sending: Work,
    sent: usize,
    receiving: Work,
    received: Vec<u8>,
}

impl ByteStream {
    fn new(host: Host<HostNode>, connection: ConnectionId) -> Self {
        let (sending, receiving) = (Work::None, Work::None);
        Self { host, connection, sending, sent: 0, receiving, received: Vec::new() }
    }

    /// Connect to a port of another host.
    pub async fn connect(host: &Host<HostNode>, address: SocketAddr) -> Result<Self> {
        let connection = open(host, address).await?;
        Ok(Self::new(host.clone(), connection))
    }

    /// Wait for a connection to a port of this host on which
    /// [`Interface::listen`](lanlab_stack::ip::Interface::listen) listens.
    pub async fn accept(host: &Host<HostNode>, port: u16) -> Self {
        Self::new(host.clone(), connection::accept(host, port).await)
    }

    /// Receive arrived data, or wait for it; empty if the peer has sent everything.
    pub fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.received.is_empty() {
            let (connection, received) = (self.connection, &mut self.received);
            let taken = self.host.with_node(|node, now| {
                let interface = &mut node.ip.interface;
                let count = interface.readable_bytes(connection).min(into.len()).min(CALL_BYTES);
                received.resize(count, 0);
                interface.receive(now, connection, received)
            });
            self.received.truncate(if let Received::Bytes(count) = taken { count } else { 0 });
            match taken {
                Received::Bytes(_) => {}
                Received::Nothing => {
                    self.host.wait(cx, connection_key(connection), "bytes of its peer");
                    return Poll::Pending;
                }
                Received::End => return Poll::Ready(Ok(0)),
                Received::Broken => return Poll::Ready(Err(ErrorKind::ConnectionReset.into())),
            }
        }
        let (host, count) = (&self.host, self.received.len());
        ready!(self.receiving.poll(cx, || work(host, host.receive_call(), count)));
        self.receiving = Work::None;
        // An earlier call that was dropped may have requested more bytes.
        let count = count.min(into.len());
        into[..count].copy_from_slice(&self.received[..count]);
        self.received.drain(..count);
        Poll::Ready(Ok(count))
    }

    /// Send the first bytes of `data` once there is room; returns their number.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let data = &data[..data.len().min(CALL_BYTES)];
        let host = &self.host;
        ready!(self.sending.poll(cx, || work(host, host.send_call(), data.len())));
        let (connection, left) = (self.connection, &data[self.sent.min(data.len())..]);
        let (count, is_open) = self.host.with_node(|node, now| {
            let interface = &mut node.ip.interface;
            (interface.send(now, connection, left), interface.is_open(connection))
        });
        self.sent += count;
        if self.sent < data.len() {
            if !is_open {
                return Poll::Ready(Err(ErrorKind::ConnectionReset.into()));
            }
            self.host.wait(cx, connection_key(connection), "room in its send buffer");
            return Poll::Pending;
        }
        self.sending = Work::None;
        Poll::Ready(Ok(std::mem::take(&mut self.sent).min(data.len())))
    }

    /// Close the sending direction; data from the peer can still be received.
    pub fn close(&self) {
        let connection = self.connection;
        self.host.with_node(|node, now| node.ip.interface.close(now, connection));
    }
}

impl Drop for ByteStream {
    fn drop(&mut self) {
        let connection = self.connection;
        self.host.with_node_of_drop(|node, now| node.ip.interface.leave(now, connection));
    }
}

pub(super) async fn open(host: &Host<HostNode>, address: SocketAddr) -> Result<ConnectionId> {
    let refused = |what: &str| Fault::new(Class::Refused, format!("{address}: {what}"));
    let connect = || {
        host.with_node(|node, now| {
            let port = node.ip.any_port();
            node.ip.interface.connect(now, port, address)
        })
    };
    let mut opened = connect();
    for _ in CLIENT_PORT..u16::MAX {
        if !matches!(opened, Err(Refusal::PortInUse(_))) {
            break;
        }
        opened = connect();
    }
    let connection = opened.map_err(|refusal| refused(&refusal.to_string()))?;
    let look = |node: &mut HostNode, _| {
        let interface = &node.ip.interface;
        let is_open = interface.is_open(connection);
        (is_open || interface.is_over(connection)).then_some(is_open)
    };
    if !host.until(connection_key(connection), "its connection to open", look).await {
        return Err(refused("the connection was not opened"));
    }
    Ok(connection)
}
