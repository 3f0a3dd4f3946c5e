//! Numbered packets of a session, shared by carriers on IPX and XNS.

mod incoming;
mod sending;
mod timer;

pub(crate) use incoming::Incoming;
pub(crate) use sending::{Acknowledged, Sending};
pub(crate) use timer::{Timer, Wait, Waits};

/// Whether a number comes after another one, modulo 65,536. Compared numbers are close to each other.
pub(crate) const fn is_after(number: u16, other: u16) -> bool {
    number != other && number.wrapping_sub(other) < 0x8000
}
