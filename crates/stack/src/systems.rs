//! Period systems that lanlab emulates at both ends, with SMB 1, one row each. Nothing else lists them.
//!
//! The core dialect has share passwords, no users, and one connection per client. Buffer sizes are not published:
//! servers of the period announced 1 to 4 KiB.

use crate::known::assumed;
use crate::node::CarrierKind;
use crate::profile::{PC_NETWORK, Profile, WINDOWS_NT};
use crate::smb::Dialect;

#[derive(Debug, PartialEq, Eq)]
pub struct System {
    /// Name in requests and options.
    pub name: &'static str,
    pub title: &'static str,
    /// Years of its first and last release.
    pub years: (u16, u16),
    pub carrier: CarrierKind,
    pub dialect: Dialect,
    pub buffer_bytes: u32,
    /// What its carrier takes from it.
    pub station: &'static Profile,
}

pub static ALL: &[System] = &[
    // With the LAN Support Program; at first called PC Network Program.
    System {
        name: "pc-lan-program",
        title: "IBM's PC LAN Program",
        years: (1985, 1988),
        carrier: CarrierKind::Nbf,
        dialect: Dialect::Core,
        buffer_bytes: assumed(2_112),
        station: &PC_NETWORK,
    },
    System {
        name: "three-plus",
        title: "3Com's 3+",
        years: (1985, 1990),
        carrier: CarrierKind::Spp,
        dialect: Dialect::Core,
        buffer_bytes: assumed(4_160),
        station: &WINDOWS_NT,
    },
    #[cfg(test)]
    System {
        name: "toy-system",
        title: "a toy",
        years: (1984, 1984),
        carrier: CarrierKind::Toy,
        dialect: Dialect::LanMan1,
        buffer_bytes: assumed(1_024),
        station: &crate::profile::DOS,
    },
];

pub fn by_name(name: &str) -> Option<&'static System> {
    ALL.iter().find(|system| system.name == name)
}

impl System {
    /// Maximum incoming sessions of its server.
    pub fn sessions(&self) -> u16 {
        self.carrier.sessions(self.station)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests, schema and simulator ask by name and by carrier only.
    #[test]
    fn a_row_is_all_that_a_system_needs() {
        let toy = by_name("toy-system").unwrap();
        assert_eq!(toy.sessions(), toy.station.sessions);
        assert_eq!(by_name("os2"), None);
    }

    #[test]
    fn a_name_has_one_system() {
        for (index, one) in ALL.iter().enumerate() {
            for other in &ALL[index + 1..] {
                assert_ne!(one.name, other.name);
            }
            assert!(one.years.0 <= one.years.1, "{}", one.name);
        }
    }
}
