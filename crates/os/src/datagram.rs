mod batches;
mod control;

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use super::socket_options::{self, DatagramOptions};
use super::tcp::receive;
use super::{check, set_option};
use control::{CONTROL_BYTES, Control, ControlNotes};

pub use batches::{ReceiveBatch, SendBatch};

pub const BATCH_MESSAGES: usize = 64;

/// A received buffer: one datagram, or several of equal size joined by the kernel.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    pub bytes: &'a [u8],
    pub segment_bytes: Option<usize>,
    /// Datagrams dropped for lack of buffer room before this one, if counting was enabled: over the socket's life,
    /// modulo 2³².
    pub drops: u32,
    /// Calendar clock when the kernel received it from the device, if timestamps were enabled.
    pub kernel_realtime_ns: Option<u64>,
}

impl<'a> Received<'a> {
    pub fn datagrams(self) -> impl Iterator<Item = &'a [u8]> {
        let size = self.segment_bytes.unwrap_or(self.bytes.len()).max(1);
        // An empty datagram is one datagram, though it has no chunk.
        let empty = self.bytes.is_empty().then_some(self.bytes);
        empty.into_iter().chain(self.bytes.chunks(size))
    }
}

#[derive(Debug)]
pub struct DatagramSocket {
    socket: UdpSocket,
}

impl DatagramSocket {
    /// Bind to `address`, port 0 for any.
    ///
    /// # Errors
    /// A system error; `InvalidInput` if a requested buffer size is not granted.
    pub fn bind(address: SocketAddr, options: &DatagramOptions) -> io::Result<Self> {
        Ok(Self { socket: socket_options::bind_datagram(address, options)? })
    }

    pub fn bind_icmp(address: SocketAddr, options: &DatagramOptions) -> io::Result<(Self, bool)> {
        let (socket, is_raw) = socket_options::bind_icmp(address, options)?;
        Ok((Self { socket }, is_raw))
    }

    /// Have the kernel report datagrams that it drops on this host: `send` then fails with `ENOBUFS` instead
    /// of reporting success (`IP_RECVERR`, ip(7)).
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

    /// Never fragment. Only the device's MTU limits a datagram, not the path MTU known to the kernel
    /// (`IP_PMTUDISC_PROBE`, ip(7)).
    pub fn enable_path_probing(&self) -> io::Result<()> {
        let socket = self.socket.as_fd();
        match self.socket.local_addr()? {
            SocketAddr::V4(_) => {
                let probe = libc::IP_PMTUDISC_PROBE;
                set_option(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, &probe)
            }
            SocketAddr::V6(_) => {
                let probe = libc::IPV6_PMTUDISC_PROBE;
                set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, &probe)
            }
        }
    }

    /// Whether an error means that a datagram is longer than the device or the path carries.
    pub fn is_too_long(error: &io::Error) -> bool {
        error.raw_os_error() == Some(libc::EMSGSIZE)
    }

    /// Let the kernel join datagrams of one size on reception (`UDP_GRO`, udp(7)).
    pub fn enable_segment_receive(&self) -> io::Result<()> {
        let on: libc::c_int = 1;
        set_option(self.socket.as_fd(), libc::SOL_UDP, libc::UDP_GRO, &on)
    }

    /// Have the kernel report with each datagram how many it had dropped because this socket's buffer was
    /// full (`SO_RXQ_OVFL`, socket(7)): see [`Received::drops`].
    pub fn enable_drop_counts(&self) -> io::Result<()> {
        let on: libc::c_int = 1;
        set_option(self.socket.as_fd(), libc::SOL_SOCKET, libc::SO_RXQ_OVFL, &on)
    }

    /// Datagrams dropped so far because this socket's buffer was full (`SO_MEMINFO`).
    pub fn dropped(&self) -> io::Result<u32> {
        // include/uapi/linux/sock_diag.h: SK_MEMINFO_DROPS is the last of nine numbers.
        const SK_MEMINFO_DROPS: usize = 8;
        let mut numbers = [0_u32; SK_MEMINFO_DROPS + 1];
        let mut length = size_of_val(&numbers) as libc::socklen_t;
        // SAFETY: pointer and length describe `numbers`; any bytes are valid numbers.
        check(unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_MEMINFO,
                numbers.as_mut_ptr().cast(),
                &raw mut length,
            )
        })?;
        Ok(numbers[SK_MEMINFO_DROPS])
    }

    /// Have the kernel timestamp datagrams when it gets them from the device (`SO_TIMESTAMPING`): see
    /// [`Received::kernel_realtime_ns`]. With `sent`, also when it passes sent ones to the device: see
    /// [`Self::sent_stamp`].
    pub fn enable_kernel_timestamps(&self, sent: bool) -> io::Result<()> {
        let mut flags = libc::SOF_TIMESTAMPING_SOFTWARE | libc::SOF_TIMESTAMPING_RX_SOFTWARE;
        if sent {
            flags |= libc::SOF_TIMESTAMPING_TX_SOFTWARE
                | libc::SOF_TIMESTAMPING_OPT_ID
                | libc::SOF_TIMESTAMPING_OPT_TSONLY;
        }
        set_option(self.socket.as_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &flags)
    }

    /// The next timestamp of a sent datagram, if any: its number since timestamps were enabled, and the
    /// calendar clock, nanoseconds.
    pub fn sent_stamp(&self) -> io::Result<Option<(u32, u64)>> {
        let mut control = Control([0; CONTROL_BYTES]);
        // SAFETY: all-zero is a valid msghdr; the control buffer has the stated length and outlives the call.
        let header = unsafe {
            let mut header: libc::msghdr = std::mem::zeroed();
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = CONTROL_BYTES as _;
            let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
            if libc::recvmsg(self.socket.as_raw_fd(), &raw mut header, flags) < 0 {
                let error = io::Error::last_os_error();
                return if error.kind() == io::ErrorKind::WouldBlock {
                    Ok(None)
                } else {
                    Err(error)
                };
            }
            header
        };
        let notes = ControlNotes::of(&header);
        Ok(notes.stamp_number.zip(notes.kernel_realtime_ns))
    }

    /// Send one message to the connected peer; `wait` blocks until there is room.
    pub fn send_one(&self, message: &[u8], wait: bool) -> io::Result<()> {
        // SAFETY: pointer and length describe `message`.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                message.as_ptr().cast(),
                message.len(),
                if wait { 0 } else { libc::MSG_DONTWAIT },
            )
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    pub fn plain(&self) -> &UdpSocket {
        &self.socket
    }

    /// Receive time-out; `None`: no limit.
    pub fn set_receive_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.set_read_timeout(timeout)
    }

    /// An arrived datagram, or `None`.
    ///
    /// # Errors
    /// A system error; `ConnectionRefused` if the peer's port is closed.
    pub fn try_receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match receive(&self.socket, buffer, libc::MSG_DONTWAIT) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            received => received.map(Some),
        }
    }

    /// Send the first `count` messages of `batch` to the connected peer (`sendmmsg`); `wait` blocks until
    /// there is room.
    ///
    /// # Errors
    /// A system error if the first message was not sent; `WouldBlock` if there is no room.
    ///
    /// # Returns
    /// Number of messages sent, at least one.
    pub fn send_batch(&self, batch: &mut SendBatch, count: usize, wait: bool) -> io::Result<usize> {
        let count = batch.point(count);
        // SAFETY: `point` has set up `count` headers whose vectors describe `batch`'s own bytes.
        let sent = check(unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                batch.headers.as_mut_ptr(),
                count as libc::c_uint,
                if wait { 0 } else { libc::MSG_DONTWAIT },
            )
        })?;
        Ok(sent.cast_unsigned() as usize)
    }

    /// Send the first `count` messages of `batch` to the connected peer as one buffer that the kernel or the
    /// device splits (`UDP_SEGMENT`, udp(7)); `wait` blocks until there is room.
    ///
    /// # Errors
    /// A system error; `EIO` if the device cannot split, `EMSGSIZE` or `EINVAL` if the messages exceed its
    /// limits. Nothing was sent then.
    pub fn send_segments(&self, batch: &SendBatch, count: usize, wait: bool) -> io::Result<()> {
        let bytes = &batch.octets[..count.min(batch.capacity()) * batch.message_bytes];
        let mut vector =
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut control = Control([0; CONTROL_BYTES]);
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
            let flags = if wait { 0 } else { libc::MSG_DONTWAIT };
            libc::sendmsg(self.socket.as_raw_fd(), &raw const header, flags) as libc::c_int
        })
        .map(drop)
    }

    /// Receive waiting buffers (`recvmmsg`); `wait` blocks until there is one.
    pub fn receive_batch(&self, batch: &mut ReceiveBatch, wait: bool) -> io::Result<usize> {
        batch.received = 0;
        if batch.is_plain {
            return self.receive_plain(batch, wait);
        }
        batch.point();
        let descriptor = self.socket.as_raw_fd();
        let flags = if wait { libc::MSG_WAITFORONE } else { libc::MSG_DONTWAIT };
        // SAFETY: `point` has set up every header; vectors and control describe `batch`'s own
        // buffers.
        batch.received = unsafe {
            if batch.headers.len() == 1 {
                // The call of a plain program.
                let header = &mut batch.headers[0];
                let length =
                    libc::recvmsg(descriptor, &raw mut header.msg_hdr, flags & libc::MSG_DONTWAIT);
                if length < 0 {
                    return Err(io::Error::last_os_error());
                }
                header.msg_len = length as u32;
                1
            } else {
                let buffers = batch.headers.len() as libc::c_uint;
                let headers = batch.headers.as_mut_ptr();
                let no_time = std::ptr::null_mut();
                check(libc::recvmmsg(descriptor, headers, buffers, flags, no_time))?.cast_unsigned()
                    as usize
            }
        };
        Ok(batch.received)
    }

    fn receive_plain(&self, batch: &mut ReceiveBatch, wait: bool) -> io::Result<usize> {
        let flags = if wait { 0 } else { libc::MSG_DONTWAIT };
        batch.headers[0].msg_len = receive(&self.socket, &mut batch.octets, flags)? as u32;
        batch.received = 1;
        Ok(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_datagrams_are_split_again() {
        let sizes = |bytes: &[u8], segment_bytes| -> Vec<usize> {
            Received { bytes, segment_bytes, drops: 0, kernel_realtime_ns: None }
                .datagrams()
                .map(<[u8]>::len)
                .collect()
        };
        assert_eq!(sizes(&[0; 10], None), [10]);
        assert_eq!(sizes(&[0; 10], Some(4)), [4, 4, 2]);
        assert_eq!(sizes(&[], None), [0]);
        assert_eq!(sizes(&[0; 3], Some(0)), [1, 1, 1]);
    }
}
