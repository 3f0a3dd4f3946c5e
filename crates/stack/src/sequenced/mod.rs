//! Numbered packets of a session, which carriers on IPX and XNS have alike.

mod incoming;
mod sending;

pub(crate) use incoming::Incoming;
pub(crate) use sending::{Acknowledged, Sending};

/// The mean round trip after one more of them, of which each counts an eighth, ns.
pub(crate) fn mean_round_trip_ns(before_ns: Option<u64>, took_ns: u64) -> u64 {
    before_ns.map_or(took_ns, |mean_ns| (7 * mean_ns + took_ns) / 8)
}

/// Whether a number comes after another one. Numbers begin anew after the last one; those that are compared lie
/// close to each other.
pub(crate) const fn is_after(number: u16, other: u16) -> bool {
    number != other && number.wrapping_sub(other) < 0x8000
}
