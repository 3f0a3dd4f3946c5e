//! Where whole messages of a session leave and come in.

use std::io;
use std::task::{Context, Poll};

/// One end of what carries the messages of a session.
pub trait MessagePort {
    /// Take messages of at most `longest` bytes from here on; one whose carrier has its own bound keeps that.
    fn set_longest(&mut self, longest: usize);

    /// Whether it keeps a copy of what it was given to send: its memory is not needed then, and of many sessions
    /// on a link it would be the most that each takes.
    fn keeps_copy(&self) -> bool {
        false
    }

    /// Send a message of two parts. Until that is done the same message is to be given again.
    fn poll_send(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 2]) -> Poll<io::Result<()>>;

    /// Receive a message. Until that is done the same memory is to be given again.
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<io::Result<()>>;
}
