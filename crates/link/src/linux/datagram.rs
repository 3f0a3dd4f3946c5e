use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use super::{check, set_option};
use crate::socket_options;
use crate::{BATCH_MESSAGES, DatagramOptions, Received};

/// Room for one control message that carries an `int`, aligned as `cmsghdr` wants it.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; 32]);

/// A UDP socket that can send and receive many datagrams in one system call.
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

    /// Have the kernel tell of datagrams that it drops on this host: `send` then fails with
    /// `ENOBUFS` instead of pretending (`IP_RECVERR`, ip(7)).
    ///
    /// # Errors
    /// The system's own.
    pub fn enable_local_drop_reports(&self) -> io::Result<()> {
        let on: libc::c_int = 1;
        match self.socket.local_addr()? {
            SocketAddr::V4(_) => {
                set_option(self.socket.as_fd(), libc::IPPROTO_IP, libc::IP_RECVERR, &on)
            }
            SocketAddr::V6(_) => {
                set_option(self.socket.as_fd(), libc::IPPROTO_IPV6, libc::IPV6_RECVERR, &on)
            }
        }
    }

    /// Let the kernel join datagrams of one size on reception (`UDP_GRO`, udp(7)).
    ///
    /// # Errors
    /// The system's own.
    pub fn enable_segment_receive(&self) -> io::Result<()> {
        let on: libc::c_int = 1;
        set_option(self.socket.as_fd(), libc::SOL_UDP, libc::UDP_GRO, &on)
    }

    /// The plain socket, for everything that the standard library does.
    pub fn plain(&self) -> &UdpSocket {
        &self.socket
    }

    /// How long a receive waits; `None` is for ever.
    ///
    /// # Errors
    /// The system's own.
    pub fn set_receive_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.set_read_timeout(timeout)
    }

    /// A datagram that is already there, or `None`.
    ///
    /// # Errors
    /// The system's own, `ConnectionRefused` if the peer's port is closed.
    pub fn try_receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        // SAFETY: pointer and length describe `buffer`.
        let received = unsafe {
            libc::recv(
                self.socket.as_raw_fd(),
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                libc::MSG_DONTWAIT,
            )
        };
        if received >= 0 {
            return Ok(Some(received.cast_unsigned()));
        }
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) }
    }

    /// Send the first `count` messages of `batch` to the connected peer (`sendmmsg`).
    ///
    /// # Errors
    /// The system's own, if the first of them was not sent.
    ///
    /// # Returns
    /// How many were sent, at least one.
    pub fn send_batch(&self, batch: &mut SendBatch, count: usize) -> io::Result<usize> {
        let count = batch.point(count);
        // SAFETY: `point` has set up `count` headers whose vectors describe `batch`'s own octets.
        let sent = check(unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                batch.headers.as_mut_ptr(),
                count as libc::c_uint,
                0,
            )
        })?;
        Ok(sent.cast_unsigned() as usize)
    }

    /// Send the first `count` messages of `batch` to the connected peer as one buffer that the
    /// kernel or the device cuts up (`UDP_SEGMENT`, udp(7)).
    ///
    /// # Errors
    /// The system's own; `EIO` if the device cannot, `EMSGSIZE` or `EINVAL` if the messages do not
    /// fit its limits. None was sent then.
    pub fn send_segments(&self, batch: &SendBatch, count: usize) -> io::Result<()> {
        let bytes = &batch.octets[..count.min(batch.capacity()) * batch.message_bytes];
        let mut vector =
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut control = Control([0; 32]);
        // SAFETY: all-zero is a valid msghdr; the vector describes `bytes`, which is only read; the
        // control buffer is aligned and large enough for one header and a u16.
        check(unsafe {
            let mut header: libc::msghdr = std::mem::zeroed();
            header.msg_iov = &raw mut vector;
            header.msg_iovlen = 1;
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(size_of::<u16>() as u32) as _;
            let message = libc::CMSG_FIRSTHDR(&raw const header);
            (*message).cmsg_level = libc::SOL_UDP;
            (*message).cmsg_type = libc::UDP_SEGMENT;
            (*message).cmsg_len = libc::CMSG_LEN(size_of::<u16>() as u32) as _;
            libc::CMSG_DATA(message).cast::<u16>().write_unaligned(batch.message_bytes as u16);
            libc::sendmsg(self.socket.as_raw_fd(), &raw const header, 0) as libc::c_int
        })
        .map(drop)
    }

    /// Wait for one buffer, then take whatever else is there (`recvmmsg`, `MSG_WAITFORONE`).
    ///
    /// # Errors
    /// The system's own; `WouldBlock` if the receive timeout has passed.
    pub fn receive_batch(&self, batch: &mut ReceiveBatch) -> io::Result<usize> {
        batch.received = 0;
        if batch.capacity() == 1 && !batch.joined {
            return self.receive_one(batch);
        }
        batch.point();
        // SAFETY: `point` has set up every header; vectors and control describe `batch`'s own
        // buffers.
        let received = check(unsafe {
            libc::recvmmsg(
                self.socket.as_raw_fd(),
                batch.headers.as_mut_ptr(),
                batch.headers.len() as libc::c_uint,
                libc::MSG_WAITFORONE,
                std::ptr::null_mut(),
            )
        })?;
        batch.received = received.cast_unsigned() as usize;
        Ok(batch.received)
    }

    /// One datagram, by the plain call that a plain program would use.
    fn receive_one(&self, batch: &mut ReceiveBatch) -> io::Result<usize> {
        let length = self.socket.recv(&mut batch.octets)?;
        batch.headers[0].msg_len = length as u32;
        batch.received = 1;
        Ok(1)
    }
}

/// Messages of one size, side by side, ready to be sent together.
#[derive(Debug)]
pub struct SendBatch {
    message_bytes: usize,
    octets: Vec<u8>,
    vectors: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

impl SendBatch {
    /// Room for `messages` messages of `message_bytes`, filled with `padding`'s octets in turn.
    pub fn new(messages: usize, message_bytes: usize, padding: impl FnMut() -> u8) -> Self {
        let messages = messages.clamp(1, BATCH_MESSAGES);
        let octets = std::iter::repeat_with(padding).take(messages * message_bytes).collect();
        let vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        // SAFETY: all-zero is a valid mmsghdr.
        let header: libc::mmsghdr = unsafe { std::mem::zeroed() };
        Self {
            message_bytes,
            octets,
            vectors: vec![vector; messages],
            headers: vec![header; messages],
        }
    }

    /// How many messages there is room for.
    pub fn capacity(&self) -> usize {
        self.headers.len()
    }

    /// Message `index`, to be written to.
    pub fn message(&mut self, index: usize) -> &mut [u8] {
        let start = index * self.message_bytes;
        &mut self.octets[start..start + self.message_bytes]
    }

    /// Point the headers at the octets, which may have moved with `self` since the last call.
    fn point(&mut self, count: usize) -> usize {
        let count = count.clamp(1, self.headers.len());
        for (index, message) in
            self.octets.chunks_mut(self.message_bytes.max(1)).take(count).enumerate()
        {
            self.vectors[index] =
                libc::iovec { iov_base: message.as_mut_ptr().cast(), iov_len: message.len() };
            self.headers[index].msg_hdr.msg_iov = &raw mut self.vectors[index];
            self.headers[index].msg_hdr.msg_iovlen = 1;
        }
        count
    }
}

/// Buffers for many datagrams.
#[derive(Debug)]
pub struct ReceiveBatch {
    buffer_bytes: usize,
    octets: Vec<u8>,
    controls: Vec<Control>,
    vectors: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
    received: usize,
    joined: bool,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Control")
    }
}

impl ReceiveBatch {
    /// Room for `buffers` datagrams of at most `buffer_bytes`; what is longer is cut. `joined` if
    /// the socket may join datagrams (`UDP_GRO`).
    pub fn new(buffers: usize, buffer_bytes: usize, joined: bool) -> Self {
        let buffers = buffers.clamp(1, BATCH_MESSAGES);
        let vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        // SAFETY: all-zero is a valid mmsghdr.
        let header: libc::mmsghdr = unsafe { std::mem::zeroed() };
        Self {
            buffer_bytes,
            octets: vec![0; buffers * buffer_bytes],
            controls: vec![Control([0; 32]); buffers],
            vectors: vec![vector; buffers],
            headers: vec![header; buffers],
            received: 0,
            joined,
        }
    }

    /// How many buffers there are.
    pub fn capacity(&self) -> usize {
        self.headers.len()
    }

    /// What the last receive brought.
    pub fn received(&self) -> impl Iterator<Item = Received<'_>> {
        (0..self.received).map(|index| {
            let start = index * self.buffer_bytes;
            let length = (self.headers[index].msg_len as usize).min(self.buffer_bytes);
            Received {
                bytes: &self.octets[start..start + length],
                segment_bytes: if self.joined {
                    segment_bytes(&self.headers[index].msg_hdr)
                } else {
                    None
                },
            }
        })
    }

    /// Point the headers at the buffers, which may have moved with `self`, and restore the lengths
    /// that the last receive has overwritten.
    fn point(&mut self) {
        let buffers = self.octets.chunks_mut(self.buffer_bytes.max(1));
        for (index, buffer) in buffers.enumerate().take(self.headers.len()) {
            self.vectors[index] =
                libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
            let header = &mut self.headers[index].msg_hdr;
            header.msg_iov = &raw mut self.vectors[index];
            header.msg_iovlen = 1;
            if self.joined {
                header.msg_control = self.controls[index].0.as_mut_ptr().cast();
                header.msg_controllen = size_of::<Control>() as _;
            }
        }
    }
}

/// The `UDP_GRO` control message, if there is one.
fn segment_bytes(header: &libc::msghdr) -> Option<usize> {
    // SAFETY: the kernel has filled `header`, whose control buffer lives as long as its batch; the
    // macros stay within the length that the kernel has set.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        while !message.is_null() {
            if (*message).cmsg_level == libc::SOL_UDP && (*message).cmsg_type == libc::UDP_GRO {
                let size = libc::CMSG_DATA(message).cast::<libc::c_int>().read_unaligned();
                return usize::try_from(size).ok().filter(|size| *size > 0);
            }
            message = libc::CMSG_NXTHDR(header, message);
        }
    }
    None
}
