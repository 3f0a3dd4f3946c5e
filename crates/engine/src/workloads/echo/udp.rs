//! Echo over UDP.

use std::io;
use std::time::Duration;

use lanlab_os::{self as os, DatagramSocket, ReceiveBatch};
use lanlab_units::Instant;
use lanlab_wire::probe::FULL_HEADER_LEN;
use lanlab_wire::session::{Kind, Message, QUESTION_LEN, RECEIVE_LEN, Token};
use lanlab_workloads::echo::{
    Asked, Content, Handed, Heard, Next, Plan, ReplyReader, RequestWriter, Responder,
};
use lanlab_workloads::{Closing, ClosingStep};

use super::envelope::Envelope;
use super::requester::{self, Replies, Requests};
use super::rest;
use crate::messages::{
    EchoRequest, EchoRequested, EchoRespond, EchoResponded, EndedBy, Failure, Timestamps,
};
use crate::running::Running;
use crate::workloads::padding;
use crate::workloads::setup::{
    Accepted, TICK, accept_datagram, bind, bind_datagram, connect_datagram, is_idle, is_no_room,
    local_port, socket_address,
};

const MILLISECOND_NS: u64 = 1_000_000;

pub fn respond(
    request: &EchoRespond,
    plan: &Plan,
    token: Token,
    running: &Running,
) -> Result<EchoResponded, Failure> {
    let socket = super::ports_of(request)
        .take(|port| bind_datagram(request.bind, port, &request.spec.socket))?;
    running.ready(vec![local_port(&socket)?], None);
    let peer = request.peer.ip();
    let mut accepted =
        accept_datagram(socket, peer, (token, 0), plan.silence_ns, running, || Ok(()))?;
    let start = running.wait_for_start(|| accepted.answer_again())?;
    let plan = &plan.on_path(running.round_trip_ns())?;
    let Accepted { socket, acceptor } = accepted;
    let responder = Responder::new(plan, &running.progress, token, acceptor, start);
    let work = || {
        bind(request.processor)?;
        answer(responder, &socket, plan, token)
    };
    running.with_progress(start, plan.warmup_end(start), work).0
}

fn answer(
    mut responder: Responder,
    socket: &DatagramSocket,
    plan: &Plan,
    token: Token,
) -> Result<EchoResponded, Failure> {
    socket
        .set_receive_timeout(Some(TICK))
        .map_err(|error| Failure::system("receive time-out", &error))?;
    let mut batch = ReceiveBatch::plain(buffer_bytes(plan));
    let before = os::thread_usage();
    let say = |kind| {
        // Lost messages are requested again.
        let _ = socket.send_one(&Message { token, flow: 0, kind }.emit(), false);
    };
    let ended_by = loop {
        let now = os::monotonic();
        match responder.next(now)? {
            Next::Listen => {}
            Next::Say(kind) => {
                say(kind);
                continue;
            }
            Next::Over(ended_by) => break ended_by,
        }
        match there(socket.receive_batch(&mut batch, plan.waits_in_call()), "receive")? {
            There::Datagram => {}
            There::Nothing => {
                responder.idle(os::monotonic());
                rest(plan);
                continue;
            }
            There::ClosedPort => {
                responder.closed();
                continue;
            }
        }
        let Some(received) = batch.received().next() else { continue };
        match responder.take(received.bytes, now) {
            // If there is no room, drop the reply: a responder never waits for a requester.
            Asked::Echo => {
                let sent = socket.send_one(received.bytes, false);
                responder.handed(handed(sent, false, "answer")?);
            }
            Asked::Say(kind) => say(kind),
            Asked::Nothing => {}
        }
    };
    Ok(EchoResponded {
        ended_by,
        receive: plan.receive,
        answered_messages: responder.answered,
        refused_messages: responder.refused,
        foreign_datagrams: responder.foreign,
        cpu: os::thread_usage().since(before),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum There {
    Datagram,
    Nothing,
    ClosedPort,
}

fn there(received: io::Result<usize>, what: &str) -> Result<There, Failure> {
    match received {
        Ok(_) => Ok(There::Datagram),
        Err(error) if is_idle(&error) => Ok(There::Nothing),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(There::ClosedPort),
        Err(error) => Err(Failure::system(what, &error)),
    }
}

/// The outcome of sending `what`. Without having `waited`, a full buffer is a refusal.
fn handed(sent: io::Result<()>, waited: bool, what: &str) -> Result<Handed, Failure> {
    match sent {
        Ok(()) => Ok(Handed::Sent),
        Err(error) if is_no_room(&error) => Ok(Handed::Refused),
        Err(error) if !waited && is_idle(&error) => Ok(Handed::Refused),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(Handed::Closed),
        Err(error) => Err(Failure::system(what, &error)),
    }
}

/// A buffer holds a message of the condition or the session, and one byte more to detect an oversized one.
fn buffer_bytes(plan: &Plan) -> usize {
    plan.message_bytes.max(QUESTION_LEN) + 1
}

pub(super) fn prepare(socket: &DatagramSocket, plan: &Plan) -> Result<(), Failure> {
    if plan.timestamps == Timestamps::Kernel {
        socket
            .enable_kernel_timestamps(true)
            .map_err(|error| Failure::system("the kernel's time stamps", &error))?;
    }
    socket
        .enable_local_drop_reports()
        // No wait exceeds the time-out, so that late replies are noticed.
        .and_then(|()| {
            let timeout = Duration::from_nanos(plan.timeout_ns).min(TICK);
            socket.set_receive_timeout(Some(timeout))
        })
        .map_err(|error| Failure::system("socket options", &error))
}

pub fn request(
    request: &EchoRequest,
    plan: &Plan,
    token: Token,
    running: &Running,
) -> Result<EchoRequested, Failure> {
    let peer = socket_address(request.peer, request.port)?;
    let (ends, options) = ((request.bind, peer), &request.spec.socket);
    let connected = connect_datagram(ends, options, token, 0, plan.silence_ns, running)?;
    let socket = connected.socket;
    prepare(&socket, plan)?;
    let (plan, start) = super::started(plan, connected.round_trip_ns, running)?;
    let ends = (&socket, Envelope::Udp, token);
    let mut requested = exchange(&plan, request.processor, ends, None, running, start)?;
    if requested.ended_by == EndedBy::Finished {
        requested.ended_by = agree_on_end(&socket, token, plan.confirm_ns())?;
    }
    Ok(requested)
}

/// Send requests on a connected and prepared socket, and time their replies; with `content`, to a peer that is not
/// an engine.
pub(super) fn exchange(
    plan: &Plan,
    processor: Option<u16>,
    (socket, envelope, token): (&DatagramSocket, Envelope, Token),
    content: Option<&Content>,
    running: &Running,
    start: Instant,
) -> Result<EchoRequested, Failure> {
    let padding = std::iter::repeat_with(padding()).take(plan.message_bytes);
    let mut requests = DatagramRequests {
        socket,
        envelope,
        token,
        writer: RequestWriter::new(plan, token),
        message: std::iter::repeat_n(0, envelope.header_bytes()).chain(padding).collect(),
        word: Vec::new(),
        sent: 0,
    };
    let buffer_bytes = envelope.most_bytes() + buffer_bytes(plan);
    let mut replies = DatagramReplies {
        plan,
        socket,
        envelope,
        reader: ReplyReader::new(plan, token),
        content,
        batch: match plan.timestamps {
            Timestamps::Program => ReceiveBatch::plain(buffer_bytes),
            Timestamps::Kernel => ReceiveBatch::new(1, buffer_bytes),
        },
        kernel_arrived_ns: None,
    };
    requester::run(plan, processor, &mut requests, &mut replies, running, start)
}

/// Agree with the responder on the end. The result does not need its answer: a silent responder times out by
/// itself.
fn agree_on_end(
    socket: &DatagramSocket,
    token: Token,
    confirm_ns: u64,
) -> Result<EndedBy, Failure> {
    let finish = Kind::Finish { first_measured: 0, sent_messages: 0 };
    let finish = Message { token, flow: 0, kind: finish }.emit();
    let mut closing = Closing::new(os::monotonic(), confirm_ns, confirm_ns, confirm_ns);
    let mut buffer = [0; RECEIVE_LEN];
    loop {
        let now = os::monotonic();
        match closing.next(now) {
            ClosingStep::Say => {
                // A lost message is resent.
                let _ = socket.plain().send(&finish);
                continue;
            }
            ClosingStep::Listen(until) => {
                let wait = Duration::from_nanos(until.nanos_since(now).max(MILLISECOND_NS));
                socket
                    .set_receive_timeout(Some(wait))
                    .map_err(|error| Failure::system("receive time-out", &error))?;
            }
            ClosingStep::Over(ended_by) => return Ok(ended_by),
        }
        let received = socket.plain().recv(&mut buffer);
        match answer_to_end(received.map(|length| &buffer[..length]), token) {
            EndAnswer::Confirmed => closing.confirm(),
            EndAnswer::ClosedPort => return Ok(EndedBy::Unconfirmed),
            EndAnswer::None => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndAnswer {
    Confirmed,
    ClosedPort,
    None,
}

fn answer_to_end(received: io::Result<&[u8]>, token: Token) -> EndAnswer {
    match received {
        Ok(octets) => match Message::parse(octets) {
            Ok(Message { token: its, kind: Kind::Finished { .. }, .. }) if its.matches(&token) => {
                EndAnswer::Confirmed
            }
            _ => EndAnswer::None,
        },
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => EndAnswer::ClosedPort,
        Err(_) => EndAnswer::None,
    }
}

struct DatagramRequests<'a> {
    socket: &'a DatagramSocket,
    envelope: Envelope,
    token: Token,
    writer: RequestWriter,
    message: Vec<u8>,
    word: Vec<u8>,
    sent: u32,
}

impl Requests for DatagramRequests<'_> {
    fn send(&mut self, sequence: u64, now: Instant) -> Result<Handed, Failure> {
        self.writer.write(sequence, now, &mut self.message[self.envelope.header_bytes()..]);
        self.envelope.seal(sequence, &mut self.message);
        self.sent = self.sent.wrapping_add(1);
        handed(self.socket.send_one(&self.message, true), true, "send a request")
    }

    fn say_alive(&mut self) {
        self.sent = self.sent.wrapping_add(1);
        let kind = Kind::Alive { received_messages: 0 };
        let message = Message { token: self.token, flow: 0, kind };
        self.envelope.put(0, &message.emit(), &mut self.word);
        let _ = self.socket.plain().send(&self.word);
    }

    fn kernel_sent_ns(&mut self) -> Option<u64> {
        // Timestamps of earlier requests without replies are skipped.
        while let Ok(Some((number, at_ns))) = self.socket.sent_stamp() {
            if number == self.sent.wrapping_sub(1) {
                return Some(at_ns);
            }
        }
        None
    }
}

/// Whether a reply's padding differs from the request's. Its header has been checked, except for the time.
fn is_other(content: &Content, sequence: u64, reply: &[u8]) -> bool {
    let padding = reply.get(FULL_HEADER_LEN..).unwrap_or_default();
    content.difference(sequence, FULL_HEADER_LEN, padding).is_some()
}

struct DatagramReplies<'a> {
    plan: &'a Plan,
    socket: &'a DatagramSocket,
    envelope: Envelope,
    reader: ReplyReader,
    /// Expected content of replies from peers that are not engines.
    content: Option<&'a Content>,
    batch: ReceiveBatch,
    kernel_arrived_ns: Option<u64>,
}

impl Replies for DatagramReplies<'_> {
    fn next(&mut self) -> Result<Heard, Failure> {
        let received = self.socket.receive_batch(&mut self.batch, self.plan.waits_in_call());
        match there(received, "receive a reply")? {
            There::Datagram => {
                let Some(received) = self.batch.received().next() else { return Ok(Heard::Idle) };
                self.kernel_arrived_ns = received.kernel_realtime_ns;
                // A raw socket also receives packets of other programs.
                let Some(reply) = self.envelope.open(received.bytes) else {
                    return Ok(Heard::Idle);
                };
                Ok(match (self.reader.read(reply), self.content) {
                    (Heard::Reply(sequence), Some(content))
                        if is_other(content, sequence, reply) =>
                    {
                        Heard::Foreign
                    }
                    (heard, _) => heard,
                })
            }
            There::Nothing => {
                rest(self.plan);
                Ok(Heard::Idle)
            }
            There::ClosedPort => Ok(Heard::Closed),
        }
    }

    fn kernel_arrived_ns(&self) -> Option<u64> {
        self.kernel_arrived_ns
    }
}

#[cfg(test)]
mod tests;
