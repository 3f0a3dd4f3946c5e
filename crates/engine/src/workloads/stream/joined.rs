//! Reception of datagrams joined by the kernel.

use std::io;

use lanlab_os::{BATCH_MESSAGES, DatagramSocket};

/// Largest joined datagram of the kernel, bytes.
pub const JOINED_BYTES: usize = 65_536;
/// A joined datagram counts in full against the socket's buffer: Linux's usual 208 KiB holds three, and further
/// ones are lost while the receiver is not running. So the buffer holds as many as one call reads.
const ROOM_BYTES: usize = BATCH_MESSAGES * JOINED_BYTES;

/// Enable joining, and enlarge the buffer as far as the system permits, unless a size was requested. The result
/// contains the actual size.
///
/// # Errors The system cannot join datagrams.
pub fn enable(socket: &DatagramSocket, asked_bytes: Option<u32>) -> io::Result<()> {
    socket.enable_segment_receive()?;
    if asked_bytes.is_none() {
        // Linux silently limits it to `net.core.rmem_max`.
        let _ = socket2::SockRef::from(socket.plain()).set_recv_buffer_size(ROOM_BYTES);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanlab_os::DatagramOptions;

    fn buffer_bytes(asked_bytes: Option<u32>) -> usize {
        let options = DatagramOptions {
            receive_buffer_bytes: asked_bytes.map(|bytes| bytes as usize),
            ..DatagramOptions::default()
        };
        let socket = DatagramSocket::bind(([127, 0, 0, 1], 0).into(), &options).unwrap();
        enable(&socket, asked_bytes).unwrap();
        socket2::SockRef::from(socket.plain()).recv_buffer_size().unwrap()
    }

    #[test]
    fn buffers_hold_all_joined_datagrams_up_to_the_limit() {
        let allowed = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap();
        // 64 datagrams of 64 KiB.
        let granted = 4_194_304.min(allowed.trim().parse().unwrap());
        // Linux reports twice the requested size (socket(7)).
        assert_eq!(buffer_bytes(None), 2 * granted);
    }

    #[test]
    fn a_requested_size_is_kept() {
        assert_eq!(buffer_bytes(Some(100_000)), 200_000);
    }
}
