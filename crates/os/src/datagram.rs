pub const BATCH_MESSAGES: usize = 64;

/// Options of a datagram socket. `None` leaves the system's default.
#[derive(Debug, Clone, Copy, Default)]
pub struct DatagramOptions {
    /// `SO_SNDBUF`, bytes.
    pub send_buffer_bytes: Option<usize>,
    /// `SO_RCVBUF`, bytes.
    pub receive_buffer_bytes: Option<usize>,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Share the port with other sockets of this user; connected sockets have priority.
    pub shares_port: bool,
}

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
