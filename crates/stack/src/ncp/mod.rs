//! Novell's NetWare core protocol (NCP) on IPX: a carrier, the redirector of a client, and a file server.
//!
//! Source: dissector `ncp` of Wireshark; captures of a NetWare 3 server. The carrier, a [`Station`], handles
//! the envelope: connections, one request at a time that the client resends until answered, the reply that
//! the server keeps for resends, and the watchdog. Messages above it exclude the envelope: a request starts
//! with its function, and a reply is its completion code and everything after the status. So [`client`] and
//! [`server`] handle neither connections nor resends.

pub mod client;
mod keyed;
pub mod server;
mod station;

use lanlab_wire::ethernet::Framing;
use lanlab_wire::ipx::HEADER_LEN;
use lanlab_wire::ipx::framing::longest_data;
use lanlab_wire::ncp::burst;
use lanlab_wire::ncp::envelope::REPLY_LEN;
use lanlab_wire::ncp::files::WRITE_LEN;

pub use station::Station;

use crate::carrier::CarrierFacts;

/// First byte of a message carried by bursts, where others have a function code; NCP has no function 0.
const BURST: u8 = 0;
const MOST_BURST: u32 = 1 << 16;
/// Bytes of a burst packet in addition to its share of the burst.
const AROUND_BURST: u32 = (HEADER_LEN + burst::HEADER_LEN) as u32;
const SMALLEST_PACKET: u32 = 576;
const AROUND_MESSAGE: u32 = (HEADER_LEN + REPLY_LEN - 1) as u32;

const fn packet_bytes(carrier: CarrierFacts) -> u16 {
    (carrier.longest_message + AROUND_MESSAGE) as u16
}

/// Maximum data bytes of a read or write in a packet of this size; writes need more header, including the function
/// code.
const fn data_in_packet(octets: u16) -> u32 {
    (octets as u32).saturating_sub(AROUND_MESSAGE + 1 + WRITE_LEN as u32)
}

const fn burst_packet_bytes(framing: Framing) -> u32 {
    (HEADER_LEN + longest_data(framing)) as u32
}

const fn facts(framing: Framing) -> CarrierFacts {
    CarrierFacts {
        // A reply has a completion code in the message and a status in the envelope; a request has neither.
        longest_message: (longest_data(framing) - (REPLY_LEN - 1)) as u32,
        keeps_raw: false,
        is_one_at_a_time: true,
    }
}
