//! HTTP/1.1 (RFC 9112) over connections of our own, for the services that speak it.
//!
//! A session has one connection that is kept alive. Another is opened when the server has closed it
//! between two requests, when a file was left in its middle, or when something is asked while a file
//! is under way; [`Http::opened`] counts them. No request is sent twice.
//!
//! hyper's client in its place takes 1.3 times the processor's time or more for a large file that comes,
//! and twice as much for one that goes: it copies each block. For small files both take as long.

mod answer;
mod ask;
pub mod connection;
mod download;
mod head;
mod inbox;
mod outgoing;
mod peer;
mod upload;

pub use answer::{Answer, refusal};
pub use download::Download;
pub use outgoing::{Outgoing, whole_request};
pub use peer::Http;
pub use upload::Upload;

/// Octets of a call when a whole file is moved.
pub const BLOCK_BYTES: u32 = 1 << 18;

/// Octets at most of an answer that says why not.
pub const REFUSAL_BYTES: usize = 1 << 16;

/// Octets at most of one answer that lists a directory: some 200 000 names.
pub const LISTING_BYTES: usize = 1 << 26;
