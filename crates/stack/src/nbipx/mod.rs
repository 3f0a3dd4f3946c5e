//! NetBIOS over IPX: names and sessions of a station, as NWLink uses them between Windows NT systems.
//!
//! Source: dissector `nbipx` of Wireshark; T. Evans, "NetBIOS, NetBEUI, NBF, NBT, NBIPX, SMB, CIFS
//! Networking" (2003); articles Q99745 and Q128335 of Microsoft's Knowledge Base. ([MS-CIFS] says that
//! sessions run over SPX, but Microsoft's and Novell's stacks do not use it.) Each session numbers its
//! packets and acknowledges those in order; missing ones are requested again. A [`Station`] is a carrier of a
//! [`Node`](crate::node::Node), which drives it.
//!
//! Our own choices, as no source covers them: when a packet requests its acknowledgement, how
//! time-outs grow, that refused calls get no answer, and how long an ended session is remembered.

mod calls;
mod names;
mod receiving;
mod session;
mod station;
mod timers;

pub use station::Station;
