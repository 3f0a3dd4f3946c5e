//! Hardware addresses of those that an interface can send to.

use std::net::IpAddr;

use super::{Interface, Mac};

impl Interface {
    /// The hardware address of one that it can send to has become known.
    pub fn add_neighbour(&mut self, address: IpAddr, mac: Mac) {
        self.config.neighbours.insert(address, mac);
        self.last_way = None;
    }

    pub fn knows(&self, address: IpAddr) -> bool {
        self.config.neighbours.contains_key(&address)
    }

    /// No hardware address is known of one any more. Connections that are open go on.
    pub fn remove_neighbour(&mut self, address: IpAddr) {
        self.config.neighbours.remove(&address);
        self.last_way = None;
    }
}
