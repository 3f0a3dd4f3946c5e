//! Echo over TCP: messages have a fixed length, and replies arrive in the order of requests.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_wire::session::Token;
use lanlab_workloads::echo::{Content, Handed, Heard, Plan};

use super::requester::{self, Replies, Requests};
use super::{NO_ECHO_HINT, rest};
use crate::messages::{EchoRequest, EchoRequested, EchoRespond, EchoResponded, EndedBy, Failure};
use crate::running::Running;
use crate::workloads::padding;
use crate::workloads::setup::{
    TICK, accept_streams, bind, connect_stream, is_closed, is_idle, listen, socket_address,
    tcp_facts,
};

pub fn respond(
    request: &EchoRespond,
    plan: &Plan,
    token: Token,
    running: &Running,
) -> Result<EchoResponded, Failure> {
    let options = &request.spec.socket;
    let listener = super::ports_of(request).take(|port| listen(request.bind, port, options))?;
    let address = listener.local_addr().map_err(|error| Failure::system("local port", &error))?;
    running.ready(vec![address.port()], None);
    let peer = request.peer.ip();
    let streams = accept_streams(&listener, peer, (token, 1), options, plan.silence_ns, running)?;
    drop(listener);
    let stream = &streams[0];
    stream
        .set_read_timeout(Some(TICK))
        .and_then(|()| stream.set_write_timeout(Some(TICK)))
        .map_err(|error| Failure::system("socket options", &error))?;

    let start = running.wait_for_start(|| Ok(()))?;
    let plan = &plan.on_path(running.round_trip_ns())?;
    let work = || {
        bind(request.processor)?;
        answer(stream, plan, running)
    };
    running.with_progress(start, plan.warmup_end(start), work).0
}

fn answer(stream: &TcpStream, plan: &Plan, running: &Running) -> Result<EchoResponded, Failure> {
    let mut message = vec![0; plan.message_bytes];
    let before = os::thread_usage();
    let mut answered = 0;
    let ended_by = loop {
        match read_message(stream, &mut message, plan, running)? {
            None => {}
            Some(ended_by) => break ended_by,
        }
        match write_message(stream, &message, plan.tcp_silence_ns(), running)? {
            None => answered += 1,
            Some(ended_by) => break ended_by,
        }
        running.count(1, plan.message_bytes as u64);
        if running.is_cancelled() {
            break EndedBy::Cancelled;
        }
    };
    Ok(EchoResponded {
        ended_by,
        receive: plan.receive,
        answered_messages: answered,
        refused_messages: 0,
        foreign_datagrams: 0,
        cpu: os::thread_usage().since(before),
    })
}

/// Read one whole message. `Some` if none will come: a requester ends by closing the connection between two
/// messages.
fn read_message(
    mut stream: &TcpStream,
    message: &mut [u8],
    plan: &Plan,
    running: &Running,
) -> Result<Option<EndedBy>, Failure> {
    let mut filled = 0;
    let mut last_heard = os::monotonic();
    while filled < message.len() {
        let place = &mut message[filled..];
        let outcome =
            if plan.waits_in_call() { stream.read(place) } else { os::receive_now(stream, place) };
        match outcome {
            Ok(0) if filled == 0 => return Ok(Some(EndedBy::Finished)),
            Ok(0) => return Ok(Some(EndedBy::PeerClosed)),
            Ok(octets) => {
                filled += octets;
                last_heard = os::monotonic();
            }
            Err(error) if is_idle(&error) => {
                let now = os::monotonic();
                if running.is_cancelled() {
                    return Ok(Some(EndedBy::Cancelled));
                }
                let armed_at = running.start().unwrap_or(now);
                if now.nanos_since(last_heard.max(armed_at)) > plan.tcp_silence_ns() {
                    return Ok(Some(EndedBy::Silence));
                }
                rest(plan);
            }
            Err(error) => return broken("read", &error).map(Some),
        }
    }
    Ok(None)
}

/// Write one whole message. `Some` if the peer no longer accepts it.
fn write_message(
    mut stream: &TcpStream,
    message: &[u8],
    silence_ns: u64,
    running: &Running,
) -> Result<Option<EndedBy>, Failure> {
    let mut written = 0;
    let mut last_progress: Option<Instant> = None;
    while written < message.len() {
        match stream.write(&message[written..]) {
            Ok(0) => return Ok(Some(EndedBy::PeerClosed)),
            Ok(octets) => {
                written += octets;
                last_progress = None;
            }
            Err(error) if is_idle(&error) => {
                let now = os::monotonic();
                if running.is_cancelled() {
                    return Ok(Some(EndedBy::Cancelled));
                }
                if now.nanos_since(*last_progress.get_or_insert(now)) > silence_ns {
                    return Ok(Some(EndedBy::Silence));
                }
            }
            Err(error) => return broken("write", &error).map(Some),
        }
    }
    Ok(None)
}

fn broken(what: &str, error: &io::Error) -> Result<EndedBy, Failure> {
    if is_closed(error) {
        return Ok(EndedBy::PeerClosed);
    }
    Err(Failure::system(what, error))
}

pub fn request(
    request: &EchoRequest,
    plan: &Plan,
    token: Token,
    running: &Running,
) -> Result<EchoRequested, Failure> {
    let peer = socket_address(request.peer, request.port)?;
    let options = &request.spec.socket;
    let (stream, round_trip_ns) =
        connect_stream((request.bind, peer), options, token, 0, plan.silence_ns, running)?;
    set_timeouts(&stream, plan)?;
    let (plan, start) = super::started(plan, round_trip_ns, running)?;
    exchange(&plan, request.processor, &stream, None, running, start)
}

/// No wait exceeds the time-out, so that late replies are noticed.
pub(super) fn set_timeouts(stream: &TcpStream, plan: &Plan) -> Result<(), Failure> {
    let timeout = Duration::from_nanos(plan.timeout_ns).min(TICK);
    stream
        .set_read_timeout(Some(timeout))
        .and_then(|()| stream.set_write_timeout(Some(TICK)))
        .map_err(|error| Failure::system("socket options", &error))
}

/// Send requests on a connection with time-outs set, and time their replies; with `content`, to a peer that is not
/// an engine.
pub(super) fn exchange(
    plan: &Plan,
    processor: Option<u16>,
    stream: &TcpStream,
    content: Option<&Content>,
    running: &Running,
    start: Instant,
) -> Result<EchoRequested, Failure> {
    let message = match content {
        Some(content) => content.message(0),
        None => std::iter::repeat_with(padding()).take(plan.message_bytes).collect(),
    };
    let mut requests = StreamRequests {
        stream,
        running,
        silence_ns: plan.tcp_silence_ns(),
        message,
        content,
        closed: None,
    };
    let mut replies = StreamReplies {
        plan,
        stream,
        message_bytes: plan.message_bytes,
        buffer: vec![0; plan.message_bytes.clamp(1, 262_144)],
        content,
        received: 0,
        replied: 0,
    };
    let mut requested =
        requester::run(plan, processor, &mut requests, &mut replies, running, start)?;
    if let (EndedBy::PeerClosed, Some(ended_by)) = (requested.ended_by, requests.closed) {
        requested.ended_by = ended_by;
    }
    requested.tcp = tcp_facts(stream);
    // Lets the responder distinguish the end from a broken connection.
    let _ = stream.shutdown(Shutdown::Write);
    Ok(requested)
}

struct StreamRequests<'a> {
    stream: &'a TcpStream,
    running: &'a Running,
    silence_ns: u64,
    message: Vec<u8>,
    content: Option<&'a Content>,
    closed: Option<EndedBy>,
}

impl Requests for StreamRequests<'_> {
    fn send(&mut self, sequence: u64, _now: Instant) -> Result<Handed, Failure> {
        if let Some(content) = self.content {
            content.write(sequence, &mut self.message);
        }
        self.closed = write_message(self.stream, &self.message, self.silence_ns, self.running)?;
        Ok(if self.closed.is_none() { Handed::Sent } else { Handed::Closed })
    }
}

struct StreamReplies<'a> {
    plan: &'a Plan,
    stream: &'a TcpStream,
    message_bytes: usize,
    buffer: Vec<u8>,
    /// Expected content of replies from peers that are not engines.
    content: Option<&'a Content>,
    received: usize,
    replied: u64,
}

impl StreamReplies<'_> {
    fn compare(&self, octets: usize) -> Result<(), Failure> {
        let Some(content) = self.content else { return Ok(()) };
        let place = content.difference(self.replied, self.received, &self.buffer[..octets]);
        let Some(place) = place else { return Ok(()) };
        let number = self.replied + 1;
        let message =
            format!("byte {} of the answer to request {number} is not what was sent", place + 1);
        Err(Failure::new("peer.wrong_answer", message).hint(NO_ECHO_HINT))
    }
}

impl Replies for StreamReplies<'_> {
    fn next(&mut self) -> Result<Heard, Failure> {
        while self.received < self.message_bytes {
            // Read no more than this reply: later replies are timed separately.
            let wanted = (self.message_bytes - self.received).min(self.buffer.len());
            let place = &mut self.buffer[..wanted];
            let outcome = if self.plan.waits_in_call() {
                (&mut &*self.stream).read(place)
            } else {
                os::receive_now(self.stream, place)
            };
            match outcome {
                Ok(0) => return Ok(Heard::Closed),
                Ok(octets) => {
                    self.compare(octets)?;
                    self.received += octets;
                }
                Err(error) if is_idle(&error) => {
                    rest(self.plan);
                    return Ok(Heard::Idle);
                }
                Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                    return Ok(Heard::Closed);
                }
                Err(error) => return broken("read a reply", &error).map(|_| Heard::Closed),
            }
        }
        self.received = 0;
        self.replied += 1;
        Ok(Heard::Reply(self.replied - 1))
    }
}

#[cfg(test)]
mod tests;
