//! Hardware addresses of neighbours.

use std::net::IpAddr;

use super::{Interface, Mac};

impl Interface {
    pub fn add_neighbour(&mut self, address: IpAddr, mac: Mac) {
        self.config.neighbours.insert(address, mac);
        self.last_way = None;
    }

    pub fn knows(&self, address: IpAddr) -> bool {
        self.config.neighbours.contains_key(&address)
    }

    /// Remove the hardware address of a neighbour. Open connections continue.
    pub fn remove_neighbour(&mut self, address: IpAddr) {
        self.config.neighbours.remove(&address);
        self.last_way = None;
    }
}
