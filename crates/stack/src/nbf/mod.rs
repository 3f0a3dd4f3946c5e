//! NetBIOS frames over LLC: names, datagrams and sessions of a station, as NetBEUI has them.
//!
//! Source: IBM, Local Area Network Technical Reference (SC30-3587), chapter "NetBIOS frames". A
//! [`Station`] is driven as a [`Node`](crate::node::Node), of which it is a carrier. All sessions between
//! two stations share a link.

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
