//! The thread of a medium: it waits for frames and for deadlines, whichever comes first.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use lanlab_medium::{Medium, Port};
use lanlab_os::{self as os, Interest, PortPlan, PortQueue, Readiness, SendingQueue, Wake};
use lanlab_units::Instant;

use super::carrier::Carrier;
use super::wake_up::WakeUp;
use super::{FULL_FRAME_BYTES, kind};
use crate::messages::{CarryFrames, Failure, MediumCounts, MediumTopology, Outcome};
use crate::recording;
use crate::running::{Measured, Running, conclude};

/// Preamble, check sequence and gap: bytes per frame in addition to header and payload.
const OVERHEAD_BYTES: u16 = 8 + 4 + 12;
const MINIMUM_WIRE_BYTES: u16 = 84;
/// After a pause the token bucket passes frames worth this time at once, as kernel timers are late.
const BURST_NS: u64 = 2_000_000;
const LEAST_BURST_BYTES: u64 = 2 * FULL_FRAME_BYTES;

/// Maximum frames read from one host before the next host is read.
const TURN_FRAMES: usize = 64;
/// Polling interval while the thread waits for a deadline without sleeping. Each poll is a system call, and delays
/// frames by at most this.
const LOOK_NS: u64 = 4_000;
const LONGEST_WAIT_NS: u64 = 50_000_000;
/// Interval of rate changes and recording while nothing else wakes the thread.
const TICK_NS: u64 = 5_000_000;
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Nice value of the thread, where the system permits it (as root).
const NICE: i32 = -10;

/// Carry frames until cancelled. The interfaces are removed later, with the namespaces of their hosts.
pub fn carry(
    request: &CarryFrames,
    medium: Medium,
    plans: &[PortPlan],
    running: &Running,
) -> Measured {
    match prepare(request, medium, plans, running) {
        Ok(mut driving) => {
            let ended = driving.run(running);
            let failure = ended.err().unwrap_or_else(Failure::cancelled);
            let recorded = recording::end(driving.carrier.recorder());
            let failure = recorded.err().unwrap_or(failure);
            let read = driving.read();
            os::Port::leave(driving.ports);
            conclude(Outcome::MediumEnded(Box::new(read)), Some(failure))
        }
        Err(failure) => Err(failure.into()),
    }
}

struct Driving {
    carrier: Carrier,
    ports: Vec<os::Port>,
    is_watched: Vec<bool>,
    readiness: Readiness,
    questions: Receiver<Sender<MediumCounts>>,
    wake: Arc<Wake>,
    rates: Sender<(Port, u64)>,
    wake_up: WakeUp,
    cpu_then_ns: u64,
    nice: Option<i32>,
}

fn prepare(
    request: &CarryFrames,
    medium: Medium,
    plans: &[PortPlan],
    running: &Running,
) -> Result<Driving, Failure> {
    let recorder = request.pcap.as_deref().map(recording::create).transpose()?;
    let made = os::make_ports(plans, kind(request.interfaces)).map_err(|error| {
        Failure::new("medium.interface", format!("an interface of a host cannot be made: {error}"))
            .hint("`lanlab doctor` lists what this machine lacks")
    })?;
    let (ports, mut queues): (Vec<os::Port>, Vec<PortQueue>) = made.into_iter().unzip();
    let is_shared = request.topology == MediumTopology::Bus;
    let addresses: Vec<_> = plans.iter().map(|each| each.mac).collect();
    let mut carrier = Carrier::new(medium, request.rate_bps, is_shared, &addresses, recorder);
    for (queue, port) in queues.iter_mut().zip(0..) {
        if let Some(rate_bps) = carrier.adapter(port).full_rate_bps() {
            pace(queue, rate_bps, request.queue_bytes)?;
        }
    }
    let system = |error: std::io::Error| Failure::system("what wakes the medium's thread", &error);
    let readiness = Readiness::new(ports.len() + 1).map_err(system)?;
    for (key, port) in ports.iter().enumerate() {
        readiness.watch(port, key, Interest::Read).map_err(system)?;
    }
    let wake = Arc::new(Wake::new().map_err(system)?);
    readiness.watch(&*wake, ports.len(), Interest::Read).map_err(system)?;
    let waking = Arc::clone(&wake);
    let (ask, questions) = channel::<Sender<MediumCounts>>();
    running.answer_by(Box::new(move || {
        let gone = || Failure::new("medium.silent", "the medium does not answer");
        let (answer, answered) = channel();
        ask.send(answer).map_err(|_| gone())?;
        waking.wake();
        let counts = answered.recv_timeout(ANSWER_WITHIN).map_err(|_| gone())?;
        Ok(Outcome::MediumRead(Box::new(counts)))
    }));
    let (rates, wanted) = channel::<(Port, u64)>();
    let queue_bytes = request.queue_bytes;
    // The kernel changes a rate under a lock that it also holds while creating interfaces: waiting for it must not
    // delay a frame.
    std::thread::Builder::new()
        .spawn(move || hold_back(&mut queues, &wanted, queue_bytes))
        .map_err(|error| Failure::system("a thread that holds hosts back", &error))?;
    os::prepare_thread();
    let nice = os::favour_thread(NICE);
    running.ready(Vec::new(), None);
    Ok(Driving {
        carrier,
        is_watched: vec![true; ports.len()],
        ports,
        readiness,
        questions,
        wake,
        rates,
        wake_up: WakeUp::new(request.precise),
        cpu_then_ns: os::thread_cpu_ns(),
        nice,
    })
}

/// Apply requested rates until the requester is gone.
fn hold_back(queues: &mut [PortQueue], wanted: &Receiver<(Port, u64)>, queue_bytes: u32) {
    for (port, rate_bps) in wanted {
        // A missing interface ends the medium with its own error.
        let _ = pace(&mut queues[usize::from(port)], rate_bps, queue_bytes);
    }
}

fn pace(queue: &mut PortQueue, rate_bps: u64, limit_bytes: u32) -> Result<(), Failure> {
    queue
        .set(&SendingQueue {
            rate_bps,
            burst_bytes: burst_bytes(rate_bps),
            limit_bytes,
            overhead_bytes: OVERHEAD_BYTES,
            minimum_wire_bytes: MINIMUM_WIRE_BYTES,
        })
        .map_err(|error| {
            Failure::new("medium.queue", format!("a host's sending queue cannot be set: {error}"))
                .hint("the kernel must have the queueing discipline `tbf`")
        })
}

fn burst_bytes(rate_bps: u64) -> u32 {
    let bytes = (rate_bps * BURST_NS / 8_000_000_000).max(LEAST_BURST_BYTES);
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Driving {
    fn read(&mut self) -> MediumCounts {
        let cpu_ns = os::thread_cpu_ns().saturating_sub(self.cpu_then_ns);
        for (interface, port) in self.ports.iter().zip(0..) {
            self.carrier.count_dropped_before_adapter(port, interface.new_drops());
        }
        MediumCounts {
            socket_buffer_bytes: self.ports.first().and_then(os::Port::buffer_bytes),
            cpu_ns,
            spun_ns: self.wake_up.spun_ns,
            nice: self.nice,
            ..self.carrier.read()
        }
    }

    fn run(&mut self, running: &Running) -> Result<(), Failure> {
        let mut ready = Vec::with_capacity(self.ports.len() + 1);
        let mut next_tick = os::monotonic();
        while !running.is_cancelled() {
            let begin = os::monotonic();
            self.take_frames(&ready)?;
            self.hand_over(&ready);
            let now = os::monotonic();
            if now >= next_tick {
                next_tick = now.plus_nanos(TICK_NS);
                self.tick(now)?;
            }
            self.carrier.gap(now.nanos_since(begin));
            self.wait(&mut ready)?;
            if ready.contains(&self.ports.len()) {
                self.answer();
            }
        }
        Ok(())
    }

    fn take_frames(&mut self, ready: &[usize]) -> Result<(), Failure> {
        for &port in ready.iter().filter(|&&key| key < self.ports.len()) {
            let interface = &self.ports[port];
            for _ in 0..TURN_FRAMES {
                if !self.carrier.has_room(port as Port) {
                    self.readiness.forget(interface).map_err(gone)?;
                    self.is_watched[port] = false;
                    break;
                }
                if !self.carrier.take(port as Port, |into| interface.receive(into)).map_err(gone)? {
                    break;
                }
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, ready: &[usize]) {
        let interfaces = &self.ports;
        let mut deliver = |port: Port, frame: &[u8]| {
            let now = os::monotonic();
            // A missing host is noticed when its interface is read.
            (now, interfaces[usize::from(port)].send(frame).unwrap_or(false))
        };
        let now = os::monotonic();
        self.carrier.advance(now, &mut deliver);
        let ports = ready.iter().filter(|&&key| key < interfaces.len()).map(|&key| key as Port);
        self.carrier.offer_waiting(now, ports, &mut deliver);
    }

    fn tick(&mut self, now: Instant) -> Result<(), Failure> {
        let rates = &self.rates;
        // The rate thread runs as long as this one.
        self.carrier.tick(now, |port, rate_bps| {
            let _ = rates.send((port, rate_bps));
        });
        for (port, is_watched) in self.is_watched.iter_mut().enumerate() {
            if !*is_watched && self.carrier.has_room(port as Port) {
                self.readiness.watch(&self.ports[port], port, Interest::Read).map_err(gone)?;
                *is_watched = true;
            }
        }
        Ok(())
    }

    fn wait(&mut self, ready: &mut Vec<usize>) -> Result<(), Failure> {
        let now = os::monotonic();
        let next = self.carrier.next();
        let sleep_ns = next.map_or(LONGEST_WAIT_NS, |next| {
            self.wake_up.sleep_ns(now, next.nanos_since(now)).min(LONGEST_WAIT_NS)
        });
        self.wait_for(sleep_ns, ready)?;
        let woken = os::monotonic();
        let late_ns = woken.nanos_since(now.plus_nanos(sleep_ns));
        // Hosts may have sent since then, at unknown times.
        self.carrier.gap(late_ns);
        let Some(next) = next else { return Ok(()) };
        if sleep_ns > 0 && ready.is_empty() {
            self.wake_up.woke(late_ns);
        }
        if !ready.is_empty() || woken >= next || sleep_ns == LONGEST_WAIT_NS {
            return Ok(());
        }
        // Other threads may run during this; the time does not count as spinning.
        let (cpu_ns, mut looked) = (os::thread_cpu_ns(), woken);
        while ready.is_empty() {
            let now = os::monotonic();
            if now >= next {
                break;
            }
            if now.nanos_since(looked) < LOOK_NS {
                std::hint::spin_loop();
                continue;
            }
            self.wait_for(0, ready)?;
            looked = now;
        }
        self.wake_up.spun(os::thread_cpu_ns().saturating_sub(cpu_ns));
        Ok(())
    }

    fn wait_for(&mut self, ns: u64, ready: &mut Vec<usize>) -> Result<(), Failure> {
        ready.clear();
        ready.extend(self.readiness.wait(Duration::from_nanos(ns)).map_err(gone)?);
        Ok(())
    }

    fn answer(&mut self) {
        self.wake.reset();
        while let Ok(question) = self.questions.try_recv() {
            // The requesting thread may have given up.
            let _ = question.send(self.read());
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands on")]
fn gone(error: std::io::Error) -> Failure {
    Failure::new("medium.interface_gone", format!("an interface of a host is gone: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_two_frames_or_two_milliseconds() {
        assert_eq!(burst_bytes(10_000_000), 3076);
        assert_eq!(burst_bytes(100_000_000), 25_000);
    }
}
