//! Transport of whole messages of a historic service.

use std::io;
use std::task::{Context, Poll};

use lanlab_sessions::MessagePort;
use lanlab_stack::carrier::CarrierFacts;
use tokio::net::TcpStream;

use crate::Messages;
use crate::wired::WiredPort;

/// One end of a message session. An `enum`, not a trait object, because it is polled for each message.
#[derive(Debug)]
pub enum MessageTransport {
    Tcp(Messages),
    Frames(WiredPort),
}

impl MessageTransport {
    /// Capabilities for messages of at most `longest` bytes; link sessions have their own limit.
    pub fn facts(&self, longest: usize) -> CarrierFacts {
        match self {
            Self::Tcp(_) => CarrierFacts {
                longest_message: longest as u32,
                keeps_raw: true,
                is_one_at_a_time: false,
            },
            Self::Frames(port) => port.facts(),
        }
    }

    /// The TCP connection; `None` for a link session.
    pub fn connection(&self) -> Option<&TcpStream> {
        match self {
            Self::Tcp(messages) => Some(&messages.stream),
            Self::Frames(_) => None,
        }
    }
}

impl MessagePort for MessageTransport {
    fn set_longest(&mut self, longest: usize) {
        if let Self::Tcp(messages) = self {
            messages.set_longest(longest);
        }
    }

    fn keeps_copy(&self) -> bool {
        matches!(self, Self::Frames(_))
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 2]) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(messages) => messages.poll_send(cx, parts),
            Self::Frames(port) => port.poll_send(cx, parts),
        }
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(messages) => messages.poll_receive(cx, into),
            Self::Frames(port) => port.poll_receive(cx, into),
        }
    }
}
