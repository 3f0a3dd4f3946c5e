//! TCP in little memory: the buffers of a [`Station`](super::Station), and what the programs that drive one take.

use std::ops::RangeInclusive;

use super::{ETHERNET_HEADER_BYTES, MTU_BYTES, TcpProfile};

/// Sizes that a buffer may have: a segment, to what a window shows that is not scaled.
pub const BUFFERS: RangeInclusive<u32> = 1460..=65_535;
/// Buffers where none are asked for: those of mTCP's larger configurations.
const BUFFER_BYTES: u32 = 8 * 1024;
/// The ring of bytes to send is two send buffers long: few segments are cut where it begins anew.
const SEND_RINGS: usize = 2;
/// An acknowledgement of a single segment waits as long at most (RFC 1122, 4.2.3.2, allows 500 ms).
const DELAYED_ACK_NS: u64 = 200_000_000;

/// Largest amount that one read asks for: a segment.
pub const READ_BYTES: usize = 1460;
/// The longest frame.
pub const LONGEST_FRAME_BYTES: usize = ETHERNET_HEADER_BYTES + MTU_BYTES;
/// Room for a frame that has come, with 4 bytes by which one that is too long is seen.
pub const RECEIVED_FRAME_BYTES: usize = LONGEST_FRAME_BYTES + 4;
/// Ports of connections that are opened, which the system's own programs seldom get (RFC 6335, section 6: dynamic
/// ones): the first one, and how many.
pub const FIRST_PORT: u16 = 49_152;
/// See [`FIRST_PORT`].
pub const PORTS: u16 = 16_000;

/// A buffer that a station cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadBuffer {
    /// `receive_buffer_bytes` or `send_buffer_bytes`.
    pub key: &'static str,
    /// What was asked for.
    pub bytes: u32,
}

impl TcpProfile {
    /// Of a station in little memory, with buffers of these sizes or the usual ones.
    ///
    /// # Errors
    /// A buffer is none of [`BUFFERS`].
    pub fn small(
        receive_bytes: Option<u32>,
        send_bytes: Option<u32>,
        no_delay: bool,
    ) -> Result<Self, BadBuffer> {
        let bytes = |key, asked: Option<u32>| {
            let bytes = asked.unwrap_or(BUFFER_BYTES);
            if BUFFERS.contains(&bytes) {
                Ok(bytes as usize)
            } else {
                Err(BadBuffer { key, bytes })
            }
        };
        Ok(Self {
            mss_bytes: None,
            receive_buffer_bytes: bytes("receive_buffer_bytes", receive_bytes)?,
            send_buffer_bytes: bytes("send_buffer_bytes", send_bytes)?,
            send_rings: SEND_RINGS,
            delayed_ack_ns: Some(DELAYED_ACK_NS),
            nagle: !no_delay,
        })
    }
}
