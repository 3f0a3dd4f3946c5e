//! Sessions of numbered packets, shared by carriers on IPX and XNS. A carrier is a [`Protocol`].

mod counts;
mod incoming;
mod sending;
mod session;
mod sessions;
mod timer;

pub(crate) use counts::Counts;
pub(crate) use incoming::Incoming;
pub(crate) use sending::{Part, Sending};
pub(crate) use session::{Common, Phase, Protocol, Session};
pub(crate) use sessions::Sessions;
pub(crate) use timer::{Wait, Waits};

/// Whether a number comes after another one, modulo 65,536. Compared numbers are close to each other.
pub(crate) const fn is_after(number: u16, other: u16) -> bool {
    number != other && number.wrapping_sub(other) < 0x8000
}
