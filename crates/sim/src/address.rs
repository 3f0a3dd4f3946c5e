//! Hosts and the addresses of their adapters.

/// Number of a host, from 0; also its port number on the medium.
pub type HostId = u16;

/// Address of an adapter (IEEE 802, 48 bits).
pub type Mac = [u8; 6];

pub const BROADCAST: Mac = [0xff; 6];

/// Locally administered, individual (IEEE 802, 8.2).
const PREFIX: [u8; 4] = [0x02, 0x73, 0x69, 0x6d];

pub const fn mac_of(host: HostId) -> Mac {
    let [high, low] = host.to_be_bytes();
    let [a, b, c, d] = PREFIX;
    [a, b, c, d, high, low]
}

pub(crate) fn host_of(mac: Mac) -> Option<HostId> {
    let [a, b, c, d, high, low] = mac;
    ([a, b, c, d] == PREFIX).then_some(HostId::from_be_bytes([high, low]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_only_by_their_own_address() {
        assert_eq!(host_of(mac_of(0x1234)), Some(0x1234));
        assert_eq!(host_of(BROADCAST), None);
        assert_eq!(host_of([0x02, 0x77, 0, 0, 0, 1]), None);
    }
}
