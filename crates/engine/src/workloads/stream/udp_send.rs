//! The sender over UDP.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use lanlab_os as os;
use lanlab_os::{DatagramSocket, Interest, Readiness, SendBatch};
use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, Message, QUESTION_LEN, Token};

use super::alive::Quiet;
use super::course::{Course, SharedMeters, Step, sum_up};
use super::crew::{self, Driven, Flow, Turn};
use super::{Plan, Session};
use crate::messages::{EndedBy, Failure, Io, StreamSend, StreamSent};
use crate::running::Running;
use crate::workloads::padding;
use crate::workloads::setup::{connect_datagram, is_idle, is_no_room, local_port};

/// How often a sender looks for word from its receiver and its driver.
const CHECK_NS: u64 = 10_000_000;
/// The end is said so often in quick succession, then at ever longer intervals: the receiver closes
/// soon after it has heard it, and its answer may be lost a few times.
const QUICK_FINISHES: u32 = 10;
const FINISH_PAUSE_NS: u64 = 5_000_000;
/// How often the receiver's answer is looked for meanwhile.
const END_LOOK_NS: u64 = 500_000;
/// Waiting for room comes back so often, to look whether the peer is still there.
const BLOCKED: Duration = Duration::from_millis(50);
/// A receiver that is there has so many silences to confirm the end: what is queued before it on a
/// slow link crosses meanwhile.
const CONFIRM_SILENCES: u64 = 20;
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
            .map_err(|error| Failure::system("socket options", &error))?;
        round_trip_ns = round_trip_ns.max(connected.round_trip_ns);
        sockets.push(socket);
    }
    running.ready(Vec::new(), Some(round_trip_ns));
    let start = running.wait_for_start(|| Ok(()))?;

    let work = |share: Vec<(u16, DatagramSocket)>| {
        let alone = share.len() == 1;
        let mut flows = share
            .iter()
            .map(|(flow, socket)| Sender::new(plan, token, *flow, socket, alone, running, start))
            .collect::<Result<Vec<_>, Failure>>()?;
        let mut shared = Shared {
            batch: SendBatch::new(plan.group, plan.message_bytes, padding()),
            meters: SharedMeters::new(),
        };
        let (stopped, failure) = crew::send_from(start, &mut flows, &mut shared, running);
        for flow in flows.iter_mut().filter(|flow| !matches!(flow.phase, Phase::Over)) {
            flow.stop(stopped, os::monotonic(), &mut shared);
        }
        let flows = flows.into_iter().map(|flow| flow.course.sent).collect();
        Ok(Driven { flows, meters: shared.meters, failure })
    };
    let (threads, host) = crew::run(plan, request.processor, sockets, running, start, work)?;
    let (flows, meters, failure) = crew::gather(threads);
    let (sent, ended) = sum_up(plan, flows, &meters, host);
    Ok((sent, failure.or(ended)))
}

/// What the flows of one thread have in common.
struct Shared {
    batch: SendBatch,
    meters: SharedMeters,
}

/// Where a flow is on its way.
#[derive(Debug, Clone, Copy)]
enum Phase {
    Sending,
    /// All is sent; the receiver is told so until it confirms.
    Ending {
        said: u32,
        next: Instant,
        pause_ns: u64,
    },
    Over,
}

/// One flow while it sends.
struct Sender<'a> {
    plan: &'a Plan,
    token: Token,
    flow: u16,
    socket: &'a DatagramSocket,
    /// Whether the thread has no other flow, and may wait for room.
    alone: bool,
    running: &'a Running,
    course: Course<'a>,
    layout: Layout,
    phase: Phase,
    marked: bool,
    confirmed: bool,
    next_check: Instant,
    last_heard: Instant,
    last_sent: Instant,
    quiet: Quiet,
    /// By then it is over, whatever the receiver says.
    latest_end: Instant,
    /// All is sent; by then the receiver must have confirmed it.
    confirmed_by: Instant,
    /// Since when there is no room to send.
    blocked_since: Option<Instant>,
}

impl Flow for Sender<'_> {
    type Shared = Shared;

    fn turn(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        match self.phase {
            Phase::Sending => self.send(now, shared),
            Phase::Ending { said, next, pause_ns } => self.agree_on_end(now, said, next, pause_ns),
            Phase::Over => Ok(Turn::Over),
        }
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(self.socket.plain(), key, Interest::Write)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(self.socket.plain())
    }
}

impl<'a> Sender<'a> {
    fn new(
        plan: &'a Plan,
        token: Token,
        flow: u16,
        socket: &'a DatagramSocket,
        alone: bool,
        running: &'a Running,
        start: Instant,
    ) -> Result<Self, Failure> {
        let mut course = Course::new(plan, flow, running, start, local_port(socket)?);
        course.sent.send_buffer_bytes =
            socket2::SockRef::from(socket.plain()).send_buffer_size().unwrap_or(0) as u64;
        Ok(Self {
            plan,
            token,
            flow,
            socket,
            alone,
            running,
            course,
            layout: Layout::of(plan.message_bytes),
            phase: Phase::Sending,
            marked: false,
            confirmed: false,
            next_check: start.plus_nanos(CHECK_NS),
            last_heard: start,
            last_sent: start,
            quiet: Quiet::new(start),
            latest_end: plan.latest_end(start),
            confirmed_by: Instant::FAR_FUTURE,
            blocked_since: None,
        })
    }

    /// Stop before the amount is reached.
    fn stop(&mut self, ended_by: EndedBy, now: Instant, shared: &mut Shared) -> Turn {
        self.course.close(now, &mut shared.meters);
        self.over(ended_by)
    }

    fn over(&mut self, ended_by: EndedBy) -> Turn {
        self.course.sent.ended_by = ended_by;
        self.phase = Phase::Over;
        Turn::Over
    }

    fn send(&mut self, now: Instant, shared: &mut Shared) -> Result<Turn, Failure> {
        if let Some(since) = self.blocked_since.take() {
            self.course.blocked(now.nanos_since(since));
        }
        if now >= self.next_check
            && let Some(ended_by) = self.check(now)?
        {
            return Ok(self.stop(ended_by, now, shared));
        }
        match self.course.next(now, &mut shared.meters) {
            Step::Measure => {
                // Without a warm-up the first message is the first measured one: nothing to tell.
                self.marked = self.plan.warmup_ns == 0;
                if !self.marked {
                    self.say_mark()?;
                }
                Ok(Turn::Again)
            }
            Step::Over => {
                self.course.close(now, &mut shared.meters);
                self.last_heard = now;
                self.confirmed_by =
                    now.plus_nanos(self.plan.silence_ns.saturating_mul(CONFIRM_SILENCES));
                self.phase = Phase::Ending { said: 0, next: now, pause_ns: FINISH_PAUSE_NS };
                Ok(Turn::Again)
            }
            // Wake up now and then to hear from the receiver, however slow the rate.
            Step::Wait(until) if until > self.next_check => {
                Ok(Turn::Wait { until: self.next_check, exact: false })
            }
            Step::Wait(until) => Ok(Turn::Wait { until, exact: true }),
            Step::Send(_) if self.quiet.is_too_long() => {
                Ok(Turn::Wait { until: self.next_check, exact: false })
            }
            Step::Send(messages) => self.send_group(messages as usize, now, shared),
        }
    }

    /// Hand over `count` messages, or as many as the system takes.
    fn send_group(
        &mut self,
        count: usize,
        now: Instant,
        shared: &mut Shared,
    ) -> Result<Turn, Failure> {
        let count = count.clamp(1, self.plan.group);
        for index in 0..count {
            let header = Header {
                flow: self.flow,
                session: self.token.short(),
                sequence: self.course.sent.total_messages + index as u64,
                send_time_ns: now.as_nanos(),
            };
            self.layout.emit(&header, shared.batch.message(index));
        }
        // Never in the system's call: how long there was no room is a result.
        let taken = match self.plan.io {
            Io::Segment if count > 1 => {
                self.socket.send_segments(&shared.batch, count, false).map(|()| count)
            }
            Io::Batch => self.socket.send_batch(&mut shared.batch, count, false),
            _ => self.socket.send_one(shared.batch.message(0), false).map(|()| 1),
        };
        match taken {
            Ok(messages) => {
                self.course.took(messages as u64, messages as u64, now, &mut shared.meters);
                self.last_sent = now;
                Ok(Turn::Again)
            }
            Err(error) if is_idle(&error) => {
                self.blocked_since = Some(now);
                if self.alone {
                    os::wait_writable(self.socket.plain(), BLOCKED)
                        .map_err(|error| Failure::system("waiting for room", &error))?;
                }
                Ok(Turn::Blocked)
            }
            Err(error) if is_no_room(&error) => {
                if self.course.has_schedule() {
                    // Its turn has come and gone.
                    self.course.took(1, 0, now, &mut shared.meters);
                    return Ok(Turn::Again);
                }
                self.course.refused();
                Ok(Turn::Wait { until: now.plus_nanos(REFUSED_PAUSE_NS), exact: false })
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Ok(self.stop(EndedBy::PeerClosed, now, shared))
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
        let paused = self.quiet.is_too_long();
        let looked_ns = self.quiet.look(now);
        if self.hear(now)? {
            return Ok(Some(EndedBy::PeerClosed));
        }
        if paused {
            self.course.paused(looked_ns);
        }
        if now > self.latest_end {
            return Err(super::went_on_too_long());
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
        let mut buffer = [0; QUESTION_LEN + 1];
        loop {
            match self.socket.try_receive(&mut buffer) {
                Ok(None) => return Ok(false),
                Ok(Some(length)) => {
                    if let Ok(message) = Message::parse(&buffer[..length])
                        && message.token.matches(&self.token)
                        && message.flow == self.flow
                    {
                        self.last_heard = now;
                        self.quiet.end();
                        let first_measured = self.course.sent.first_measured;
                        self.marked |= self.course.is_measuring()
                            && message.kind == Kind::Marked { first_measured };
                        self.confirmed |= self.is_confirmed_by(message.kind);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(true),
                Err(error) if is_idle(&error) => {}
                Err(error) => return Err(Failure::system("session", &error)),
            }
        }
    }

    /// Nobody confirms what has not been said, nor has more than was sent; but numbers of a few bits
    /// may be misjudged.
    fn is_confirmed_by(&self, kind: Kind) -> bool {
        let tiny = matches!(self.layout, Layout::Tiny(_));
        let Kind::Finished { received_messages } = kind else { return false };
        matches!(self.phase, Phase::Ending { .. })
            && (tiny || received_messages <= self.course.sent.total_messages)
    }

    /// Tell the receiver what was sent until it confirms, as long as it is there: whatever is still
    /// queued on the way may take its time.
    fn agree_on_end(
        &mut self,
        now: Instant,
        said: u32,
        next: Instant,
        pause_ns: u64,
    ) -> Result<Turn, Failure> {
        if self.hear(now)? && !self.confirmed {
            return Ok(self.over(EndedBy::PeerClosed));
        }
        if self.confirmed {
            return Ok(self.over(EndedBy::Finished));
        }
        if self.running.is_cancelled() {
            return Ok(self.over(EndedBy::Cancelled));
        }
        // A receiver that goes on saying that it is there, but not that it has heard, is none.
        let silent = now.nanos_since(self.last_heard) > self.plan.silence_ns;
        if silent || now > self.confirmed_by {
            return Ok(self.over(EndedBy::Unconfirmed));
        }
        let mut next = next;
        if now >= next {
            self.say(Kind::Finish {
                first_measured: self.course.sent.first_measured,
                sent_messages: self.course.sent.total_messages,
            })?;
            next = now.plus_nanos(pause_ns);
            let pause_ns = if said + 1 >= QUICK_FINISHES {
                (2 * pause_ns).min(self.plan.alive_ns())
            } else {
                pause_ns
            };
            self.phase = Phase::Ending { said: said + 1, next, pause_ns };
        }
        Ok(Turn::Wait { until: next.min(now.plus_nanos(END_LOOK_NS)), exact: false })
    }
}
