//! SMB on XNS, as in 3Com's 3+: names and connections of a station.
//!
//! Source: Xerox, Internet Transport Protocols (XSIS 028112); `netns` of 4.3BSD for times; dissectors `idp`,
//! `spp` and `3com-xns` of Wireshark; 3Com's `TechTips`. Datagrams, echo, errors, sequenced packets and SMB's
//! socket 0BBC are published, and checked with tshark. Between them and SMB, 3+ had an unpublished layer with
//! names. A model replaces it: each message is an SMB message that ends with a marked packet, and one packet
//! exchange finds a server by name. A [`Station`] is a carrier of a [`Node`](crate::node::Node), which drives
//! it.
//!
//! Our own choices, as no source covers them: which packets request acknowledgement, how often a
//! disconnect is resent, and keep-alive probes by both ends (3+Share's servers sent none).

mod calls;
mod counts;
mod errors;
mod interface;
mod receiving;
mod session;
mod station;
mod timers;

pub use station::Station;
