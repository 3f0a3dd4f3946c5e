//! IPX at a station: framing, network number, packets in and out.
//!
//! Source: Novell's IPX router specification; articles Q99745, Q104024 and Q122210 of Microsoft's Knowledge Base.
//! An [`Interface`] is part of a carrier's machine. It answers only for its own station: it neither forwards
//! packets nor advertises other networks and servers.

mod counts;
mod discovery;
mod exchange;
mod interface;
mod output;
mod round_trip;
mod segment;
mod session_counts;

pub(crate) use crate::common::Common;
pub(crate) use counts::Counts;
pub(crate) use discovery::Found;
pub(crate) use exchange::Exchange;
pub(crate) use interface::{Advertised, Interface, Packet};
pub(crate) use output::{Output, Place};
pub(crate) use session_counts::SessionCounts;
