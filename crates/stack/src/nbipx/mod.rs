//! NetBIOS over IPX: names and sessions of a station, as NWLink of Windows NT has them with others of its kind.
//!
//! Source: dissector `nbipx` of Wireshark; T. Evans, "NetBIOS, NetBEUI, NBF, NBT, NBIPX, SMB, CIFS Networking"
//! (2003); articles Q99745 and Q128335 of Microsoft's Knowledge Base. (That a session runs over SPX, as [MS-CIFS]
//! has it, is not so in Microsoft's and Novell's stacks.) Each session numbers its packets and acknowledges those
//! in order; missing ones are requested again. A [`Station`] is driven as a [`Node`](crate::node::Node), of which
//! it is a carrier.
//!
//! No source covers these, so they are our choice: when a packet requests its acknowledgement, how time-outs grow,
//! that refused calls get no answer, and how long an ended session is remembered.

mod calls;
mod counts;
mod names;
mod receiving;
mod session;
mod station;
mod timers;

pub use station::Station;

type Common = crate::ipx::Common<counts::Counts>;
