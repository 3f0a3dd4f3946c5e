//! A store-and-forward switch, with a full-duplex cable to each port.

use std::collections::VecDeque;

use lanlab_units::{Instant, Schedule};

use crate::bit_time::{BitClock, Exact};
use crate::event::{Loss, Port};
use crate::line::{Line, Transmission};
use crate::plan::{GAP_BITS, Plan};
use crate::traffic::{FrameId, Traffic};

#[derive(Debug)]
pub(crate) struct Switch {
    clock: BitClock,
    to_switch: Exact,
    from_switch: Exact,
    queue_bytes: u32,
    inputs: Vec<Line>,
    outputs: Vec<Output>,
    schedule: Schedule<Exact, Step>,
}

#[derive(Debug, Default)]
struct Output {
    line: Line,
    is_sending: bool,
    waiting: VecDeque<FrameId>,
    waiting_bytes: u32,
}

#[derive(Debug)]
enum Step {
    Sent { port: Port, start: Exact },
    Stored(FrameId),
    Forwarded(Port),
    Arrived { frame: FrameId, port: Port },
}

impl Switch {
    pub(crate) fn new(plan: &Plan) -> Self {
        let to_switch_ns = plan.propagation_ns / 2;
        let from_switch_ns = plan.propagation_ns - to_switch_ns;
        Self {
            clock: BitClock::new(plan.rate_bps),
            to_switch: Exact::from_nanos(to_switch_ns),
            from_switch: Exact::from_nanos(from_switch_ns.saturating_add(plan.delay_ns)),
            queue_bytes: plan.switch_queue_bytes,
            inputs: (0..plan.ports).map(|_| Line::default()).collect(),
            outputs: (0..plan.ports).map(|_| Output::default()).collect(),
            schedule: Schedule::new(),
        }
    }

    pub(crate) fn offer(&mut self, now: Instant, port: Port, frame: FrameId, traffic: &Traffic) {
        let line = &mut self.inputs[usize::from(port)];
        let wire_bytes = traffic.frame(frame).wire_bytes;
        let Transmission { start, end } = line.send_offered(self.clock, now, wire_bytes);
        self.schedule.add(end, Step::Sent { port, start });
        self.schedule.add(self.clock.after(end, self.to_switch), Step::Stored(frame));
    }

    pub(crate) fn next_at(&self) -> Option<Exact> {
        self.schedule.next_at()
    }

    pub(crate) fn step(&mut self, traffic: &mut Traffic) {
        match self.schedule.pop() {
            Some((at, Step::Sent { port, start })) => {
                traffic.was_busy(port, start, at);
                traffic.free(at, port);
            }
            Some((at, Step::Stored(frame))) => {
                for port in traffic.receivers(frame) {
                    self.queue(at, frame, port, traffic);
                }
                traffic.end_without_receiver(at, frame);
            }
            Some((at, Step::Forwarded(port))) => self.forward_next(at, port, traffic),
            Some((at, Step::Arrived { frame, port })) => traffic.arrive(at, frame, port),
            None => {}
        }
    }

    fn queue(&mut self, at: Exact, frame: FrameId, port: Port, traffic: &mut Traffic) {
        let output = &mut self.outputs[usize::from(port)];
        if !output.is_sending {
            return self.forward(at, frame, port, traffic);
        }
        let bytes = queued_bytes(frame, traffic);
        match output.waiting_bytes.checked_add(bytes) {
            Some(waiting_bytes) if waiting_bytes <= self.queue_bytes => {
                output.waiting_bytes = waiting_bytes;
                output.waiting.push_back(frame);
            }
            _ => traffic.lose_copy(at, frame, port, Loss::SwitchQueue),
        }
    }

    fn forward_next(&mut self, at: Exact, port: Port, traffic: &Traffic) {
        let output = &mut self.outputs[usize::from(port)];
        output.is_sending = false;
        if let Some(frame) = output.waiting.pop_front() {
            output.waiting_bytes -= queued_bytes(frame, traffic);
            self.forward(at, frame, port, traffic);
        }
    }

    fn forward(&mut self, at: Exact, frame: FrameId, port: Port, traffic: &Traffic) {
        let output = &mut self.outputs[usize::from(port)];
        let Transmission { end, .. } =
            output.line.send(self.clock, at, traffic.frame(frame).wire_bytes);
        output.is_sending = true;
        self.schedule.add(end, Step::Forwarded(port));
        self.schedule.add(self.clock.after(end, self.from_switch), Step::Arrived { frame, port });
    }
}

/// Queue space of a frame: its bytes on the wire and the gap.
fn queued_bytes(frame: FrameId, traffic: &Traffic) -> u32 {
    traffic.frame(frame).wire_bytes.saturating_add(GAP_BITS as u32 / 8)
}
