//! One station: its connection, its file, and one operation after another.

mod connection;

use lanlab_files::{Access, Class, Fault, Result, ServicePath, Session};
use lanlab_units::{Clock, Instant};

use super::context::{Connector, Context, MOST_ENDED};
use super::pattern::{HEAD_BYTES, Place};
use super::readings::{Outcome, Reading, level};
use super::schedule::{Schedule, Turn};
use crate::failure_of;
use crate::messages::{StationEnded, StationSync};

/// Pause before the first retry of an operation, doubled for each further one, and the longest pause. The same as
/// for copies.
const FIRST_PAUSE_NS: u64 = 100_000_000;
const MOST_PAUSE_NS: u64 = 5_000_000_000;
const MOST_FAILURES: u32 = 100;
/// Shorter blocks are copied behind their description and written in one piece, which is cheaper than two (on tmpfs
/// by 110 ns of 1,300 with 6,000 bytes); from 16,000 bytes on it is not.
const GATHERED_BYTES: u32 = 16_384;
/// Blocks re-read after the end: the last that a station wrote.
const READ_BACK: usize = 4;
const IS_OPEN: u32 = 1 << 31;

type FileOf<C> = <<C as Connector>::Session as Session>::File;

pub struct Station<C: Connector> {
    number: u32,
    paths: Vec<ServicePath>,
    session: Option<C::Session>,
    /// Open throughout, except on a service that moves whole files only.
    file: Option<FileOf<C>>,
    whole_files: bool,
    gathers: bool,
    schedule: Schedule,
    writes: Vec<u32>,
    generation: u32,
    head: Option<[u8; HEAD_BYTES]>,
    last: [u32; READ_BACK],
    written: u64,
    buffer: Vec<u8>,
    readings: u32,
    operations: u64,
    failures: u32,
}

enum End {
    Due,
    Fault(Fault),
}

impl<C: Connector> Station<C> {
    pub fn number(&self) -> u32 {
        self.number
    }

    pub async fn work(&mut self, context: &Context<C, impl Clock>) {
        match self.operations(context).await {
            End::Due => {}
            // A stopped station does not retry for long.
            End::Fault(_) if context.job.stopped().is_some() => {}
            End::Fault(fault) => {
                let failure = failure_of(fault);
                let mut counts = context.counts.borrow_mut();
                counts.ended_stations += 1;
                if counts.ended.len() < MOST_ENDED {
                    counts.ended.push(StationEnded {
                        station: self.number,
                        at_ns: context.since_start_ns(context.clock.now()),
                        readings: self.readings.into(),
                        code: failure.code.into(),
                        message: failure.message,
                    });
                }
            }
        }
    }

    async fn operations(&mut self, context: &Context<C, impl Clock>) -> End {
        let spec = &context.job.spec;
        let start = context.start.get();
        let end = spec.until.time_ns.map_or(Instant::FAR_FUTURE, |ns| start.plus_nanos(ns));
        let most = spec.until.readings_per_station.unwrap_or(u32::MAX);
        let mut free: Option<Instant> = None;
        while context.job.stopped().is_none() {
            if self.readings >= most {
                context.counts.borrow_mut().full_stations += 1;
                break;
            }
            let turn = self.schedule.next();
            if turn.is_write {
                self.fill(turn.block, context);
            }
            let due = match turn.due_ns {
                Some(due_ns) => Some(start.plus_nanos(due_ns)),
                None if spec.think_ns > 0 => free.map(|free| free.plus_nanos(spec.think_ns)),
                None => None,
            };
            let mut began = context.clock.now();
            if let Some(due) = due
                && due < end
                && began < due
            {
                context.wait_until(due).await;
                began = context.clock.now();
                if context.job.stopped().is_some() {
                    break;
                }
                let late_ns = began.nanos_since(due);
                context.counts.borrow_mut().own_lateness.record(late_ns.cast_signed());
            }
            if began >= end || due.is_some_and(|due| due >= end) {
                let mut counts = context.counts.borrow_mut();
                counts.late_stations += 1;
                if let Some(end_ns) = spec.until.time_ns {
                    // The schedule is no longer needed.
                    let schedule = std::mem::replace(&mut self.schedule, Schedule::new(spec, 0, 1));
                    counts.unstarted += schedule.due_before(end_ns, turn);
                }
                break;
            }
            let intended = if turn.due_ns.is_some() { due } else { None };
            match self.operation(context, turn, intended, began, most).await {
                Ok(ended) => free = Some(ended),
                Err(fault) => return End::Fault(fault),
            }
            context.clock.yield_now(self.readings == 1).await;
        }
        End::Due
    }

    async fn operation(
        &mut self,
        context: &Context<C, impl Clock>,
        turn: Turn,
        intended: Option<Instant>,
        mut began: Instant,
        most: u32,
    ) -> Result<Instant> {
        let spec = &context.job.spec;
        let mut pause_ns = FIRST_PAUSE_NS;
        let number = self.operations;
        self.operations += 1;
        for attempt in 0..=spec.retries {
            let late_before = self.late_calls();
            let done = self.attempt(context, turn).await;
            let ended = context.clock.now();
            let late = self.late_calls().saturating_sub(late_before);
            let outcome = self.outcome(context, turn, &done);
            let start_ns = context.since_start_ns(began);
            let reading = Reading {
                intended_ns: intended.map_or(start_ns, |at| context.since_start_ns(at)),
                start_ns,
                end_ns: context.since_start_ns(ended),
                station: self.number,
                block: turn.block,
                bytes: 0,
                is_write: turn.is_write,
                outcome: Outcome::of(Class::TimedOut),
                attempt,
                level: level(number),
            };
            // Each time-out of a late call is a failed attempt; the last one is its outcome.
            let late = late.min(most.saturating_sub(self.readings + 1)).min(u8::MAX.into()) as u8;
            for late in 0..late {
                context.keep(Reading { attempt: attempt.saturating_add(late), ..reading });
            }
            self.readings += u32::from(late) + 1;
            context.keep(Reading {
                bytes: if outcome == Outcome::OK { spec.message_size_bytes } else { 0 },
                outcome,
                attempt: attempt.saturating_add(late),
                ..reading
            });
            let Err(fault) = done else {
                self.failures = 0;
                return Ok(ended);
            };
            self.failures += 1;
            if self.failures >= MOST_FAILURES {
                let words =
                    format!("{MOST_FAILURES} operations in a row failed: {}", fault.message);
                return Err(Fault { message: words, ..fault });
            }
            let is_passing = fault.class.is_passing();
            if is_passing || matches!(fault.class, Class::Protocol | Class::Length) {
                // After any fault the connection is unusable.
                self.file = None;
                self.session = None;
                self.reconnect(context).await?;
            }
            let is_last = !is_passing || attempt == spec.retries || self.readings >= most;
            if is_last || context.job.stopped().is_some() {
                return Ok(context.clock.now());
            }
            context.pause(pause_ns).await;
            pause_ns = (2 * pause_ns).min(MOST_PAUSE_NS);
            began = context.clock.now();
        }
        Ok(context.clock.now())
    }

    fn late_calls(&self) -> u32 {
        self.session.as_ref().map_or(0, Session::late_calls)
    }

    fn outcome(
        &mut self,
        context: &Context<C, impl Clock>,
        turn: Turn,
        done: &Result<()>,
    ) -> Outcome {
        match done {
            Err(fault) => {
                if turn.is_write {
                    self.writes[turn.block as usize] = self.generation | IS_OPEN;
                }
                Outcome::of(fault.class)
            }
            Ok(()) if turn.is_write => {
                self.writes[turn.block as usize] = self.generation;
                self.last[(self.written % READ_BACK as u64) as usize] = turn.block;
                self.written += 1;
                Outcome::OK
            }
            Ok(()) if self.is_right(context, turn.block) => Outcome::OK,
            Ok(()) => Outcome::WRONG_DATA,
        }
    }

    /// Whether the buffer contains what was last written to a block, as far as known.
    fn is_right(&self, context: &Context<C, impl Clock>, block: u32) -> bool {
        if !context.job.spec.verify {
            return true;
        }
        let writes = self.writes.get(block as usize).copied().unwrap_or(0);
        if writes & IS_OPEN != 0 {
            // A failed write may have been executed, in part or not at all.
            return true;
        }
        let place = Place { station: self.number, block, generation: writes };
        let checked = context.job.pattern.check(place, &self.buffer);
        let mut counts = context.counts.borrow_mut();
        counts.checked.blocks += 1;
        checked.inspect_err(|wrong| counts.wrong(*wrong, place)).is_ok()
    }

    fn fill(&mut self, block: u32, context: &Context<C, impl Clock>) {
        self.generation = ((self.writes[block as usize] & !IS_OPEN) + 1) & !IS_OPEN;
        let place = Place { station: self.number, block, generation: self.generation };
        let pattern = &context.job.pattern;
        self.head = if self.gathers { pattern.description(place, self.buffer.len()) } else { None };
        if self.head.is_none() {
            pattern.fill(place, &mut self.buffer);
        }
    }

    async fn write(
        &self,
        context: &Context<C, impl Clock>,
        session: &C::Session,
        file: &FileOf<C>,
        turn: Turn,
    ) -> Result<()> {
        let at = u64::from(turn.block) * self.buffer.len() as u64;
        let Some(head) = &self.head else {
            return session.write_at(file, at, &self.buffer).await;
        };
        let place = Place { station: self.number, block: turn.block, generation: self.generation };
        let body = context.job.pattern.body(place, self.buffer.len());
        session.write_parts_at(file, at, [head, body]).await
    }

    async fn attempt(&mut self, context: &Context<C, impl Clock>, turn: Turn) -> Result<()> {
        let Some(session) = &self.session else {
            return Err(Fault::new(Class::Reset, "the connection has ended"));
        };
        let at = u64::from(turn.block) * self.buffer.len() as u64;
        match (&self.file, turn.is_write) {
            (Some(file), false) => read(session, file, at, &mut self.buffer).await,
            (Some(file), true) => {
                self.write(context, session, file, turn).await?;
                match context.job.spec.sync {
                    StationSync::None => Ok(()),
                    StationSync::Each => session.sync(file).await,
                }
            }
            (None, false) => {
                let path = &self.paths[turn.block as usize];
                let file = session.open(path, Access::Read).await?;
                read(session, &file, 0, &mut self.buffer).await?;
                session.close(file).await
            }
            (None, true) => {
                let path = &self.paths[turn.block as usize];
                let size_bytes = self.buffer.len() as u64;
                let file = session.open(path, Access::Replace { size_bytes }).await?;
                session.write_at(&file, 0, &self.buffer).await?;
                session.close(file).await
            }
        }
    }

    /// After the measurement, verify the last written blocks, and log out.
    pub async fn finish(mut self, context: &Context<C, impl Clock>) {
        let count = self.written.min(READ_BACK as u64) as usize;
        let mut blocks = self.last[..count].to_vec();
        blocks.sort_unstable();
        blocks.dedup();
        for block in blocks {
            if !context.job.spec.verify || self.session.is_none() {
                break;
            }
            let turn = Turn { is_write: false, block, due_ns: None };
            let done = self.attempt(context, turn).await;
            let is_wrong = match done {
                Ok(()) => !self.is_right(context, block),
                // A missing confirmed block is as bad as a wrong one.
                Err(fault) => matches!(fault.class, Class::Missing | Class::Length),
            };
            let mut counts = context.counts.borrow_mut();
            counts.checked.read_back += 1;
            counts.checked.read_back_wrong += u64::from(is_wrong);
        }
        if let Some(session) = self.session.take() {
            // The measurement is complete: a failed logout does not affect it.
            if let Some(file) = self.file.take() {
                let _ = session.close(file).await;
            }
            let _ = session.end().await;
        }
    }
}

async fn read<S: Session>(session: &S, file: &S::File, at: u64, buffer: &mut [u8]) -> Result<()> {
    let (mut filled, length) = (0, buffer.len());
    while filled < length {
        let got = session.read_at(file, at + filled as u64, &mut buffer[filled..]).await?;
        if got == 0 || got > length - filled {
            let message = format!("read at {at}: found {filled} octets; allowed: {length}");
            return Err(Fault::new(Class::Length, message));
        }
        filled += got;
    }
    Ok(())
}
