//! NetBIOS frames over LLC, the protocol of NetBEUI: names, datagrams and sessions of a station.
//!
//! Source: IBM, Local Area Network Technical Reference (SC30-3587), chapter "NetBIOS frames". A [`Station`]
//! is a carrier of a [`Node`](crate::node::Node), which drives it. All sessions between two stations share a
//! link.

mod calls;
mod crowds;
mod frames;
mod name_frames;
mod output;
mod peers;
mod receiving;
mod sending;
mod session;
mod station;
mod status;

use lanlab_wire::ethernet::MAX_PAYLOAD_LEN;
use lanlab_wire::llc::NUMBERED_LEN;
use lanlab_wire::nbf::SESSION_HEADER_LEN;

pub use station::{Counts, Station};

use crate::carrier::CarrierFacts;
use crate::netbios;

/// Maximum message bytes in one frame on Ethernet.
pub const LONGEST_PART: usize = MAX_PAYLOAD_LEN - NUMBERED_LEN - SESSION_HEADER_LEN;
pub const LONGEST_MESSAGE: usize = netbios::LONGEST_MESSAGE;
pub const LONGEST_DATAGRAM: usize = 512;

pub const FACTS: CarrierFacts = netbios::FACTS;
