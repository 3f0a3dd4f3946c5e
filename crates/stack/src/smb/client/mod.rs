//! The redirector of SMB 1.
//!
//! Each request has a number of its own (MID) and is answered in any order; as many are outstanding
//! as the server takes. Memory of messages is used again.

mod agreed;
mod answers;
mod calls;
mod connecting;
mod exchange;
mod listing;
mod lists;
mod login;
mod multiplexed;
mod names;
mod raw;
mod refusals;
mod state;

pub use super::plan::{Plan, User};
pub use state::Client;
