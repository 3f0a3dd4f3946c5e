//! A full-duplex cable between two ports.

use lanlab_units::{Instant, Schedule};

use crate::bit_time::{BitClock, Exact};
use crate::event::Port;
use crate::line::{Line, Transmission};
use crate::plan::Plan;
use crate::traffic::{FrameId, Traffic};

#[derive(Debug)]
pub(crate) struct Cable {
    clock: BitClock,
    way: Exact,
    lines: [Line; 2],
    schedule: Schedule<Exact, Step>,
}

#[derive(Debug)]
enum Step {
    Sent { port: Port, start: Exact },
    Arrived(FrameId),
}

impl Cable {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            clock: BitClock::new(plan.rate_bps),
            way: Exact::from_nanos(plan.propagation_ns.saturating_add(plan.delay_ns)),
            lines: [Line::default(), Line::default()],
            schedule: Schedule::new(),
        }
    }

    pub(crate) fn offer(&mut self, now: Instant, port: Port, frame: FrameId, traffic: &Traffic) {
        let line = &mut self.lines[usize::from(port)];
        let wire_bytes = traffic.frame(frame).wire_bytes;
        let Transmission { start, end } = line.send_offered(self.clock, now, wire_bytes);
        self.schedule.add(end, Step::Sent { port, start });
        self.schedule.add(self.clock.after(end, self.way), Step::Arrived(frame));
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
            Some((at, Step::Arrived(frame))) => traffic.arrive_at_all(at, frame),
            None => {}
        }
    }
}
