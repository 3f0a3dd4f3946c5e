//! The events of a world, step by step: on the medium, in adapters, on processors.

use lanlab_medium::{Destination, Event, Loss, Medium, Offer};
use lanlab_units::{Clock as _, Instant, Schedule};
use lanlab_workloads::virtual_time::VirtualTime;

use crate::address::{HostId, Mac, host_of};
use crate::calls::Calls;
use crate::cpu::Next;
use crate::frames::{FrameId, Frames};
use crate::host::{Job, SimulatedHost};
use crate::node::Node;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    CpuEnds { turn: u32 },
    NodeTimeout,
    AdapterReady,
}

/// Called once per frame, when it arrives or would have arrived without random loss.
pub(crate) type Recorder = Box<dyn FnMut(Instant, &[u8])>;

pub(crate) struct State<N> {
    pub(crate) hosts: Vec<SimulatedHost<N>>,
    pub(crate) medium: Medium,
    pub(crate) frames: Frames,
    pub(crate) calls: Calls,
    pub(crate) recorder: Option<Recorder>,
    queue: Schedule<Instant, (HostId, What)>,
    time: VirtualTime,
}

impl<N: Node> State<N> {
    pub(crate) fn new(hosts: Vec<SimulatedHost<N>>, medium: Medium, time: VirtualTime) -> Self {
        Self {
            hosts,
            medium,
            frames: Frames::default(),
            calls: Calls::default(),
            recorder: None,
            queue: Schedule::new(),
            time,
        }
    }

    #[inline]
    pub(crate) fn next_at(&self) -> Option<Instant> {
        Instant::earliest([self.medium.poll_timeout(), self.queue.next_at()])
    }

    /// Process the next event due at `now`; events of the medium come before those of hosts.
    pub(crate) fn step(&mut self, now: Instant) {
        if self.medium.poll_timeout().is_some_and(|at| at <= now) {
            self.medium.handle_timeout(now);
        } else if let Some((at, (host, what))) = self.queue.pop_due(now) {
            self.happen(at, host, what);
        }
        self.handle_medium_events();
    }

    fn happen(&mut self, at: Instant, id: HostId, what: What) {
        match what {
            What::CpuEnds { turn } => {
                let Some(job) = self.host(id).cpu.end(at, turn) else { return };
                self.complete(at, id, job);
            }
            What::NodeTimeout => {
                let host = self.host(id);
                if host.timeout_at != Some(at) {
                    return;
                }
                host.timeout_at = None;
                if host.node.poll_timeout().is_some_and(|due| due <= at) {
                    host.node.handle_timeout(at);
                }
                self.drain(at, id);
            }
            What::AdapterReady => {
                self.host(id).adapter.ready();
                self.send(at, id);
            }
        }
        self.work(at, id);
    }

    fn handle_medium_events(&mut self) {
        while let Some((at, event)) = self.medium.poll_event() {
            match event {
                Event::Free(id) => match self.host(id).adapter.pause_ns() {
                    0 => {
                        self.host(id).adapter.ready();
                        self.send(at, id);
                        self.work(at, id);
                    }
                    pause_ns => self.queue.add(at.plus_nanos(pause_ns), (id, What::AdapterReady)),
                },
                Event::Delivered { port: id, ticket } => {
                    self.record(at, ticket);
                    let payload_bytes = self.frames.get(ticket).payload_bytes;
                    if self.host(id).take_into_ring(ticket, payload_bytes) {
                        self.frames.hold(ticket);
                        self.work(at, id);
                    }
                }
                // The frame was on the wire, even if its receiver lost it.
                Event::Lost { ticket, loss: Loss::Chance, .. } => self.record(at, ticket),
                Event::Lost { .. } => {}
                Event::Done { ticket } => self.frames.release(ticket),
            }
        }
    }

    /// Let the processor of a host continue; work that takes no time is done at once.
    fn work(&mut self, now: Instant, id: HostId) {
        loop {
            match self.host(id).cpu.next(now) {
                Next::AsBefore => return,
                Next::Works { until, turn } => {
                    self.queue.add(until, (id, What::CpuEnds { turn }));
                    return;
                }
                Next::Done(job) => self.complete(now, id, job),
            }
        }
    }

    fn complete(&mut self, now: Instant, id: HostId, job: Job) {
        match job {
            Job::Interrupt(frame) => {
                let payload_bytes = self.frames.get(frame).payload_bytes;
                if !self.host(id).take_into_queue(frame, payload_bytes) {
                    self.frames.release(frame);
                }
            }
            Job::Protocol(frame) => {
                let host = &mut self.hosts[usize::from(id)];
                host.take_from_queue();
                host.node.handle_frame(now, &self.frames.get(frame).bytes);
                self.frames.release(frame);
                self.drain(now, id);
            }
            Job::Transmit(frame) => {
                self.host(id).adapter.enqueue(frame);
                self.send(now, id);
            }
            Job::Call(call) => self.calls.end(call, &self.time),
        }
    }

    /// Pass the next frame of a host to the medium, if its adapter can send.
    fn send(&mut self, now: Instant, id: HostId) {
        let host = &mut self.hosts[usize::from(id)];
        let Some(ticket) = host.adapter.start() else { return };
        let frame = self.frames.get(ticket);
        let wire_bytes = frame.wire_bytes();
        host.adapter.has_started(wire_bytes);
        host.facts.frames_sent += 1;
        let destination = destination(&frame.bytes, id, self.hosts.len());
        self.medium.offer(now, id, Offer { ticket, wire_bytes, destination });
        // The adapter now has room for one more frame.
        self.drain(now, id);
    }

    /// Take events and frames from a node, and note when to call it next.
    fn drain(&mut self, now: Instant, id: HostId) {
        let host = &mut self.hosts[usize::from(id)];
        loop {
            while let Some(key) = host.node.poll_event() {
                host.waiters.wake(key, &self.time);
            }
            if !host.adapter.has_room() {
                break;
            }
            let write = |into: &mut Vec<u8>| host.node.poll_transmit(now, into);
            let Some(frame) = self.frames.add(write) else { break };
            let payload_bytes = self.frames.get(frame).payload_bytes;
            host.take_for_transmission(frame, payload_bytes);
        }
        while let Some(key) = host.node.poll_event() {
            host.waiters.wake(key, &self.time);
        }
        if let Some(due) = host.node.poll_timeout() {
            let due = due.max(now);
            // A node that only waits for room would return the same time forever. It is drained
            // when there is room.
            if due == now && !host.adapter.has_room() {
                return;
            }
            if host.timeout_at.is_none_or(|set| due < set) {
                host.timeout_at = Some(due);
                self.queue.add(due, (id, What::NodeTimeout));
            }
        }
    }

    /// Continue after a program has changed the node or the processor of a host.
    pub(crate) fn settle(&mut self, id: HostId) {
        let now = self.time.now();
        self.drain(now, id);
        self.work(now, id);
        self.handle_medium_events();
    }

    pub(crate) fn begin_call(&mut self, id: HostId, time_ns: u64) -> u32 {
        let call = self.calls.begin();
        self.host(id).call(call, time_ns);
        self.work(self.time.now(), id);
        self.handle_medium_events();
        call
    }

    pub(crate) fn stop(&mut self, id: HostId, time_ns: u64) {
        let call = self.calls.begin();
        self.calls.abandon(call);
        let now = self.time.now();
        self.host(id).stop(now, call, time_ns);
        self.work(self.time.now(), id);
    }

    fn record(&mut self, at: Instant, frame: FrameId) {
        if let Some(recorder) = &mut self.recorder {
            let frame = self.frames.get_mut(frame);
            if !std::mem::replace(&mut frame.is_recorded, true) {
                recorder(at, &frame.bytes);
            }
        }
    }

    pub(crate) fn host(&mut self, id: HostId) -> &mut SimulatedHost<N> {
        &mut self.hosts[usize::from(id)]
    }
}

/// Destination of a frame. A frame to an unknown address takes its time on the wire and reaches no
/// host.
fn destination(frame: &[u8], sender: HostId, hosts: usize) -> Destination {
    let Some(mac) = frame.first_chunk::<6>() else { return Destination::Port(sender) };
    let mac: Mac = *mac;
    if mac[0] & 1 != 0 {
        return Destination::All;
    }
    let known = host_of(mac).filter(|host| usize::from(*host) < hosts);
    Destination::Port(known.unwrap_or(sender))
}
