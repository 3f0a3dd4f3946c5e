//! `echo`: requests that come back, and how long that takes.
//!
//! A requester is a [`ClosedLoop`], which sends the next request when the reply is there or overdue,
//! or a [`RateSender`] and a [`RateListener`], which send on a schedule and do not wait for the
//! replies. Over UDP the other end is a [`Responder`]. [`RequestWriter`] and [`ReplyReader`] know what
//! requests and replies look like there.

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
