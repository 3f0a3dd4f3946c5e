//! What carries the whole messages of a historic service between its two ends.

use std::io;
use std::task::{Context, Poll};

use lanlab_stack::carrier::CarrierFacts;
use lanlab_wire::nbss::{Framing, Kind, Packet};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::Messages;
use crate::wired::WiredPort;

/// One end of a session of messages. An `enum`, not a trait object: it is polled for each message.
#[derive(Debug)]
pub enum MessageTransport {
    /// A connection of the system's TCP.
    Tcp(Messages),
    /// A session on a link of whole frames.
    Frames(WiredPort),
}

impl MessageTransport {
    /// What it can do for messages of at most `longest` bytes; those of a session on a link have their own
    /// bound.
    pub fn facts(&self, longest: usize) -> CarrierFacts {
        match self {
            Self::Tcp(_) => CarrierFacts { longest_message: longest as u32, keeps_raw: true },
            Self::Frames(port) => port.facts(),
        }
    }

    /// The connection of TCP; `None` where there is none.
    pub fn connection(&self) -> Option<&TcpStream> {
        match self {
            Self::Tcp(messages) => Some(messages.stream()),
            Self::Frames(_) => None,
        }
    }

    /// Take messages of another length from here on. Those of a session on a link have their own bound.
    pub fn set_longest(&mut self, longest: usize) {
        if let Self::Tcp(messages) = self {
            messages.set_longest(longest);
        }
    }

    /// Send a message of two parts. Until that is done the same message is to be given again.
    ///
    /// # Errors
    /// Those of the connection or link, or the message is too long.
    pub fn poll_send(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 2]) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(messages) => messages.poll_send(cx, parts),
            Self::Frames(port) => port.poll_send(cx, parts),
        }
    }

    /// Receive a message. Until that is done the same memory is to be given again. What kind it is: a message,
    /// or a request for a session where a connection takes those.
    ///
    /// # Errors
    /// Those of the connection or link.
    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut Vec<u8>,
    ) -> Poll<io::Result<Kind>> {
        match self {
            Self::Tcp(messages) => messages.poll_receive(cx, into),
            Self::Frames(port) => port.poll_receive(cx, into).map_ok(|()| Kind::Message),
        }
    }

    /// Answer a request for a session: any name that is called gets one.
    ///
    /// # Errors
    /// Those of the connection, or what came is no request.
    pub async fn answer_request(&mut self, request: &[u8]) -> io::Result<()> {
        let Self::Tcp(messages) = self else { return Ok(()) };
        let failed = |error: lanlab_wire::Error| io::Error::other(error.to_string());
        Packet::parse(Kind::Request, request).map_err(failed)?;
        let mut octets = Vec::new();
        Packet::Positive.emit(Framing::Direct, &mut octets).map_err(failed)?;
        messages.stream_mut().write_all(&octets).await
    }
}
