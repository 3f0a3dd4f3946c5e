//! SMB on XNS, as 3Com's 3+ has it: names and connections of a station.
//!
//! Source: Xerox, Internet Transport Protocols (XSIS 028112); `netns` of 4.3BSD for times; dissectors `idp`, `spp`
//! and `3com-xns` of Wireshark; 3Com's `TechTips`. That is public, and judged by tshark: datagrams, echo, errors,
//! sequenced packets, and that SMB is at socket 0BBC. Between them and SMB, 3+ had a layer with names, which is
//! not public. A model stands in its place: a message is that of SMB and ends with a packet that says so, and a
//! server is found by one packet exchange with its name. A [`Station`] is driven as a
//! [`Node`](crate::node::Node), of which it is a carrier.
//!
//! What no source says is a choice of ours: which packets ask for their acknowledgement, how often an end is said
//! again, and that both ends ask whether the other one is there (3+Share's servers did not).

mod calls;
mod counts;
mod errors;
mod interface;
pub mod profile;
mod receiving;
mod session;
mod station;
mod timers;

pub use station::Station;

type Common = crate::ipx::Common<counts::Counts, interface::Interface>;
