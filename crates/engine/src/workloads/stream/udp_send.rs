//! The sender over UDP.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use lanlab_link as link;
use lanlab_link::{DatagramSocket, SendBatch};
use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, MESSAGE_LEN, Message, Token};

use super::course::{Course, Sent, Step, sum_up};
use super::{Plan, Session, run_flows};
use crate::failure::Failure;
use crate::messages::{EndedBy, Io, StreamSend, StreamSent};
use crate::running::{Running, wait_until};
use crate::workloads::padding;
use crate::workloads::setup::{connect_datagram, is_idle, is_no_room, local_port};

/// How often a sender looks for word from its receiver and its driver.
const CHECK_NS: u64 = 10_000_000;
/// The end is said so often in quick succession, then at ever longer intervals: the receiver closes
/// soon after it has heard it, and its answer may be lost a few times.
const QUICK_FINISHES: u32 = 10;
const FINISH_PAUSE_NS: u64 = 5_000_000;
/// A blocked call comes back so often, to look whether the peer is still there.
const BLOCKED: Duration = Duration::from_millis(50);
/// Pause before a message is tried again that the system had no room for.
const REFUSED_PAUSE_NS: u64 = 50_000;

/// Connect, wait for the start, send, and agree on the end.
pub fn send(
    request: &StreamSend,
    session: &Session,
    running: &Running,
) -> Result<(StreamSent, Option<Failure>), Failure> {
    let (plan, token) = (&session.plan, session.token);
    let mut sockets = Vec::with_capacity(request.ports.len());
    let mut round_trip_ns = 0;
    for (port, flow) in request.ports.iter().zip(0..) {
        let peer = SocketAddr::new(request.peer, *port);
        let options = &request.spec.socket;
        let connected = connect_datagram(request.bind, peer, options, token, flow, running)?;
        let socket = connected.socket;
        socket
            .enable_local_drop_reports()
            .and_then(|()| socket.plain().set_write_timeout(Some(BLOCKED)))
            .map_err(|error| Failure::system("socket options", &error))?;
        round_trip_ns = round_trip_ns.max(connected.round_trip_ns);
        sockets.push(socket);
    }
    running.ready(Vec::new(), Some(round_trip_ns));
    let start = running.wait_for_start(|| Ok(()))?;

    let flows = run_flows(sockets, running, start, |flow, socket| {
        Sender::new(plan, token, flow, &socket, running, start)?.run()
    });
    Ok(sum_up(plan, flows.into_iter().collect::<Result<_, Failure>>()?))
}

/// One flow while it sends.
struct Sender<'a> {
    plan: &'a Plan,
    token: Token,
    flow: u16,
    socket: &'a DatagramSocket,
    running: &'a Running,
    course: Course<'a>,
    layout: Layout,
    batch: SendBatch,
    marked: bool,
    confirmed: bool,
    next_check: Instant,
    last_heard: Instant,
    last_sent: Instant,
}

impl<'a> Sender<'a> {
    fn new(
        plan: &'a Plan,
        token: Token,
        flow: u16,
        socket: &'a DatagramSocket,
        running: &'a Running,
        start: Instant,
    ) -> Result<Self, Failure> {
        let batch = SendBatch::new(plan.group, plan.message_bytes, padding());
        let mut course = Course::new(plan, flow, running, start, local_port(socket)?);
        course.sent.send_buffer_bytes =
            socket2::SockRef::from(socket.plain()).send_buffer_size().unwrap_or(0) as u64;
        Ok(Self {
            plan,
            token,
            flow,
            socket,
            running,
            course,
            layout: Layout::of(plan.message_bytes),
            batch,
            marked: false,
            confirmed: false,
            next_check: start.plus_nanos(CHECK_NS),
            last_heard: start,
            last_sent: start,
        })
    }

    fn run(mut self) -> Result<Sent, Failure> {
        let stopped = match self.course.wait_to_begin() {
            None => Some(EndedBy::Cancelled),
            Some(_) => self.send_all()?,
        };
        self.course.close(stopped);
        self.course.sent.ended_by = match stopped {
            Some(ended_by) => ended_by,
            None => self.agree_on_end()?,
        };
        Ok(self.course.sent)
    }

    /// Send until the amount is reached. `Some` if something else ended it.
    fn send_all(&mut self) -> Result<Option<EndedBy>, Failure> {
        loop {
            let now = link::monotonic();
            if now >= self.next_check
                && let Some(ended_by) = self.check(now)?
            {
                return Ok(Some(ended_by));
            }
            match self.course.next(now) {
                Step::Measure => {
                    // Without a warm-up the first message is the first measured one: nothing to
                    // tell.
                    self.marked = self.plan.warmup_ns == 0;
                    if !self.marked {
                        self.say_mark()?;
                    }
                }
                Step::Over => return Ok(None),
                // Wake up now and then to hear from the receiver, however slow the rate.
                Step::Wait(until) if until > self.next_check => {
                    link::sleep_until(self.next_check);
                }
                Step::Wait(until) => {
                    wait_until(until);
                }
                Step::Send(messages) => {
                    if let Some(ended_by) = self.send_group(messages as usize, now)? {
                        return Ok(Some(ended_by));
                    }
                }
            }
        }
    }

    /// Hand over `count` messages, or as many as the system takes.
    fn send_group(&mut self, count: usize, now: Instant) -> Result<Option<EndedBy>, Failure> {
        let count = count.clamp(1, self.plan.group);
        for index in 0..count {
            let header = Header {
                flow: self.flow,
                session: self.token.short(),
                sequence: self.course.sent.total_messages + index as u64,
                send_time_ns: now.as_nanos(),
            };
            self.layout.emit(&header, self.batch.message(index));
        }
        let taken = match self.plan.io {
            Io::Segment if count > 1 => {
                self.socket.send_segments(&self.batch, count).map(|()| count)
            }
            Io::Batch => self.socket.send_batch(&mut self.batch, count),
            _ => self.socket.plain().send(self.batch.message(0)).map(|_| 1),
        };
        match taken {
            Ok(messages) => {
                self.course.took(messages as u64, messages as u64, now);
                self.last_sent = now;
                Ok(None)
            }
            Err(error) if is_idle(&error) => Ok(None),
            Err(error) if is_no_room(&error) => {
                if self.course.has_schedule() {
                    // Its turn has come and gone.
                    self.course.took(1, 0, now);
                } else {
                    self.course.sent.refused_retried += u64::from(self.course.is_measuring());
                    link::sleep_until(now.plus_nanos(REFUSED_PAUSE_NS));
                }
                Ok(None)
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Ok(Some(EndedBy::PeerClosed))
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
        match self.socket.plain().send(&message.emit()) {
            Ok(_) => Ok(()),
            // Said again in time.
            Err(error) if is_idle(&error) || is_no_room(&error) => Ok(()),
            // Noticed by the next receive.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Err(error) => Err(Failure::system("session", &error)),
        }
    }

    fn say_mark(&self) -> Result<(), Failure> {
        self.say(Kind::Mark { first_measured: self.course.sent.first_measured })
    }

    /// Look for word from the receiver and the driver.
    fn check(&mut self, now: Instant) -> Result<Option<EndedBy>, Failure> {
        self.next_check = now.plus_nanos(CHECK_NS);
        if self.running.is_cancelled() {
            return Ok(Some(EndedBy::Cancelled));
        }
        if self.hear(now)? {
            return Ok(Some(EndedBy::PeerClosed));
        }
        if now.nanos_since(self.last_heard) > self.plan.silence_ns {
            return Ok(Some(EndedBy::Silence));
        }
        if self.course.is_measuring() && !self.marked {
            self.say_mark()?;
        }
        if now.nanos_since(self.last_sent) > self.plan.alive_ns() {
            self.last_sent = now;
            self.say(Kind::Alive { received_messages: 0 })?;
        }
        Ok(None)
    }

    /// Take in what the receiver has said; true if its port is closed.
    fn hear(&mut self, now: Instant) -> Result<bool, Failure> {
        let mut buffer = [0; MESSAGE_LEN + 1];
        loop {
            match self.socket.try_receive(&mut buffer) {
                Ok(None) => return Ok(false),
                Ok(Some(length)) => {
                    if let Ok(message) = Message::parse(&buffer[..length])
                        && message.token.matches(&self.token)
                    {
                        self.last_heard = now;
                        self.marked |= matches!(message.kind, Kind::Marked { .. });
                        self.confirmed |= matches!(message.kind, Kind::Finished { .. });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(true),
                Err(error) if is_idle(&error) => {}
                Err(error) => return Err(Failure::system("session", &error)),
            }
        }
    }

    /// Tell the receiver what was sent until it confirms, as long as it is there: whatever is still
    /// queued on the way may take its time.
    fn agree_on_end(&mut self) -> Result<EndedBy, Failure> {
        let kind = Kind::Finish {
            first_measured: self.course.sent.first_measured,
            sent_messages: self.course.sent.total_messages,
        };
        let mut pause_ns = FINISH_PAUSE_NS;
        self.last_heard = link::monotonic();
        let mut said = 0;
        loop {
            self.say(kind)?;
            said += 1;
            let next = link::monotonic().plus_nanos(pause_ns);
            if said >= QUICK_FINISHES {
                pause_ns = (2 * pause_ns).min(self.plan.alive_ns());
            }
            loop {
                let now = link::monotonic();
                if self.hear(now)? && !self.confirmed {
                    return Ok(EndedBy::PeerClosed);
                }
                if self.confirmed {
                    return Ok(EndedBy::Finished);
                }
                if self.running.is_cancelled() {
                    return Ok(EndedBy::Cancelled);
                }
                if now.nanos_since(self.last_heard) > self.plan.silence_ns {
                    return Ok(EndedBy::Unconfirmed);
                }
                if now >= next {
                    break;
                }
                link::sleep_until(now.plus_nanos(500_000));
            }
        }
    }
}
