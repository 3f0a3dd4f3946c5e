//! Offloads of a network device: packet processing by its driver instead of the kernel.
//!
//! A link shaped to an Ethernet's speed must carry Ethernet frames; with offloads it would carry buffers of up to
//! 64 KiB.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offload {
    /// The name that ethtool(8) prints.
    pub name: &'static str,
    pub on: bool,
}

pub use crate::linux::ethtool::{offloads, set_offloads};
