//! Echo over UDP.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lanlab_os as os;
use lanlab_os::{DatagramSocket, ReceiveBatch};
use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, Message, QUESTION_LEN, Token};

use super::Plan;
use super::requester::{self, Handed, Heard, Replies, Requests};
use crate::host::cpu_time;
use crate::messages::{
    EchoRequest, EchoRequested, EchoRespond, EchoResponded, EndedBy, Failure, Timestamps,
};
use crate::running::Running;
use crate::workloads::padding;
use crate::workloads::setup::{
    Accepted, TICK, accept_datagram, bind, bind_datagram, connect_datagram, is_idle, is_no_room,
    local_port,
};

/// Time between two words of a requester that has nothing due, and of a responder to a schedule.
const ALIVE_NS: u64 = 50_000_000;
/// After the requester's last word a responder stays so long, in case its answer was lost.
const TAIL_NS: u64 = 20_000_000;
/// No requester sends as many.
const MOST_REQUESTS: u64 = 1 << 62;
/// How long a requester waits for the responder to confirm the end.
const CONFIRM_NS: u64 = 200_000_000;

/// Answer the peer's requests until it says that it is done.
pub fn respond(
    request: &EchoRespond,
    plan: &Plan,
    token: Token,
    running: &Running,
) -> Result<EchoResponded, Failure> {
    let socket = bind_datagram(request.bind, request.port, &request.spec.socket)?;
    running.ready(vec![local_port(&socket)?], None);
    let mut accepted = accept_datagram(socket, request.peer, token, 0, running, || Ok(()))?;
    let start = running.wait_for_start(|| accepted.answer_again())?;
    let responder = Responder { plan, token, accepted, running, start };
    let work = || {
        bind(request.processor)?;
        responder.run()
    };
    running.with_progress(start, plan.warmup_end(start), work).0
}

struct Responder<'a> {
    plan: &'a Plan,
    token: Token,
    accepted: Accepted,
    running: &'a Running,
    start: Instant,
}

impl Responder<'_> {
    fn run(mut self) -> Result<EchoResponded, Failure> {
        let socket = Arc::clone(&self.accepted.socket);
        socket
            .set_receive_timeout(Some(TICK))
            .map_err(|error| Failure::system("receive time-out", &error))?;
        let layout = Layout::of(self.plan.message_bytes);
        let mut batch = ReceiveBatch::plain(self.plan.message_bytes.max(QUESTION_LEN) + 1);
        let before = os::thread_usage();
        let (mut answered, mut refused, mut foreign) = (0, 0, 0);
        let mut last_heard = self.start;
        let mut next_alive = self.start;
        let latest_end = self.plan.latest_end(self.start);
        let mut finished = false;
        let ended_by = loop {
            let now = os::monotonic();
            if now > latest_end {
                return Err(super::went_on_too_long());
            }
            // A schedule goes on without answers, if there is anybody to hear it.
            if self.plan.pace.is_some() && !finished && now >= next_alive {
                next_alive = now.plus_nanos(ALIVE_NS);
                self.say(Kind::Alive { received_messages: answered });
            }
            match socket.receive_batch(&mut batch, self.plan.waits_in_call()) {
                Ok(_) => {}
                Err(error) if is_idle(&error) => {
                    let now = os::monotonic();
                    if finished && now.nanos_since(last_heard) > TAIL_NS {
                        break EndedBy::Finished;
                    }
                    if self.running.is_cancelled() {
                        break EndedBy::Cancelled;
                    }
                    if now.nanos_since(last_heard) > self.plan.silence_ns {
                        break EndedBy::Silence;
                    }
                    self.plan.rest();
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    break if finished { EndedBy::Finished } else { EndedBy::PeerClosed };
                }
                Err(error) => return Err(Failure::system("receive", &error)),
            }
            let Some(received) = batch.received().next() else { continue };
            let datagram = received.bytes;
            let length = datagram.len();
            if length == self.plan.message_bytes && is_ours(layout, datagram, self.token) {
                last_heard = now;
                // With room or without: whoever asks and does not listen is not waited for.
                match socket.send_one(datagram, false) {
                    Ok(()) => answered += 1,
                    Err(error) if is_no_room(&error) || is_idle(&error) => refused += 1,
                    // Noticed by the next receive.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                    Err(error) => return Err(Failure::system("answer", &error)),
                }
                self.running.count(1, length as u64);
                if self.running.is_cancelled() {
                    break EndedBy::Cancelled;
                }
                continue;
            }
            match Message::parse(datagram) {
                Ok(message) if message.token.matches(&self.token) && message.flow == 0 => {
                    last_heard = now;
                    finished |= matches!(message.kind, Kind::Finish { .. });
                    self.answer(&message, answered);
                }
                _ => foreign += 1,
            }
        };
        Ok(EchoResponded {
            ended_by,
            receive: self.plan.receive,
            answered_messages: answered,
            refused_messages: refused,
            foreign_datagrams: foreign,
            cpu: cpu_time(os::thread_usage().since(before)),
        })
    }

    fn answer(&mut self, message: &Message, answered: u64) {
        if let Kind::Finish { .. } = message.kind {
            self.say(Kind::Finished { received_messages: answered });
        } else if let Some(reply) = self.accepted.acceptor.handle_again(message, os::monotonic()) {
            self.say(reply.kind);
        }
    }

    fn say(&self, kind: Kind) {
        let message = Message { token: self.token, flow: 0, kind };
        // What is lost is asked for again.
        let _ = self.accepted.socket.send_one(&message.emit(), false);
    }
}

fn is_ours(layout: Layout, datagram: &[u8], token: Token) -> bool {
    let tiny = matches!(layout, Layout::Tiny(_));
    layout
        .parse(datagram)
        .is_ok_and(|header| tiny || (header.session == token.short() && header.flow == 0))
}

/// Send requests and time their replies.
pub fn request(
    request: &EchoRequest,
    plan: &Plan,
    token: Token,
    running: &Running,
) -> Result<EchoRequested, Failure> {
    let peer = SocketAddr::new(request.peer, request.port);
    let connected = connect_datagram(request.bind, peer, &request.spec.socket, token, 0, running)?;
    let socket = connected.socket;
    if plan.timestamps == Timestamps::Kernel {
        socket
            .enable_kernel_timestamps(true)
            .map_err(|error| Failure::system("the kernel's time stamps", &error))?;
    }
    socket
        .enable_local_drop_reports()
        // No wait is longer than the time-out, so that what is overdue is noticed.
        .and_then(|()| {
            let timeout = Duration::from_nanos(plan.timeout_ns).min(TICK);
            socket.set_receive_timeout(Some(timeout))
        })
        .map_err(|error| Failure::system("socket options", &error))?;
    running.ready(Vec::new(), Some(connected.round_trip_ns));
    let start = running.wait_for_start(|| Ok(()))?;
    let layout = Layout::of(plan.message_bytes);
    let mut requests = DatagramRequests {
        socket: &socket,
        token,
        layout,
        message: std::iter::repeat_with(padding()).take(plan.message_bytes).collect(),
        last_sent: start,
        sent: 0,
    };
    let buffer_bytes = plan.message_bytes.max(QUESTION_LEN) + 1;
    let mut replies = DatagramReplies {
        plan,
        socket: &socket,
        token,
        layout,
        batch: match plan.timestamps {
            Timestamps::Program => ReceiveBatch::plain(buffer_bytes),
            Timestamps::Kernel => ReceiveBatch::new(1, buffer_bytes),
        },
        expected: 0,
        kernel_arrived_ns: None,
    };
    let mut requested =
        requester::run(plan, request.processor, &mut requests, &mut replies, running, start)?;
    if requested.ended_by == EndedBy::Finished {
        requested.ended_by = agree_on_end(&socket, token);
    }
    Ok(requested)
}

/// Tell the responder that it is over. It has nothing that we need: if it does not answer, it will
/// notice the silence.
fn agree_on_end(socket: &DatagramSocket, token: Token) -> EndedBy {
    let finish = Kind::Finish { first_measured: 0, sent_messages: 0 };
    let finish = Message { token, flow: 0, kind: finish }.emit();
    let deadline = os::monotonic().plus_nanos(CONFIRM_NS);
    let mut buffer = [0; QUESTION_LEN + 1];
    while os::monotonic() < deadline {
        let _ = socket.plain().send(&finish);
        if let Ok(length) = socket.plain().recv(&mut buffer)
            && let Ok(message) = Message::parse(&buffer[..length])
            && message.token.matches(&token)
            && matches!(message.kind, Kind::Finished { .. })
        {
            return EndedBy::Finished;
        }
    }
    EndedBy::Unconfirmed
}

struct DatagramRequests<'a> {
    socket: &'a DatagramSocket,
    token: Token,
    layout: Layout,
    message: Vec<u8>,
    last_sent: Instant,
    /// Datagrams handed to the system, by which it numbers its stamps.
    sent: u32,
}

impl Requests for DatagramRequests<'_> {
    fn send(&mut self, sequence: u64, now: Instant) -> Result<Handed, Failure> {
        let header =
            Header { flow: 0, session: self.token.short(), sequence, send_time_ns: now.as_nanos() };
        self.layout.emit(&header, &mut self.message);
        self.last_sent = now;
        self.sent = self.sent.wrapping_add(1);
        match self.socket.send_one(&self.message, true) {
            Ok(()) => Ok(Handed::Sent),
            Err(error) if is_no_room(&error) => Ok(Handed::Refused),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(Handed::Closed),
            Err(error) => Err(Failure::system("send a request", &error)),
        }
    }

    fn pauses_for_silence(&self) -> bool {
        true
    }

    fn keep_alive(&mut self, now: Instant) {
        if now.nanos_since(self.last_sent) > ALIVE_NS {
            self.last_sent = now;
            self.sent = self.sent.wrapping_add(1);
            let kind = Kind::Alive { received_messages: 0 };
            let _ = self.socket.plain().send(&Message { token: self.token, flow: 0, kind }.emit());
        }
    }

    fn kernel_sent_ns(&mut self) -> Option<u64> {
        // Those of earlier requests, whose replies never came, are passed over.
        while let Ok(Some((number, at_ns))) = self.socket.sent_stamp() {
            if number == self.sent.wrapping_sub(1) {
                return Some(at_ns);
            }
        }
        None
    }
}

struct DatagramReplies<'a> {
    plan: &'a Plan,
    socket: &'a DatagramSocket,
    token: Token,
    layout: Layout,
    batch: ReceiveBatch,
    kernel_arrived_ns: Option<u64>,
    /// The number after the newest reply's, to which short numbers are extended.
    expected: u64,
}

impl Replies for DatagramReplies<'_> {
    fn next(&mut self) -> Result<Heard, Failure> {
        match self.socket.receive_batch(&mut self.batch, self.plan.waits_in_call()) {
            Ok(_) => {
                let Some(received) = self.batch.received().next() else { return Ok(Heard::Idle) };
                let datagram = received.bytes;
                self.kernel_arrived_ns = received.kernel_realtime_ns;
                if datagram.len() == self.plan.message_bytes
                    && is_ours(self.layout, datagram, self.token)
                {
                    let header = self.layout.parse(datagram).expect("checked in `is_ours`");
                    let sequence = self.layout.extend(header.sequence, self.expected);
                    // What nobody has asked is no reply; what is added to it must not overflow.
                    if sequence >= MOST_REQUESTS {
                        return Ok(Heard::Foreign);
                    }
                    self.expected = self.expected.max(sequence + 1);
                    return Ok(Heard::Reply(sequence));
                }
                let session = Message::parse(datagram);
                let ours = session.is_ok_and(|message| message.token.matches(&self.token));
                Ok(if ours { Heard::Alive } else { Heard::Foreign })
            }
            Err(error) if is_idle(&error) => {
                self.plan.rest();
                Ok(Heard::Idle)
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(Heard::Closed),
            Err(error) => Err(Failure::system("receive a reply", &error)),
        }
    }

    fn kernel_arrived_ns(&self) -> Option<u64> {
        self.kernel_arrived_ns
    }
}
