//! Sends and receives the messages of a session.

use std::io;
use std::task::{Context, Poll};

/// One end of the transport of a session's messages.
pub trait MessagePort {
    /// Accept messages of at most `longest` bytes from now on. A carrier with its own limit keeps
    /// that.
    fn set_longest(&mut self, longest: usize);

    /// Whether the port copies messages before sending. Then the caller's memory is not needed any
    /// more, which saves the most memory with many sessions on a link.
    fn keeps_copy(&self) -> bool {
        false
    }

    /// Send a message of two parts. Call again with the same message until it is done.
    fn poll_send(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 2]) -> Poll<io::Result<()>>;

    /// Receive a message. Call again with the same memory until it is done.
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<io::Result<()>>;
}
