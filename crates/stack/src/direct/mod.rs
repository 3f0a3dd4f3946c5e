//! SMB straight on IPX, without NetBIOS, as Windows for Workgroups, Windows 9x and NT have it ("direct hosting").
//!
//! Source: [MS-CIFS] 2.2.3.1 (connection identifier and sequence number) and 3.2.4.1, dissectors `nmpi` and `smb`
//! of Wireshark, articles Q152453 and Q248230 of Microsoft's Knowledge Base. Each message is one packet, whose
//! header has a connection and a sequence number where otherwise signatures are. Only the client sends again:
//! the server keeps what it has answered to the last numbered request, and says it again. A [`Station`] is
//! driven as a [`Node`](crate::node::Node), of which it is a carrier.
//!
//! What no source says is a choice of ours: the times of repetitions, a socket of its own for each session of
//! a client, and when a server forgets a client that says nothing more, as nothing ends a session.

mod answerer;
mod caller;
mod calls;
mod connection;
pub(crate) mod counts;
mod multiplexed;
mod names;
mod parts;
mod requests;
mod station;

use lanlab_wire::ethernet::Framing;
use lanlab_wire::ipx::framing::longest_data;

pub use station::Station;

use crate::carrier::CarrierFacts;

type Common = crate::ipx::Common<counts::Counts>;

/// What sessions can do in a framing: a message is one packet, and raw data has no header for its numbers.
const fn facts(framing: Framing) -> CarrierFacts {
    CarrierFacts {
        longest_message: longest_data(framing) as u32,
        keeps_raw: false,
        is_one_at_a_time: true,
    }
}
