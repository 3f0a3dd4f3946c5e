//! A processor with three levels. A higher level interrupts a lower one, which continues later.
//! Within a level, jobs run in order of arrival.

use std::collections::VecDeque;

use lanlab_units::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Interrupt,
    Protocol,
    Program,
}

pub(crate) const LEVELS: usize = 3;

#[derive(Debug)]
pub(crate) struct Cpu<Job> {
    waiting: [VecDeque<Waiting<Job>>; LEVELS],
    running: Option<Running<Job>>,
    busy_ns: [u64; LEVELS],
    /// Number of the running job. The end of an interrupted job has another number and is ignored.
    turn: u32,
}

#[derive(Debug)]
struct Waiting<Job> {
    job: Job,
    remaining_ns: u64,
}

#[derive(Debug)]
struct Running<Job> {
    level: usize,
    job: Job,
    since: Instant,
    end: Instant,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<Job> {
    AsBefore,
    Done(Job),
    /// Busy until `until`; then call [`Cpu::end`] with this `turn`.
    Works {
        until: Instant,
        turn: u32,
    },
}

impl<Job> Cpu<Job> {
    pub(crate) fn new() -> Self {
        Self {
            waiting: [VecDeque::new(), VecDeque::new(), VecDeque::new()],
            running: None,
            busy_ns: [0; LEVELS],
            turn: 0,
        }
    }

    /// Add a job that takes `time_ns`. [`next`](Self::next) starts it.
    pub(crate) fn add(&mut self, level: Level, job: Job, time_ns: u64) {
        self.waiting[level as usize].push_back(Waiting { job, remaining_ns: time_ns });
    }

    /// Continue at `now`; call it until it returns [`Next::AsBefore`].
    pub(crate) fn next(&mut self, now: Instant) -> Next<Job> {
        let Some(level) = self.waiting.iter().position(|level| !level.is_empty()) else {
            return Next::AsBefore;
        };
        if let Some(running) = self.running.take() {
            if running.level <= level {
                self.running = Some(running);
                return Next::AsBefore;
            }
            self.busy_ns[running.level] += now.nanos_since(running.since);
            let remaining_ns = running.end.nanos_since(now);
            let interrupted = Waiting { job: running.job, remaining_ns };
            self.waiting[running.level].push_front(interrupted);
        }
        let Some(Waiting { job, remaining_ns }) = self.waiting[level].pop_front() else {
            return Next::AsBefore;
        };
        if remaining_ns == 0 {
            return Next::Done(job);
        }
        let end = now.plus_nanos(remaining_ns);
        self.turn = self.turn.wrapping_add(1);
        self.running = Some(Running { level, job, since: now, end });
        Next::Works { until: end, turn: self.turn }
    }

    pub(crate) fn end(&mut self, now: Instant, turn: u32) -> Option<Job> {
        if turn != self.turn {
            return None;
        }
        let running = self.running.take()?;
        self.busy_ns[running.level] += now.nanos_since(running.since);
        Some(running.job)
    }

    /// Busy time of each level until `now`, ns.
    pub(crate) fn busy_ns(&self, now: Instant) -> [u64; LEVELS] {
        let mut busy_ns = self.busy_ns;
        if let Some(running) = &self.running {
            busy_ns[running.level] += now.nanos_since(running.since);
        }
        busy_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    #[test]
    fn interrupted_work_resumes_where_it_stopped() {
        let mut cpu = Cpu::new();
        cpu.add(Level::Program, "program", 100);
        assert_eq!(cpu.next(at(0)), Next::Works { until: at(100), turn: 1 });
        assert_eq!(cpu.next(at(0)), Next::AsBefore);
        cpu.add(Level::Interrupt, "interrupt", 10);
        assert_eq!(cpu.next(at(60)), Next::Works { until: at(70), turn: 2 });
        cpu.add(Level::Protocol, "protocol", 20);
        assert_eq!(cpu.next(at(65)), Next::AsBefore);
        assert_eq!(cpu.end(at(70), 1), None, "the end of an earlier turn");
        assert_eq!(cpu.end(at(70), 2), Some("interrupt"));
        assert_eq!(cpu.next(at(70)), Next::Works { until: at(90), turn: 3 });
        assert_eq!(cpu.end(at(90), 3), Some("protocol"));
        assert_eq!(cpu.next(at(90)), Next::Works { until: at(130), turn: 4 });
        assert_eq!(cpu.busy_ns(at(100)), [10, 20, 70]);
        assert_eq!(cpu.end(at(130), 4), Some("program"));
        assert_eq!(cpu.busy_ns(at(200)), [10, 20, 100]);
    }

    #[test]
    fn within_a_level_interrupted_work_then_arrival_order_wins() {
        let mut cpu = Cpu::new();
        cpu.add(Level::Protocol, "first", 50);
        cpu.add(Level::Protocol, "second", 0);
        assert_eq!(cpu.next(at(0)), Next::Works { until: at(50), turn: 1 });
        cpu.add(Level::Interrupt, "interrupt", 0);
        assert_eq!(cpu.next(at(20)), Next::Done("interrupt"));
        assert_eq!(cpu.next(at(20)), Next::Works { until: at(50), turn: 2 });
        assert_eq!(cpu.end(at(50), 2), Some("first"));
        assert_eq!(cpu.next(at(50)), Next::Done("second"));
        assert_eq!(cpu.next(at(50)), Next::AsBefore);
    }
}
