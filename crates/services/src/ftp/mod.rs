//! What the two ends of FTP share: its connections, and the lines on them.
//!
//! The client and the server are ours, on our sockets, since no library lets both connections of FTP
//! be measured: suppaftp writes and reads a file by its own blocks, and libunftp leaves Nagle's
//! algorithm on for data, ends a task by a panic where a TLS handshake fails, and detaches tasks
//! that outlive their server.

mod lines;
mod wire;

pub use lines::Lines;
pub use wire::Wire;
