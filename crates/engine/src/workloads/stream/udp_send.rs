//! The sender over UDP.

use std::io;
use std::time::Duration;

use lanlab_os::{self as os, DatagramSocket, Interest, Readiness, SendBatch};
use lanlab_units::Instant;
use lanlab_wire::session::{Kind, Message, RECEIVE_LEN, Token};

use super::acknowledged::Over;
use super::flow_scheduler::waits_for_room;
use super::flow_threads::{self, Driven, Flow, ThreadUsage, Turn, cpu_of};
use super::{Plan, Session, failure_of_end};
use crate::messages::{EndedBy, Failure, Io, StreamSend, StreamSent};
use crate::running::Running;
use crate::workloads::padding;
use crate::workloads::setup::{connect_datagram, is_idle, is_no_room, local_port, socket_address};
use lanlab_workloads::stream::{Action, Departing, Outgoing, Sent, SharedMeters, sum_up_sent};

/// Time-out of waiting for room, to check whether the peer is still there.
const BLOCKED: Duration = Duration::from_millis(50);
pub fn send(
    request: &StreamSend,
    session: &Session,
    running: &Running,
) -> Result<(StreamSent, Option<Failure>), Failure> {
    let (plan, token) = (&session.plan, session.token);
    let mut sockets = Vec::with_capacity(request.ports.len());
    let mut round_trip_ns = u64::MAX;
    for (port, flow) in request.ports.iter().zip(0..) {
        let peer = socket_address(request.peer, *port)?;
        let options = &request.spec.socket;
        let ends = (request.bind, peer);
        let connected = connect_datagram(ends, options, token, flow, plan.silence_ns, running)?;
        let socket = connected.socket;
        socket
            .enable_local_drop_reports()
            .map_err(|error| Failure::system("socket options", &error))?;
        round_trip_ns = round_trip_ns.min(connected.round_trip_ns);
        sockets.push(socket);
    }
    running.ready(Vec::new(), Some(round_trip_ns));
    let start = running.wait_for_start(|| Ok(()))?;
    let plan = &Plan { round_trip_ns: running.round_trip_ns(), ..plan.clone() };

    let messages_of = |flow, port| Outgoing::new(plan, &running.progress, token, flow, start, port);
    let by = (request.processor, token);
    let over = send_over(plan, by, &sockets, running, start, messages_of)?;
    Ok((over.sent, over.failure))
}

/// Send over connected sockets from `start` on, until all flows have ended.
pub fn send_over<M: Departing>(
    plan: &Plan,
    (processor, token): (Option<u16>, Token),
    sockets: &[DatagramSocket],
    running: &Running,
    start: Instant,
    messages_of: impl Fn(u16, u16) -> M + Sync,
) -> Result<Over, Failure> {
    let work = |share: Vec<(u16, &DatagramSocket)>| {
        let alone = waits_for_room(share.len());
        let mut flows = share
            .into_iter()
            .map(|(flow, socket)| {
                let messages = messages_of(flow, local_port(socket)?);
                Ok(Sender { plan, token, flow, socket, alone, messages })
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        let mut shared = Shared {
            batch: SendBatch::new(plan.group, plan.message_bytes, padding()),
            meters: SharedMeters::default(),
        };
        let (stopped, failure) = flow_threads::send_from(start, &mut flows, &mut shared, running);
        for flow in &mut flows {
            flow.messages.stop(stopped, os::monotonic(), &mut shared.meters);
        }
        let flows = flows.into_iter().map(Sender::into_sent).collect();
        Ok(Driven { flows, meters: shared.meters, failure })
    };
    let sockets = sockets.iter().collect();
    let (threads, host) = flow_threads::run(plan, processor, sockets, running, start, work)?;
    let (flows, meters, failure) = flow_threads::gather(threads);
    let cpu = cpu_of(meters.iter().map(|thread| &thread.usage));
    let sent = sum_up_sent(plan, flows, &meters, cpu, host);
    let failure = failure.or_else(|| failure_of_end(sent.ended_by));
    Ok(Over { sent, acknowledged: None, failure })
}

struct Shared {
    batch: SendBatch,
    meters: SharedMeters<ThreadUsage>,
}

struct Sender<'a, M> {
    plan: &'a Plan,
    token: Token,
    flow: u16,
    socket: &'a DatagramSocket,
    alone: bool,
    messages: M,
}

impl<M: Departing> Flow for Sender<'_, M> {
    type Shared = Shared;

    fn turn(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        loop {
            match self.messages.next(now, &mut shared.meters)? {
                Action::Send(messages) => return self.send(messages as usize, now, shared),
                Action::Say(kind) => self.say(kind)?,
                Action::Hear => self.hear(now)?,
                Action::Wait { until, exact } => return Ok(Turn::Wait { until, exact }),
                Action::Over => return Ok(Turn::Over),
            }
        }
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(self.socket.plain(), key, Interest::Write)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(self.socket.plain())
    }
}

impl<M: Departing> Sender<'_, M> {
    fn into_sent(self) -> Sent {
        let buffer_bytes = socket2::SockRef::from(self.socket.plain()).send_buffer_size();
        self.messages.into_sent(buffer_bytes.unwrap_or(0) as u64)
    }

    fn send(&mut self, count: usize, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        let count = count.clamp(1, self.plan.group);
        for index in 0..count {
            self.messages.write(index as u64, now, shared.batch.message(index));
        }
        let taken = self.hand_over(&mut shared.batch, count);
        self.take(taken, now, shared)
    }

    /// Hand over the first `count` messages, or as many as one call accepts. Never wait in the system call: time
    /// without room is a result.
    #[inline]
    fn hand_over(&self, batch: &mut SendBatch, count: usize) -> io::Result<usize> {
        match self.plan.io {
            // A single message is not split, and may exceed a packet.
            Io::Segment if count > 1 => {
                self.socket.send_segments(batch, count, false).map(|()| count)
            }
            Io::Batch => self.socket.send_batch(batch, count, false),
            _ => self.socket.send_one(batch.message(0), false).map(|()| 1),
        }
    }

    fn take(
        &mut self,
        taken: io::Result<usize>,
        now: Instant,
        shared: &mut Shared,
    ) -> Result<Turn, Failure> {
        match taken {
            Ok(messages) => {
                self.messages.took(messages as u64, now, &mut shared.meters);
                Ok(Turn::Again)
            }
            Err(error) if is_idle(&error) => {
                self.messages.blocked(now);
                if self.alone {
                    os::wait_writable(self.socket.plain(), BLOCKED)
                        .map_err(|error| Failure::system("waiting for room", &error))?;
                }
                Ok(Turn::Blocked)
            }
            Err(error) if is_no_room(&error) => {
                let again = self.messages.no_room(now, &mut shared.meters);
                Ok(again.map_or(Turn::Again, |until| Turn::Wait { until, exact: false }))
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                self.messages.stop(EndedBy::PeerClosed, now, &mut shared.meters);
                Ok(Turn::Over)
            }
            Err(error) => Err(self.send_failure(&error)),
        }
    }

    fn send_failure(&self, error: &io::Error) -> Failure {
        let size = self.plan.message_bytes;
        if self.plan.io == Io::Segment {
            return Failure::new(
                "io.segment_unsupported",
                format!("messages of {size} bytes as segments of one buffer: {error}"),
            )
            .hint("the link's device must offer checksum offload, and a message must fit its packets; use io `batch`");
        }
        Failure::system(format!("send a message of {size} bytes"), error)
    }

    fn say(&self, kind: Kind) -> Result<(), Failure> {
        let message = Message { token: self.token, flow: self.flow, kind };
        said(self.socket.plain().send(&message.emit()))
    }

    fn hear(&mut self, now: Instant) -> Result<(), Failure> {
        let mut buffer = [0; RECEIVE_LEN];
        loop {
            let received = self.socket.try_receive(&mut buffer);
            let word = received.map(|length| length.map(|length| &buffer[..length]));
            if !self.take_word(word, now)? {
                return Ok(());
            }
        }
    }

    /// Handle a received control message; returns whether there may be more.
    fn take_word(
        &mut self,
        word: io::Result<Option<&[u8]>>,
        now: Instant,
    ) -> Result<bool, Failure> {
        match word {
            Ok(None) => Ok(false),
            Ok(Some(octets)) => {
                if let Ok(message) = Message::parse(octets) {
                    self.messages.heard(&message, now);
                }
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                self.messages.closed();
                Ok(false)
            }
            Err(error) if is_idle(&error) => Ok(true),
            Err(error) => Err(Failure::system("session", &error)),
        }
    }
}

fn said(sent: io::Result<usize>) -> Result<(), Failure> {
    match sent {
        Ok(_) => Ok(()),
        // The message is resent later.
        Err(error) if is_idle(&error) || is_no_room(&error) => Ok(()),
        // The next receive reports it.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) => Err(Failure::system("session", &error)),
    }
}

#[cfg(test)]
mod tests;
