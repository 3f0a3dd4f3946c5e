//! HTTP/1.1 (RFC 9112) over our own connections, for services that use it.
//!
//! A session keeps one connection alive. It opens another one if the server closed it between two
//! requests, if a file was abandoned in the middle, or for a request during a transfer;
//! [`Http::opened`] counts them. No request is sent twice.
//!
//! hyper's client would take at least 1.3 times the CPU time for a large download, and twice as
//! much for an upload, because it copies each block. For small files both take the same.

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

/// Bytes per call when a whole file is transferred.
pub const BLOCK_BYTES: u32 = 1 << 18;

/// Maximum length of an error response.
pub const REFUSAL_BYTES: usize = 1 << 16;

/// Maximum length of a directory listing: some 200 000 names.
pub const LISTING_BYTES: usize = 1 << 26;
