use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use crate::{BATCH_MESSAGES, DatagramOptions, Received, socket_options};

#[derive(Debug)]
pub struct DatagramSocket {
    socket: UdpSocket,
}

impl DatagramSocket {
    /// Bind to `address`, port 0 for any.
    ///
    /// # Errors
    /// The system's own; `InvalidInput` if it does not grant a buffer size asked for.
    pub fn bind(address: SocketAddr, options: &DatagramOptions) -> io::Result<Self> {
        Ok(Self { socket: socket_options::bind_datagram(address, options)? })
    }

    /// A socket for ICMP echo, and whether it is a raw one: see [`socket_options::bind_icmp`].
    pub fn bind_icmp(address: SocketAddr, options: &DatagramOptions) -> io::Result<(Self, bool)> {
        let (socket, is_raw) = socket_options::bind_icmp(address, options)?;
        Ok((Self { socket }, is_raw))
    }

    /// Unsupported here; local drops are not seen, as [`crate::capabilities`] reports.
    pub fn enable_local_drop_reports(&self) -> io::Result<()> {
        Ok(())
    }

    pub fn enable_path_probing(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn is_too_long(_error: &io::Error) -> bool {
        false
    }

    pub fn enable_segment_receive(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Unsupported here; drops are not seen, as [`crate::capabilities`] reports.
    pub fn enable_drop_counts(&self) -> io::Result<()> {
        Ok(())
    }

    pub fn dropped(&self) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn enable_kernel_timestamps(&self, _sent: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn sent_stamp(&self) -> io::Result<Option<(u32, u64)>> {
        Ok(None)
    }

    /// Do `call` without waiting, unless `wait` is true.
    fn now_or_waiting<T>(&self, wait: bool, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if wait {
            return call();
        }
        self.socket.set_nonblocking(true)?;
        let done = call();
        self.socket.set_nonblocking(false)?;
        done
    }

    /// Send one message to the connected peer; with `wait` until there is room for it.
    ///
    /// # Errors
    /// The system's own; `WouldBlock` if there is no room.
    pub fn send_one(&self, message: &[u8], wait: bool) -> io::Result<()> {
        self.now_or_waiting(wait, || self.socket.send(message)).map(drop)
    }

    pub fn plain(&self) -> &UdpSocket {
        &self.socket
    }

    /// How long a receive waits; `None` is for ever.
    pub fn set_receive_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.set_read_timeout(timeout)
    }

    /// A datagram that is already there, or `None`.
    pub fn try_receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.now_or_waiting(false, || self.socket.recv(buffer)) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Send the first message of `batch`, as there is one system call per message.
    pub fn send_batch(
        &self,
        batch: &mut SendBatch,
        _count: usize,
        wait: bool,
    ) -> io::Result<usize> {
        self.send_one(batch.message(0), wait).map(|()| 1)
    }

    pub fn send_segments(&self, _batch: &SendBatch, _count: usize, _wait: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Take one datagram; with `wait`, wait for it.
    ///
    /// # Errors
    /// The system's own; `WouldBlock` or `TimedOut` if there is none, or the receive timeout has
    /// passed.
    pub fn receive_batch(&self, batch: &mut ReceiveBatch, wait: bool) -> io::Result<usize> {
        batch.received = None;
        let octets = &mut batch.octets;
        batch.received = Some(self.now_or_waiting(wait, || self.socket.recv(octets))?);
        Ok(1)
    }
}

#[derive(Debug)]
pub struct SendBatch {
    message_bytes: usize,
    octets: Vec<u8>,
}

impl SendBatch {
    /// Room for `messages` messages of `message_bytes`, filled with `padding`'s bytes in turn.
    pub fn new(messages: usize, message_bytes: usize, padding: impl FnMut() -> u8) -> Self {
        let octets = messages.clamp(1, BATCH_MESSAGES) * message_bytes;
        Self { message_bytes, octets: std::iter::repeat_with(padding).take(octets).collect() }
    }

    pub fn capacity(&self) -> usize {
        self.octets.len() / self.message_bytes.max(1)
    }

    pub fn message(&mut self, index: usize) -> &mut [u8] {
        let start = index * self.message_bytes;
        &mut self.octets[start..start + self.message_bytes]
    }
}

#[derive(Debug)]
pub struct ReceiveBatch {
    octets: Vec<u8>,
    received: Option<usize>,
}

impl ReceiveBatch {
    pub fn new(_buffers: usize, buffer_bytes: usize) -> Self {
        Self { octets: vec![0; buffer_bytes], received: None }
    }

    pub fn plain(buffer_bytes: usize) -> Self {
        Self::new(1, buffer_bytes)
    }

    pub fn received(&self) -> impl Iterator<Item = Received<'_>> {
        self.received.iter().map(|length| Received {
            bytes: &self.octets[..*length],
            segment_bytes: None,
            drops: 0,
            kernel_realtime_ns: None,
        })
    }
}
