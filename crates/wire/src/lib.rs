//! Formats on the wire: bytes to values and back, one file per format.
//!
//! Nothing here keeps state or uses a clock or a socket. Parsing any bytes never panics. Emitting a
//! value and parsing it returns the same value.

pub mod arp;
pub mod browser;
pub mod calendar;
mod error;
pub mod ethernet;
mod fields;
pub mod http_chunks;
pub mod icmp;
pub mod iperf3;
pub mod ipx;
pub mod llc;
pub mod nbf;
pub mod nbipx;
pub mod nbns;
pub mod nbss;
pub mod ncp;
pub mod netbios_name;
pub mod nfs3;
pub mod nfs4;
pub mod nmpi;
pub mod pcap;
pub mod percent;
pub mod probe;
pub mod rip;
pub mod sap;
pub mod session;
pub mod sftp;
pub mod sigv4;
pub mod smb1;
pub mod srvsvc;
pub mod udp_datagram;
pub mod xml;
pub mod xns;

pub use error::Error;

/// Octets outside ASCII become `?`.
fn printable(octets: &[u8]) -> String {
    let printable = |octet: &u8| if (b' '..=b'~').contains(octet) { *octet as char } else { '?' };
    octets.iter().map(printable).collect()
}

fn take<const N: usize>(bytes: &[u8], range: core::ops::Range<usize>) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[range]);
    array
}
