//! The threads of an end and the flows that each of them drives.
//!
//! A thread with one flow may block in the system call. One with several waits for ready flows; a
//! flow's turns are the same in both.

use std::time::Duration;
use std::{io, thread};

use lanlab_os::{self as os, Readiness};
use lanlab_units::Instant;
use lanlab_workloads::stream::CpuMeter;

use super::Plan;
use super::flow_scheduler::{Agenda, Look, Looks, Pause, is_alone};
use crate::messages::{CpuTime, EndedBy, Failure, HostWindow, Receive};
use crate::running::Running;
use crate::waiting::Waiter;
use crate::workloads::setup::bind;

const POLL_NS: u64 = 200_000;
/// Maximum consecutive turns of a flow, so that others get theirs.
const TURNS_IN_A_ROW: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Again,
    Wait { until: Instant, exact: bool },
    Blocked,
    Over,
}

pub trait Flow {
    /// Shared by the flows of a thread: buffers and meters.
    type Shared;

    /// Take a turn at `now`. A flow that has ended gets no more turns.
    fn turn(&mut self, now: Instant, shared: &mut Self::Shared) -> Result<Turn, Failure>;

    /// Have `readiness` watch the flow's socket under `key`.
    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()>;

    /// The flow has ended: stop watching it.
    fn forget(&self, readiness: &Readiness) -> io::Result<()>;
}

/// CPU time of a thread from the first measured flow to the last.
#[derive(Debug, Default)]
pub struct ThreadUsage {
    begun: Option<CpuTime>,
    pub used: CpuTime,
}

impl CpuMeter for ThreadUsage {
    fn begin(&mut self) {
        self.begun.get_or_insert_with(os::thread_usage);
    }

    fn end(&mut self) {
        if let Some(begun) = self.begun {
            self.used = os::thread_usage().since(begun);
        }
    }
}

impl ThreadUsage {
    pub fn leave_out(&mut self, user_ns: u64) {
        self.used.user_ns = self.used.user_ns.saturating_sub(user_ns);
    }
}

pub fn cpu_of<'a>(threads: impl Iterator<Item = &'a ThreadUsage>) -> CpuTime {
    threads.fold(CpuTime::default(), |all, thread| all.plus(thread.used))
}

pub fn thread_count(plan: &Plan) -> usize {
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = plan.threads.map_or(processors, usize::from);
    threads.clamp(1, plan.flows.into())
}

/// Spread `sockets`, one for each flow, over threads, run `work` on each from the start on, and report progress.
/// Returns the result of each thread, and the host's activity while they ran.
///
/// `work` receives a thread's flows with their numbers; flow n is on thread n modulo the number of threads.
pub fn run<S: Send, R: Send>(
    plan: &Plan,
    processor: Option<u16>,
    sockets: Vec<S>,
    running: &Running,
    start: Instant,
    work: impl Fn(Vec<(u16, S)>) -> Result<R, Failure> + Sync,
) -> Result<(Vec<R>, Option<HostWindow>), Failure> {
    let threads = thread_count(plan);
    let mut shares: Vec<Vec<(u16, S)>> = (0..threads).map(|_| Vec::new()).collect();
    for (flow, socket) in (0..).zip(sockets) {
        shares[usize::from(flow) % threads].push((flow, socket));
    }
    let work = &work;
    let run_all = || {
        thread::scope(|scope| {
            let threads: Vec<_> = shares
                .into_iter()
                .map(|share| {
                    scope.spawn(move || {
                        os::prepare_thread();
                        bind(processor)?;
                        work(share)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect::<Result<Vec<R>, Failure>>()
        })
    };
    let (results, host) = running.with_progress(start, plan.warmup_end(start), run_all);
    Ok((results?, host))
}

pub struct Driven<F, M> {
    pub flows: Vec<F>,
    pub meters: M,
    pub failure: Option<Failure>,
}

/// Combine all threads: flows in order, each thread's meters, the first failure.
pub fn gather<F, M>(threads: Vec<Driven<F, M>>) -> (Vec<F>, Vec<M>, Option<Failure>) {
    let (mut flows, mut meters, mut failure) = (Vec::new(), Vec::new(), None);
    for thread in threads {
        flows.push(thread.flows);
        meters.push(thread.meters);
        failure = failure.or(thread.failure);
    }
    (in_order(flows), meters, failure)
}

fn in_order<T>(threads: Vec<Vec<T>>) -> Vec<T> {
    let mut threads: Vec<_> = threads.into_iter().map(Vec::into_iter).collect();
    let mut flows = Vec::new();
    while let Some(flow) = {
        let turn = flows.len() % threads.len().max(1);
        threads.get_mut(turn).and_then(Iterator::next)
    } {
        flows.push(flow);
    }
    flows
}

fn readiness_failure(error: &io::Error) -> Failure {
    Failure::system("waiting for sockets", error)
}

fn drive_alone<F: Flow>(flow: &mut F, shared: &mut F::Shared) -> Result<(), Failure> {
    let mut waiter = Waiter::new();
    let mut now = os::monotonic();
    loop {
        match flow.turn(now, shared)? {
            Turn::Over => return Ok(()),
            Turn::Wait { until, exact: true } => {
                now = waiter.wait_until(until);
                continue;
            }
            Turn::Wait { until, exact: false } => os::sleep_until(until),
            Turn::Again | Turn::Blocked => {}
        }
        now = os::monotonic();
    }
}

/// Wait for the start, then drive the flows of one sending thread. Returns what ended the unfinished flows, and a
/// system failure if that was the cause.
pub fn send_from<F: Flow>(
    start: Instant,
    flows: &mut [F],
    shared: &mut F::Shared,
    running: &Running,
) -> (EndedBy, Option<Failure>) {
    match running.wait_to_begin(start) {
        None => (EndedBy::Cancelled, None),
        Some(_) => (EndedBy::Failed, drive_senders(flows, shared).err()),
    }
}

/// Drive the flows of one sending thread until all have ended, the earliest due first.
fn drive_senders<F: Flow>(flows: &mut [F], shared: &mut F::Shared) -> Result<(), Failure> {
    if let [flow] = flows {
        return drive_alone(flow, shared);
    }
    let mut readiness = Readiness::new(flows.len()).map_err(|error| readiness_failure(&error))?;
    let mut waiter = Waiter::new();
    let mut agenda = Agenda::new(flows.len(), os::monotonic());
    while !agenda.is_over() {
        let mut now = os::monotonic();
        match agenda.pause(now) {
            Pause::None => {}
            Pause::Until(due) => now = waiter.wait_until(due),
            Pause::ForRoom(wait_ns) => {
                let ready = readiness
                    .wait(Duration::from_nanos(wait_ns))
                    .map_err(|error| readiness_failure(&error))?;
                now = os::monotonic();
                ready.for_each(|index| agenda.has_room(index, now));
                agenda.check(now);
            }
        }
        let Some(index) = agenda.due(now) else { continue };
        match flows[index].turn(now, shared)? {
            Turn::Again => agenda.queue(index, now),
            Turn::Wait { until, .. } => agenda.queue(index, until),
            Turn::Blocked => {
                flows[index].watch(&readiness, index).map_err(|error| readiness_failure(&error))?;
                agenda.wait_for_room(index);
            }
            Turn::Over => agenda.end(),
        }
    }
    Ok(())
}

pub fn drive_receivers<F: Flow>(
    flows: &mut [F],
    shared: &mut F::Shared,
    receive: Receive,
) -> Result<(), Failure> {
    if is_alone(flows.len(), receive) {
        return drive_alone(&mut flows[0], shared);
    }
    let mut looks = Looks::new(flows.len(), receive);
    let mut readiness = Readiness::new(flows.len()).map_err(|error| readiness_failure(&error))?;
    if looks.watches() {
        for (index, flow) in flows.iter().enumerate() {
            flow.watch(&readiness, index).map_err(|error| readiness_failure(&error))?;
        }
    }
    let (mut over, mut left) = (vec![false; flows.len()], flows.len());
    let mut ready: Vec<usize> = Vec::with_capacity(flows.len());
    let mut is_drained = true;
    while left > 0 {
        let mut now = os::monotonic();
        if looks.sleeps(is_drained) {
            os::sleep_until(now.plus_nanos(POLL_NS));
            now = os::monotonic();
        }
        ready.clear();
        match looks.next(now) {
            Look::All => ready.extend((0..flows.len()).filter(|index| !over[*index])),
            Look::Ready(wait_ns) => {
                let found = readiness
                    .wait(Duration::from_nanos(wait_ns))
                    .map_err(|error| readiness_failure(&error))?;
                ready.extend(found.filter(|index| !over[*index]));
                now = os::monotonic();
            }
        }
        is_drained = true;
        for index in ready.iter().copied() {
            match take_turns(&mut flows[index], &mut now, shared)? {
                Took::All => {}
                Took::Part => is_drained = false,
                Took::Over => {
                    over[index] = true;
                    left -= 1;
                    if looks.watches() {
                        flows[index]
                            .forget(&readiness)
                            .map_err(|error| readiness_failure(&error))?;
                    }
                }
            }
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Took {
    All,
    Part,
    Over,
}

/// Let a flow read what is available, up to its limit of turns.
fn take_turns<F: Flow>(
    flow: &mut F,
    now: &mut Instant,
    shared: &mut F::Shared,
) -> Result<Took, Failure> {
    for _ in 0..TURNS_IN_A_ROW {
        match flow.turn(*now, shared)? {
            Turn::Again => *now = os::monotonic(),
            Turn::Wait { .. } | Turn::Blocked => return Ok(Took::All),
            Turn::Over => return Ok(Took::Over),
        }
    }
    Ok(Took::Part)
}

#[cfg(test)]
mod tests;
