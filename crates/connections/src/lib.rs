//! Connections of file clients and servers: with or without TLS, in lines, or over SSH.
//!
//! Both ends of FTP are our own, because no library exposes both connections for measurement: suppaftp
//! transfers files in its own blocks, and libunftp leaves Nagle's algorithm on for data, panics if a TLS
//! handshake fails, and detaches tasks that outlive their server.

mod lines;
mod link_thread;
mod message_transport;
mod messages;
mod recorder;
#[cfg(feature = "fuzz")]
#[path = "../tests/fuzz/scripted.rs"]
pub mod scripted;
mod session_clock;
pub mod small;
pub mod ssh;
pub mod tls;
mod wire;
pub mod wired;

pub use lines::Lines;
pub use message_transport::MessageTransport;
pub use messages::Messages;
pub use recorder::{MEMORY_BYTES as RECORDER_BYTES, Recorder};
pub use session_clock::SessionClock;
pub use wire::Wire;
