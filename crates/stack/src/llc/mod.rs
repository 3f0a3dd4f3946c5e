//! Logical link control (IEEE 802.2): links of type 2, and the answers of type 1.
//!
//! A [`Link`] is one end of a connection between two stations and a pair of SAPs. It has neither a clock
//! nor a medium. Its driver
//!
//! 1. calls [`handle_frame`](Link::handle_frame) with each PDU of the other end, and
//!    [`handle_timeout`](Link::handle_timeout) once [`poll_timeout`](Link::poll_timeout) is reached;
//! 2. then sends the PDUs of [`poll_transmit`](Link::poll_transmit) and handles the events of
//!    [`poll_event`](Link::poll_event) until both return nothing.
//!
//! A due acknowledgement rides on an I frame if one can be sent at once; otherwise it is sent alone.

mod link;
mod numbers;
mod received;
mod report;
mod sent;
mod station;
mod timers;

pub use link::Link;
pub use report::{Counts, Ended, Event, State};
pub use station::{answer_type_1, answer_without_link};
