//! One end of a message session in a world: over a carrier of frames, or over the host's TCP.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use lanlab_sessions::{MessagePort, why_ended};
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::ip::{ConnectionId, Received};
use lanlab_stack::node::{NotSent, SessionId, Why};
use lanlab_wire::nbss::{Framing, HEADER_LEN, Header, Kind, Packet};

use crate::Cost;
use crate::program::{Compute, Host};
use crate::programs::HostNode;
use crate::programs::keys::{connection_key, session_key};

const READ_BYTES: usize = 64 << 10;
const WAITS_TO_SEND: &str = "room for a message";
const WAITS_TO_RECEIVE: &str = "a message";

/// One end of a session. Sending and receiving cost CPU time of the host
/// ([`Machine::send_call`](crate::Machine::send_call),
/// [`Machine::receive_call`](crate::Machine::receive_call)).
pub struct SimulatedPort {
    host: Host<HostNode>,
    way: Way,
    sending: Work,
    receiving: Work,
    whole: Vec<u8>,
    received: Vec<u8>,
}

enum Way {
    Frames { session: SessionId, facts: CarrierFacts },
    Tcp(Stream),
}

/// Messages on a connection, each preceded by its length (RFC 1002, 4.3).
struct Stream {
    connection: ConnectionId,
    longest: usize,
    takes_requests: bool,
    sent: usize,
    incoming: Vec<u8>,
}

#[derive(Default)]
pub(super) enum Work {
    #[default]
    None,
    Under(Compute<HostNode>),
    Done,
}

impl Work {
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        begin: impl FnOnce() -> Option<Compute<HostNode>>,
    ) -> Poll<()> {
        if matches!(self, Self::None) {
            *self = begin().map_or(Self::Done, Self::Under);
        }
        if let Self::Under(work) = self {
            ready!(Pin::new(work).poll(cx));
            *self = Self::Done;
        }
        Poll::Ready(())
    }
}

pub(super) fn work(host: &Host<HostNode>, cost: Cost, bytes: usize) -> Option<Compute<HostNode>> {
    (cost != Cost::ZERO).then(|| host.call(cost, bytes))
}

impl SimulatedPort {
    pub fn of_session(host: Host<HostNode>, session: SessionId, facts: CarrierFacts) -> Self {
        Self::new(host, Way::Frames { session, facts })
    }

    /// An open connection; a server answers session requests.
    pub fn of_connection(
        host: Host<HostNode>,
        connection: ConnectionId,
        longest: usize,
        takes_requests: bool,
    ) -> Self {
        let incoming = Vec::new();
        let stream = Stream { connection, longest, takes_requests, sent: 0, incoming };
        Self::new(host, Way::Tcp(stream))
    }

    fn new(host: Host<HostNode>, way: Way) -> Self {
        Self {
            host,
            way,
            sending: Work::None,
            receiving: Work::None,
            whole: Vec::new(),
            received: Vec::new(),
        }
    }

    pub fn facts(&self) -> CarrierFacts {
        match &self.way {
            Way::Frames { facts, .. } => *facts,
            Way::Tcp(stream) => CarrierFacts {
                longest_message: stream.longest as u32,
                keeps_raw: true,
                is_one_at_a_time: false,
            },
        }
    }

    fn put_together(&mut self, parts: [&[u8]; 2]) -> io::Result<()> {
        let len = parts[0].len() + parts[1].len();
        self.whole.clear();
        if let Way::Tcp(_) = self.way {
            let header = Header { kind: Kind::Message, len }.emit(Framing::Session);
            self.whole.extend_from_slice(&header.map_err(io::Error::other)?);
        }
        self.whole.extend_from_slice(parts[0]);
        self.whole.extend_from_slice(parts[1]);
        Ok(())
    }

    fn poll_hand_over(&mut self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        let whole = &self.whole;
        match &mut self.way {
            Way::Frames { session, .. } => {
                let session = *session;
                let sent = self.host.with_node(|node, now| {
                    let Some(station) = &mut node.station else { return Err(NotSent::NoSession) };
                    station.send(now, session, whole)
                });
                match sent {
                    Ok(()) => return Poll::Ready(Ok(())),
                    Err(NotSent::TooLong) => {
                        return Poll::Ready(Err(ErrorKind::InvalidInput.into()));
                    }
                    Err(NotSent::NoSession) => {
                        return Poll::Ready(Err(ErrorKind::NotConnected.into()));
                    }
                    Err(NotSent::Full) => self.host.wait(cx, session_key(session), WAITS_TO_SEND),
                }
            }
            Way::Tcp(stream) => {
                let connection = stream.connection;
                let left = &whole[stream.sent..];
                let (count, is_open) = self.host.with_node(|node, now| {
                    let interface = &mut node.ip.interface;
                    (interface.send(now, connection, left), interface.is_open(connection))
                });
                stream.sent += count;
                if stream.sent == whole.len() {
                    stream.sent = 0;
                    return Poll::Ready(Ok(()));
                }
                if !is_open {
                    return Poll::Ready(Err(ErrorKind::ConnectionReset.into()));
                }
                self.host.wait(cx, connection_key(connection), WAITS_TO_SEND);
            }
        }
        Poll::Pending
    }

    fn poll_take(&mut self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.way {
            Way::Frames { session, .. } => {
                let session = *session;
                let received = &mut self.received;
                let taken = self.host.with_node(|node, _| match &mut node.station {
                    Some(station) => station.receive(session, received),
                    None => Some(Err(Why::Closed)),
                });
                match taken {
                    Some(Ok(())) => Poll::Ready(Ok(())),
                    Some(Err(why)) => Poll::Ready(Err(why_ended(why))),
                    None => {
                        self.host.wait(cx, session_key(session), WAITS_TO_RECEIVE);
                        Poll::Pending
                    }
                }
            }
            Way::Tcp(stream) => stream.poll_take(&self.host, cx, &mut self.received),
        }
    }
}

impl Stream {
    fn poll_take(
        &mut self,
        host: &Host<HostNode>,
        cx: &Context<'_>,
        message: &mut Vec<u8>,
    ) -> Poll<io::Result<()>> {
        loop {
            match self.take_packet(message)? {
                Some(Kind::Request) => {
                    let mut answer = Vec::new();
                    let written = Packet::Positive.emit(Framing::Session, &mut answer);
                    written.map_err(io::Error::other)?;
                    // These four bytes are the first on the connection, so there is room for them.
                    let send = |node: &mut HostNode, now| {
                        node.ip.interface.send(now, self.connection, &answer)
                    };
                    host.with_node(send);
                    continue;
                }
                Some(Kind::Message) => return Poll::Ready(Ok(())),
                Some(_) => continue,
                None => {}
            }
            let had = self.incoming.len();
            let connection = self.connection;
            let taken = host.with_node(|node, now| {
                let interface = &mut node.ip.interface;
                let count = interface.readable_bytes(connection).min(READ_BYTES);
                self.incoming.resize(had + count, 0);
                interface.receive(now, connection, &mut self.incoming[had..])
            });
            let count = if let Received::Bytes(count) = taken { count } else { 0 };
            self.incoming.truncate(had + count);
            match taken {
                Received::Bytes(_) => {}
                Received::Nothing => {
                    host.wait(cx, connection_key(connection), WAITS_TO_RECEIVE);
                    return Poll::Pending;
                }
                Received::End => return Poll::Ready(Err(ErrorKind::UnexpectedEof.into())),
                Received::Broken => return Poll::Ready(Err(ErrorKind::ConnectionReset.into())),
            }
        }
    }

    /// The next packet, if it has arrived completely; the message is in `message`.
    fn take_packet(&mut self, message: &mut Vec<u8>) -> io::Result<Option<Kind>> {
        let bad = |text: String| io::Error::new(ErrorKind::InvalidData, text);
        let Some(head) = self.incoming.first_chunk::<HEADER_LEN>() else { return Ok(None) };
        let Header { kind, len } =
            Header::parse(head, Framing::Session).map_err(|error| bad(error.to_string()))?;
        let is_taken = match kind {
            Kind::Message | Kind::KeepAlive => true,
            Kind::Positive => !self.takes_requests,
            Kind::Request => self.takes_requests,
            _ => false,
        };
        if !is_taken || len > self.longest {
            return Err(bad(format!("found {kind:?} of {len} bytes; allowed: a message")));
        }
        let Some(payload) = self.incoming.get(HEADER_LEN..HEADER_LEN + len) else {
            return Ok(None);
        };
        if kind == Kind::Message {
            message.clear();
            message.extend_from_slice(payload);
        }
        self.incoming.drain(..HEADER_LEN + len);
        Ok(Some(kind))
    }
}

impl MessagePort for SimulatedPort {
    fn set_longest(&mut self, longest: usize) {
        if let Way::Tcp(stream) = &mut self.way {
            stream.longest = longest;
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 2]) -> Poll<io::Result<()>> {
        let host = &self.host;
        let len = parts[0].len() + parts[1].len();
        let is_begun = !matches!(self.sending, Work::None);
        ready!(self.sending.poll(cx, || work(host, host.send_call(), len)));
        if !is_begun || self.whole.is_empty() {
            self.put_together(parts)?;
        }
        ready!(self.poll_hand_over(cx))?;
        self.sending = Work::None;
        self.whole.clear();
        Poll::Ready(Ok(()))
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<io::Result<()>> {
        if matches!(self.receiving, Work::None) {
            ready!(self.poll_take(cx))?;
        }
        let (host, len) = (&self.host, self.received.len());
        ready!(self.receiving.poll(cx, || work(host, host.receive_call(), len)));
        self.receiving = Work::None;
        std::mem::swap(into, &mut self.received);
        Poll::Ready(Ok(()))
    }
}

impl Drop for SimulatedPort {
    fn drop(&mut self) {
        self.host.with_node_of_drop(|node, now| match &self.way {
            Way::Frames { session, .. } => {
                if let Some(station) = &mut node.station {
                    station.close(now, *session);
                }
            }
            Way::Tcp(stream) => node.ip.interface.close(now, stream.connection),
        });
    }
}
