//! What a trial does: one folder for each workload.

#[cfg(feature = "services")]
pub mod copy;
#[cfg(feature = "services")]
pub mod dataset;
pub mod echo;
pub mod medium_load;
pub mod path_mtu;
mod pcap_file;
#[cfg(feature = "services")]
mod recorded;
#[cfg(feature = "services")]
mod segment;
#[cfg(feature = "services")]
pub mod serve;
mod setup;
pub mod simulate;
#[cfg(feature = "services")]
pub mod stations;
pub mod stream;

/// Octets to fill messages with, in an order that has every value once in 256: no run of one octet
/// that a device could treat differently.
fn padding() -> impl FnMut() -> u8 {
    let mut octet = 0_u8;
    move || {
        octet = octet.wrapping_mul(5).wrapping_add(113);
        octet
    }
}
