//! Offloads of a network device: what its driver does to packets in the kernel's stead.
//!
//! A link that is shaped to the speed of an Ethernet must carry Ethernet's frames; with
//! segmentation or checksum offload it would carry buffers of up to 64 KiB instead.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offload {
    /// The name that ethtool(8) prints.
    pub name: &'static str,
    pub on: bool,
}

#[cfg(all(target_os = "linux", not(lanlab_portable)))]
pub use crate::linux::ethtool::{offloads, set_offloads};
