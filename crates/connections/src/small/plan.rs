//! What a station with its own TCP is to be.

use std::net::Ipv4Addr;

use lanlab_os::RawLinkPlace;
use lanlab_stack::ip::{Station, TcpProfile};

use super::shared::{READ_BYTES, State};

/// Buffers where none are asked for: those of mTCP's larger configurations.
pub const BUFFER_BYTES: usize = 8 * 1024;
/// The least buffer: a segment.
const LEAST_BUFFER_BYTES: usize = 1460;
/// The ring of bytes to send is two send buffers long: few segments are cut where it begins anew.
const SEND_RINGS: usize = 2;
/// An acknowledgement of a single segment waits as long at most (RFC 1122, 4.2.3.2, allows 500 ms).
const DELAYED_ACK_NS: u64 = 200_000_000;

/// What a station is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallPlan {
    /// Link that it is at.
    pub place: RawLinkPlace,
    /// Its IPv4 address, which no other host has.
    pub address: Ipv4Addr,
    /// Whom it connects to, on the same Ethernet; absent: it only takes connections.
    pub peer: Option<Ipv4Addr>,
    /// How its TCP behaves.
    pub tcp: TcpProfile,
    /// Connections at a time, at most.
    pub connections: usize,
    /// Ports at which it takes connections.
    pub ports: Vec<u16>,
    /// Bound of what it holds in all.
    pub memory_bytes: u64,
}

impl SmallPlan {
    /// How TCP behaves with buffers of these sizes, or the usual ones, sending at once if `no_delay`; `None`: it
    /// cannot have them, as it scales no windows.
    pub fn tcp(receive: Option<u32>, send: Option<u32>, no_delay: bool) -> Option<TcpProfile> {
        let bytes = |asked: Option<u32>| {
            let bytes = asked.map_or(Some(BUFFER_BYTES), |asked| usize::try_from(asked).ok())?;
            (LEAST_BUFFER_BYTES..=usize::from(u16::MAX)).contains(&bytes).then_some(bytes)
        };
        Some(TcpProfile {
            mss_bytes: None,
            receive_buffer_bytes: bytes(receive)?,
            send_buffer_bytes: bytes(send)?,
            send_rings: SEND_RINGS,
            delayed_ack_ns: Some(DELAYED_ACK_NS),
            nagle: !no_delay,
        })
    }

    /// What it never holds more than.
    pub fn most_bytes(&self) -> u64 {
        let station = Station::most_bytes(&self.tcp, self.connections, READ_BYTES);
        (station + size_of::<State>() - size_of::<Station>()) as u64
    }
}
