//! Configuration of a station with its own TCP.

use std::net::Ipv4Addr;

use lanlab_os::RawLinkPlace;
use lanlab_stack::ip::small::READ_BYTES;
use lanlab_stack::ip::{Station, TcpProfile};

use super::shared::State;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallPlan {
    pub place: RawLinkPlace,
    /// An IPv4 address that no other host uses.
    pub address: Ipv4Addr,
    /// The peer to connect to, on the same Ethernet; absent for stations that only accept connections.
    pub peer: Option<Ipv4Addr>,
    pub tcp: TcpProfile,
    /// Maximum connections at a time.
    pub connections: usize,
    pub memory_bytes: u64,
}

const MOST_CONNECTIONS: usize = 256;

impl SmallPlan {
    #[must_use]
    pub fn filled(self) -> Self {
        let with = |connections| Self { connections, ..self.clone() };
        let fits = |connections: &usize| with(*connections).most_bytes() <= self.memory_bytes;
        with((0..=MOST_CONNECTIONS).take_while(fits).last().unwrap_or(0))
    }

    /// Upper bound of its memory.
    pub fn most_bytes(&self) -> u64 {
        let station = Station::most_bytes(&self.tcp, self.connections, READ_BYTES);
        (station + State::own_bytes(self.connections)) as u64
    }
}

#[cfg(test)]
mod tests {
    use lanlab_stack::ip::small::Asked;

    use super::*;

    /// Three for each of three clients of FTP, and one for the next client.
    #[test]
    fn ten_connections_fit_in_2_mb() {
        let plan = SmallPlan {
            place: RawLinkPlace::Descriptor(0),
            address: Ipv4Addr::new(10, 77, 0, 1),
            peer: None,
            tcp: TcpProfile::small(&Asked::default()).unwrap(),
            connections: 0,
            memory_bytes: 2_000_000,
        };
        assert!(plan.filled().connections >= 10);
    }
}
