//! Novell's NetWare core protocol (NCP) on IPX: a carrier, the redirector of a client, and a file server.
//!
//! Source: dissector `ncp` of Wireshark; what a server of NetWare 3 sent in captures. The carrier, a [`Station`],
//! has the envelope: connections, one request at a time that the client repeats until it is answered, the reply
//! that the server keeps for that, and the watchdog. Above it a message is what stands behind the envelope: of a
//! request its function and all after it, of a reply its completion code and all after the status. So
//! [`client`] and [`server`] know neither connections nor repetitions.

pub mod client;
mod keyed;
pub mod profile;
pub mod server;
mod station;

use lanlab_wire::ethernet::Framing;
use lanlab_wire::ipx::framing::longest_data;
use lanlab_wire::ncp::envelope::REPLY_LEN;

pub use profile::NetWare;
pub use station::Station;

use crate::carrier::CarrierFacts;

/// What sessions can do in a framing: a request and its reply are a packet each.
const fn facts(framing: Framing) -> CarrierFacts {
    CarrierFacts {
        // A reply has a completion code in its message, and a status in its envelope; a request neither.
        longest_message: (longest_data(framing) - (REPLY_LEN - 1)) as u32,
        keeps_raw: false,
        is_one_at_a_time: true,
    }
}
