//! Sends and receives a requester's messages over UDP or TCP.

use lanlab_messages::Transport;
use lanlab_stack::ip::{ConnectionId, Received, Refusal, SocketId};
use lanlab_units::Instant;
use lanlab_wire::session::Token;
use lanlab_workloads::echo::{Handed, Heard, Plan, ReplyReader, RequestWriter};

use super::Echo;
use crate::program::Host;
use crate::programs::connection::{await_bytes, connect, write_all};
use crate::programs::keys::{datagram_key, room_key};
use crate::programs::{CLIENT_PORT, HostNode};

const TOKEN: Token = Token([0; 16]);

pub(super) enum Way {
    Datagrams { socket: SocketId, writer: RequestWriter, reader: Box<ReplyReader> },
    Connection { id: ConnectionId, received_bytes: usize, replied: u64 },
}

pub(super) struct Channel {
    host: Host<HostNode>,
    echo: Echo,
    pub way: Way,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Channel {
    pub async fn open(host: &Host<HostNode>, echo: &Echo) -> Result<Self, Refusal> {
        let way = match echo.plan.transport {
            Transport::Udp => {
                let (receive, send) = echo.buffers;
                let bind =
                    |node: &mut HostNode, _| node.ip.interface.bind(CLIENT_PORT, receive, send);
                let replies = Plan { message_bytes: echo.reply_bytes, ..(*echo.plan).clone() };
                Way::Datagrams {
                    socket: host.with_node(bind)?,
                    writer: RequestWriter::new(&echo.plan, TOKEN),
                    reader: Box::new(ReplyReader::new(&replies, TOKEN)),
                }
            }
            Transport::Tcp => {
                let id = connect(host, echo.to).await?;
                Way::Connection { id, received_bytes: 0, replied: 0 }
            }
        };
        let request = vec![0; echo.plan.message_bytes];
        let reply = vec![0; echo.reply_bytes];
        Ok(Self { host: host.clone(), echo: echo.clone(), way, request, reply })
    }

    pub async fn send(&mut self, sequence: u64, now: Instant) -> Result<Handed, Refusal> {
        let (host, to) = (&self.host, self.echo.to);
        host.call(host.send_call(), self.request.len()).await;
        match &self.way {
            Way::Datagrams { socket, writer, .. } => {
                writer.write(sequence, now, &mut self.request);
                let request = &self.request;
                let mut send = |node: &mut HostNode, _| match node
                    .ip
                    .interface
                    .send_datagram(*socket, to, request)
                {
                    Err(Refusal::Full) => None,
                    done => Some(done),
                };
                let room = host.until(room_key(*socket), "room in its send buffer", &mut send);
                room.await.map(|()| Handed::Sent)
            }
            Way::Connection { id, .. } => {
                let is_written = write_all(host, *id, &self.request).await;
                Ok(if is_written { Handed::Sent } else { Handed::Closed })
            }
        }
    }

    /// Whether a UDP reply has arrived. Unread TCP replies block the responder.
    pub fn has_reply(&self) -> bool {
        match self.way {
            Way::Datagrams { socket, .. } => {
                self.host.with_node(|node, _| node.ip.interface.datagram_bytes(socket).is_some())
            }
            Way::Connection { .. } => false,
        }
    }

    /// Wait for a reply, at most until `until`.
    pub async fn next(&mut self, until: Instant) -> Heard {
        let (host, cost) = (&self.host, self.host.receive_call());
        match &mut self.way {
            Way::Datagrams { socket, reader, .. } => {
                let (socket, reply) = (*socket, &mut self.reply);
                let look = |node: &mut HostNode, _| node.ip.interface.datagram_bytes(socket);
                let waited = host.until_or(datagram_key(socket), "a reply", Some(until), look);
                let Some(bytes) = waited.await else { return Heard::Idle };
                host.call(cost, bytes).await;
                let take =
                    |node: &mut HostNode, _| node.ip.interface.receive_datagram(socket, reply);
                host.with_node(take);
                reader.read(&self.reply)
            }
            Way::Connection { id, received_bytes, replied } => {
                while *received_bytes < self.reply.len() {
                    let wanted = self.reply.len() - *received_bytes;
                    let came = await_bytes(host, *id, wanted, "a reply", Some(until));
                    let bytes = match came.await {
                        Some(Ok(bytes)) => bytes,
                        Some(Err(_)) => return Heard::Closed,
                        None => return Heard::Idle,
                    };
                    host.call(cost, bytes).await;
                    let into = &mut self.reply[..bytes];
                    let take = |node: &mut HostNode, now| node.ip.interface.receive(now, *id, into);
                    if let Received::Bytes(bytes) = host.with_node(take) {
                        *received_bytes += bytes;
                    }
                }
                *received_bytes = 0;
                *replied += 1;
                Heard::Reply(*replied - 1)
            }
        }
    }
}
