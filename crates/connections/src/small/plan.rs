//! What a station with its own TCP is to be.

use std::net::Ipv4Addr;

use lanlab_os::RawLinkPlace;
use lanlab_stack::ip::small::READ_BYTES;
use lanlab_stack::ip::{Station, TcpProfile};

use super::shared::State;

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
    /// What it never holds more than.
    pub fn most_bytes(&self) -> u64 {
        let station = Station::most_bytes(&self.tcp, self.connections, READ_BYTES);
        (station + size_of::<State>() - size_of::<Station>()) as u64
    }
}
