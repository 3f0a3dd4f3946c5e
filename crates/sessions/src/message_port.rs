//! Sends and receives the messages of a session.

use std::io;
use std::task::{Context, Poll};

/// One end of a session's message transport.
pub trait MessagePort {
    /// From now on, accept messages of at most `longest` bytes. A carrier's own limit takes
    /// precedence.
    fn set_longest(&mut self, longest: usize);

    /// Whether the port copies messages before sending. Then the caller can free its buffer, which
    /// saves memory with many sessions on a link.
    fn keeps_copy(&self) -> bool {
        false
    }

    /// Send a message of two parts. Call again with the same message until it is sent.
    fn poll_send(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 2]) -> Poll<io::Result<()>>;

    /// Receive a message. Call again with the same buffer until the message is complete.
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<io::Result<()>>;
}
