//! `echo`: requests, replies and round-trip times.
//!
//! A requester is a [`ClosedLoop`], which sends the next request when the reply arrives or times out, or a
//! [`RateSender`] with a [`RateListener`], which send on a schedule. Over UDP the other end is a [`Responder`], and
//! [`RequestWriter`] and [`ReplyReader`] encode and decode messages.

mod closed_loop;
mod content;
mod counts;
mod datagrams;
mod fixed_rate;
mod plan;
mod responder;

pub use closed_loop::{ClosedLoop, Step};
pub use content::Content;
pub use counts::Counts;
pub use datagrams::{ReplyReader, RequestWriter};
pub use fixed_rate::{Due, LastHeard, RateListener, RateSchedule, RateSender};
pub use plan::{LONGEST_NS, Plan};
pub use responder::{Asked, Next, Responder};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handed {
    Sent,
    Refused,
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    Reply(u64),
    Idle,
    Alive,
    Foreign,
    Closed,
}

#[cfg(test)]
mod tests;
