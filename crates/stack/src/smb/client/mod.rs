//! The redirector of SMB 1.
//!
//! Requests are numbered (MID) and may be answered in any order, with as many in flight as the server allows.
//! Message buffers are reused.

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
