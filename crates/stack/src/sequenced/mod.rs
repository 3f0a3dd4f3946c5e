//! Numbered packets of a session, which carriers on IPX and XNS have alike.

mod incoming;
mod sending;
mod timer;

pub(crate) use incoming::Incoming;
pub(crate) use sending::{Acknowledged, Sending};
pub(crate) use timer::{Timer, Wait, Waits};

/// Whether a number comes after another one. Numbers begin anew after the last one; those that are compared lie
/// close to each other.
pub(crate) const fn is_after(number: u16, other: u16) -> bool {
    number != other && number.wrapping_sub(other) < 0x8000
}
