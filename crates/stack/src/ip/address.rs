//! Configuration of an interface.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

pub type Mac = [u8; 6];

#[derive(Debug, Clone)]
pub struct Config {
    pub mac: Mac,
    /// At most one address of each family.
    pub addresses: Vec<IpAddr>,
    pub neighbours: BTreeMap<IpAddr, Mac>,
    pub tcp: TcpProfile,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpProfile {
    /// Longest segment payload sent and accepted; `None`: what fits into a frame.
    pub mss_bytes: Option<u16>,
    pub receive_buffer_bytes: usize,
    pub send_buffer_bytes: usize,
    /// Size of the send ring in send buffers, 1 or more. smoltcp splits a segment where its ring wraps, so larger
    /// rings split fewer.
    pub send_rings: usize,
    /// Longest delay of a single segment's acknowledgement; `None` disables the delay.
    pub delayed_ack_ns: Option<u64>,
    /// Whether, as in Linux, pushed data (PSH) and data after a pause as long as the delay is acknowledged at once,
    /// and a small window is filled with whole segments only.
    pub is_modern: bool,
    /// Whether a short segment waits until all earlier data is acknowledged (RFC 896).
    pub nagle: bool,
}

impl TcpProfile {
    /// For hosts with unbounded memory: bulk transfers never split a segment.
    pub const LONG_SEND_RINGS: usize = 8;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    TooLong { bytes: usize, longest_bytes: usize },
    NoNeighbour(IpAddr),
    NoAddress(SocketAddr),
    PortInUse(u16),
    Full,
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooLong { bytes, longest_bytes } => write!(
                f,
                "a datagram of {bytes} bytes does not fit into one frame: {longest_bytes} at most, as \
                 nothing is fragmented"
            ),
            Self::NoNeighbour(address) => write!(f, "no hardware address of {address} is known"),
            Self::NoAddress(to) => write!(f, "no address of this interface goes with {to}"),
            Self::PortInUse(port) => write!(f, "port {port} is in use"),
            Self::Full => f.write_str("the send buffer is full"),
        }
    }
}
