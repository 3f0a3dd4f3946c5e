//! SMB directly on IPX, without NetBIOS, as in Windows for Workgroups, Windows 9x and NT ("direct hosting").
//!
//! Source: [MS-CIFS] 2.2.3.1 (connection identifier and sequence number) and 3.2.4.1, dissectors `nmpi` and
//! `smb` of Wireshark, articles Q152453 and Q248230 of Microsoft's Knowledge Base. Each message is one
//! packet, whose header has a connection and a sequence number in place of the signature. Only the client
//! resends: the server keeps its answer to the last numbered request, and repeats it. A [`Station`] is a
//! carrier of a [`Node`](crate::node::Node), which drives it.
//!
//! Our own choices, as no source covers them: retry intervals, a separate socket per client
//! session, and when a server drops a silent client (the protocol has no way to end a session).

mod answerer;
mod caller;
mod calls;
mod connection;
mod multiplexed;
mod names;
mod parts;
mod requests;
mod station;

use lanlab_wire::ethernet::Framing;
use lanlab_wire::ipx::framing::longest_data;

pub use station::Station;

use crate::carrier::CarrierFacts;

type Common = crate::ipx::Common<crate::ipx::SessionCounts>;

/// Capabilities of sessions in a framing: one packet per message, and no raw data, whose messages have no header
/// for the numbers.
const fn facts(framing: Framing) -> CarrierFacts {
    CarrierFacts {
        longest_message: longest_data(framing) as u32,
        keeps_raw: false,
        is_one_at_a_time: true,
    }
}
