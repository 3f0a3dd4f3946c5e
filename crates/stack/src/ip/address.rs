//! What an interface is made of.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

pub type Mac = [u8; 6];

#[derive(Debug, Clone)]
pub struct Config {
    pub mac: Mac,
    /// Its addresses, one of each family at most.
    pub addresses: Vec<IpAddr>,
    pub neighbours: BTreeMap<IpAddr, Mac>,
    pub tcp: TcpProfile,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpProfile {
    /// Longest segment that is sent and taken, payload; `None`: what fits into a frame.
    pub mss_bytes: Option<u16>,
    pub receive_buffer_bytes: usize,
    pub send_buffer_bytes: usize,
    /// Size of the ring of bytes to send, in send buffers: 1 or more. smoltcp cuts a segment where its ring begins
    /// anew: the larger, the fewer.
    pub send_rings: usize,
    /// Longest time that the acknowledgement of a single segment waits; `None` waits for nothing.
    pub delayed_ack_ns: Option<u64>,
    /// Whether data that end what the peer's program wrote (PSH), or come after a pause as long as that delay, are
    /// acknowledged at once, as by Linux.
    pub acknowledges_pushed: bool,
    /// Whether a short segment waits until all before it is acknowledged (RFC 896).
    pub nagle: bool,
}

impl TcpProfile {
    /// Of a host whose memory is not bounded: no segment of a bulk transfer is cut.
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
