//! What a file service is, for all who use, reach or offer one: open, read at, write at, close, remove,
//! list, make directory.
//!
//! A client is a [`Session`]: one connection of one user. What it does for one call is what the
//! protocol does for one operation, so that each can be timed; nothing is retried, cached or read
//! ahead in secret. A [`Manner`] says how a file is best moved by it.
//!
//! Both ends set `TCP_NODELAY`: a lab that measures its own 40 ms of Nagle's algorithm and delayed
//! acknowledgements (RFC 896, RFC 1122 section 4.2.3.2) measures nothing else.

mod fault;
mod path;
mod session;
mod target;

pub use fault::{Class, Fault, Result};
pub use path::{BadPath, ServicePath};
pub use session::{Access, Entry, Facts, Manner, Session, is_name};
pub use target::{Credentials, ServiceKind, Target, Trust};
