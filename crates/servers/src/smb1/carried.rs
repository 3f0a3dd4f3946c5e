//! Messages of a client, over each carrier.

use std::io;
use std::task::{Context, Poll};

use lanlab_connections::Messages;
use lanlab_connections::wired::WiredPort;
use lanlab_stack::carrier::CarrierFacts;
use lanlab_wire::nbss::{Framing, Kind, Packet};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// One end of what carries messages.
pub enum Carried {
    Kernel(Messages),
    Wired(WiredPort),
}

impl Carried {
    /// A connection, which may begin with a request for a session.
    pub fn over_tcp(stream: TcpStream, longest: usize) -> Self {
        Self::Kernel(Messages::new(stream, Framing::Direct, longest).with_requests())
    }

    /// What it can do for messages of at most `longest` bytes.
    pub fn facts(&self, longest: usize) -> CarrierFacts {
        match self {
            Self::Kernel(_) => CarrierFacts { longest_message: longest as u32, keeps_raw: true },
            Self::Wired(port) => port.facts(),
        }
    }

    /// Take messages of another length from here on. Those of a session on a link have their bound.
    pub fn set_longest(&mut self, longest: usize) {
        if let Self::Kernel(messages) = self {
            messages.set_longest(longest);
        }
    }

    pub fn poll_send(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 2]) -> Poll<io::Result<()>> {
        match self {
            Self::Kernel(messages) => messages.poll_send(cx, parts),
            Self::Wired(port) => port.poll_send(cx, parts),
        }
    }

    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut Vec<u8>,
    ) -> Poll<io::Result<Kind>> {
        match self {
            Self::Kernel(messages) => messages.poll_receive(cx, into),
            Self::Wired(port) => port.poll_receive(cx, into).map_ok(|()| Kind::Message),
        }
    }

    /// Any name that is called gets a session.
    pub async fn answer_request(&mut self, request: &[u8]) -> io::Result<()> {
        let Self::Kernel(messages) = self else { return Ok(()) };
        let failed = |error: lanlab_wire::Error| io::Error::other(error.to_string());
        Packet::parse(Kind::Request, request).map_err(failed)?;
        let mut octets = Vec::new();
        Packet::Positive.emit(Framing::Direct, &mut octets).map_err(failed)?;
        messages.stream_mut().write_all(&octets).await
    }
}
