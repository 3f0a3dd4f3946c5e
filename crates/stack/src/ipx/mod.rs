//! A station's part in IPX: its framing, its network, and packets to and from it.
//!
//! Source: Novell's IPX router specification; articles Q99745, Q104024 and Q122210 of Microsoft's Knowledge
//! Base. An [`Interface`] is part of the machine of a carrier. It answers for its own station only: it sends no
//! packet on, and says of no other network or server where it is.

mod common;
mod counts;
mod discovery;
mod exchange;
mod interface;
mod output;
mod round_trip;
mod segment;

pub(crate) use common::Common;
pub(crate) use counts::Counts;
pub(crate) use discovery::Found;
pub(crate) use exchange::Exchange;
pub(crate) use interface::{Advertised, Interface, Packet};
pub(crate) use output::{Output, Place};
