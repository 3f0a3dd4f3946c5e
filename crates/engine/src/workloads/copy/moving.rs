//! One file, moved one way: opened, its blocks in order or several at once, closed.
#![allow(
    clippy::await_holding_refcell_ref,
    reason = "a buffer is one lane's: nobody else borrows it while that one waits"
)]

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lanlab_os as os;
use lanlab_services::{
    Access, AnyFile, AnySession, Class, Fault, MinimumRate, ServicePath, Session,
    TransferCapabilities,
};
use lanlab_units::Instant;

use super::files::Truth;
use super::local::Sink;
use super::meters::{Meters, Operation};
use super::{SESSION_BYTES, failure_of, lanes};
use crate::messages::{CopySpec, CopySync, Failure};
use crate::running::Running;

/// A request has taken longer than it may.
pub const TOO_LONG: &str = "copy.too_long";
/// How often a wait looks whether it is still wanted.
const TICK: Duration = Duration::from_millis(20);

/// Why a file was not moved.
#[derive(Debug)]
pub enum Trouble {
    /// The service said so. It may pass.
    Service(Fault),
    /// This host, or whoever asked.
    Own(Failure),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Service(fault)
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Own(failure)
    }
}

impl Trouble {
    pub fn into_failure(self) -> Failure {
        match self {
            Self::Service(fault) => failure_of(fault),
            Self::Own(failure) => failure,
        }
    }
}

/// Whether a copy is still wanted: by the driver, and by its other threads.
pub struct Watch<'a> {
    pub running: &'a Running,
    stopped: AtomicBool,
    /// How long an answer of the server may take.
    patience: Duration,
    /// When the request has taken too long, and what that is.
    until: Option<(Instant, u64)>,
}

/// The usual time for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

impl<'a> Watch<'a> {
    pub fn new(running: &'a Running) -> Self {
        Self { running, stopped: AtomicBool::new(false), patience: PATIENCE, until: None }
    }

    /// With the bounds of a copy, from now on.
    pub fn bounded(spec: &CopySpec, running: &'a Running) -> Self {
        let until = |longest_ns| (os::monotonic().plus_nanos(longest_ns), longest_ns);
        Self {
            patience: Duration::from_nanos(spec.service.timeout_ns),
            until: spec.longest_ns.map(until),
            ..Self::new(running)
        }
    }

    /// One thread has failed: the others need not go on.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn check(&self) -> Result<(), Failure> {
        if self.stopped.load(Ordering::Relaxed) || self.running.is_cancelled() {
            return Err(Failure::cancelled());
        }
        match self.until {
            Some((until, longest_ns)) if os::monotonic() >= until => {
                let message = format!("not done within {} s", longest_ns / 1_000_000_000);
                Err(Failure::new(TOO_LONG, message)
                    .hint("see why the server is so slow, or allow more by `--longest`"))
            }
            _ => Ok(()),
        }
    }

    /// Do `work` for as long as it is wanted.
    pub async fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<T, Trouble> {
        let stopped = async {
            loop {
                tokio::time::sleep(TICK).await;
                if let Err(failure) = self.check() {
                    return failure;
                }
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            failure = stopped => Err(failure.into()),
        }
    }
}

/// How files are moved: the service's own manner, with what the request says instead.
///
/// # Errors
/// More calls at once than the service can have.
pub fn manner(
    spec: &CopySpec,
    of_service: TransferCapabilities,
) -> Result<TransferCapabilities, Failure> {
    let mut manner = of_service;
    if let Some(bytes) = spec.block_bytes {
        manner.block_bytes = bytes;
    }
    manner.block_bytes = manner.block_bytes.clamp(1, SESSION_BYTES as u32);
    let most = (SESSION_BYTES / u64::from(manner.block_bytes)) as u16;
    if let Some(depth) = spec.depth {
        if manner.in_order && depth > 1 {
            let allowed = "1, as this service moves a file as one stream";
            return Err(Failure::value("depth", depth, allowed));
        }
        if depth > most {
            let allowed = format!("{most} with blocks of {} octets", manner.block_bytes);
            return Err(Failure::value("depth", depth, allowed));
        }
        manner.depth = depth;
    }
    manner.depth = if manner.in_order { 1 } else { manner.depth.clamp(1, most) };
    Ok(manner)
}

/// What moves files over one session: its buffers are there from the beginning to the end.
pub struct Mover<'a> {
    pub manner: TransferCapabilities,
    buffers: Vec<RefCell<Vec<u8>>>,
    pub meters: RefCell<Meters>,
    watch: &'a Watch<'a>,
    sync: CopySync,
}

impl<'a> Mover<'a> {
    pub fn new(manner: TransferCapabilities, sync: CopySync, watch: &'a Watch<'a>) -> Self {
        let buffer = || RefCell::new(vec![0; manner.block_bytes as usize]);
        Self {
            manner,
            buffers: (0..manner.depth).map(|_| buffer()).collect(),
            meters: RefCell::new(Meters::new()),
            watch,
            sync,
        }
    }

    async fn timed<T>(
        &self,
        kind: Operation,
        call: impl Future<Output = lanlab_services::Result<T>>,
    ) -> Result<T, Trouble> {
        let began = os::monotonic();
        let done = call.await?;
        self.meters.borrow_mut().operation(kind, began, os::monotonic(), 0);
        Ok(done)
    }

    async fn close(&self, session: &AnySession, file: AnyFile) -> Result<(), Trouble> {
        self.timed(Operation::Close, session.close(file)).await
    }

    /// Send a file of `bytes` octets; gives when the server had taken the first of them.
    pub async fn upload(
        &self,
        session: &AnySession,
        path: &ServicePath,
        bytes: u64,
        truth: &Truth,
    ) -> Result<Instant, Trouble> {
        // The directory is lanlab's own: to ask first, which no other client does, would protect nobody.
        let access = if self.manner.can_create {
            Access::Create { size_bytes: bytes }
        } else {
            Access::Replace { size_bytes: bytes }
        };
        let file = self.timed(Operation::Open, session.open(path, access)).await?;
        let place = Place::new(bytes, self.manner.block_bytes);
        let lanes =
            self.lanes(bytes).map(|buffer| self.send(session, &file, truth, &place, buffer));
        lanes::all(lanes.collect()).await?;
        if self.sync == CopySync::File {
            self.timed(Operation::Sync, session.sync(&file)).await?;
        }
        self.close(session, file).await?;
        Ok(place.first.get().unwrap_or_else(os::monotonic))
    }

    async fn send(
        &self,
        session: &AnySession,
        file: &AnyFile,
        truth: &Truth,
        place: &Place,
        buffer: &RefCell<Vec<u8>>,
    ) -> Result<(), Trouble> {
        let mut buffer = buffer.borrow_mut();
        while let Some((offset, length)) = place.next() {
            self.watch.check()?;
            let block = &mut buffer[..length];
            truth.fill(offset, block)?;
            let began = os::monotonic();
            session.write_at(file, offset, block).await?;
            self.moved(Operation::Write, began, place, length);
        }
        Ok(())
    }

    /// Receive a file of `bytes` octets; gives when the first of them was there.
    pub async fn download(
        &self,
        session: &AnySession,
        path: &ServicePath,
        bytes: u64,
        sink: &Sink,
        ends_there: bool,
    ) -> Result<Instant, Trouble> {
        let file = self.timed(Operation::Open, session.open(path, Access::Read)).await?;
        let place = Place::new(bytes, self.manner.block_bytes);
        let lanes = self
            .lanes(bytes)
            .map(|buffer| self.receive(session, &file, path, sink, &place, buffer));
        lanes::all(lanes.collect()).await?;
        // One stream ends by saying so; elsewhere it costs a call that nobody else makes.
        if self.manner.in_order || ends_there {
            let more = session.read_at(&file, bytes, &mut [0; 1]).await?;
            if more > 0 {
                let message = format!("read `{path}`: more than its {bytes} octets came");
                return Err(Fault::new(Class::Length, message).into());
            }
        }
        self.close(session, file).await?;
        Ok(place.first.get().unwrap_or_else(os::monotonic))
    }

    async fn receive(
        &self,
        session: &AnySession,
        file: &AnyFile,
        path: &ServicePath,
        sink: &Sink,
        place: &Place,
        buffer: &RefCell<Vec<u8>>,
    ) -> Result<(), Trouble> {
        let mut buffer = buffer.borrow_mut();
        // A server may also answer each call with next to nothing.
        let mut moves = MinimumRate::default();
        while let Some((offset, length)) = place.next() {
            let block = &mut buffer[..length];
            let mut filled = 0;
            while filled < length {
                self.watch.check()?;
                let began = os::monotonic();
                let at = offset + filled as u64;
                let got = session.read_at(file, at, &mut block[filled..]).await?;
                if got == 0 || got > length - filled {
                    return Err(cut_off(path, at, place.bytes, got).into());
                }
                let waited = self.moved(Operation::Read, began, place, got);
                let what = format_args!("read `{path}`");
                moves.moved(what, self.watch.patience, waited, got)?;
                filled += got;
            }
            sink.take(offset, block)?;
        }
        Ok(())
    }

    /// As many lanes as there are blocks, up to the depth.
    fn lanes(&self, bytes: u64) -> impl Iterator<Item = &RefCell<Vec<u8>>> {
        let blocks = bytes.div_ceil(self.manner.block_bytes.into());
        self.buffers.iter().take(usize::try_from(blocks).unwrap_or(usize::MAX))
    }

    /// Note a call that is done; gives how long it took.
    fn moved(&self, kind: Operation, began: Instant, place: &Place, length: usize) -> Duration {
        let ended = os::monotonic();
        place.first.set(place.first.get().or(Some(ended)));
        self.meters.borrow_mut().operation(kind, began, ended, length as u64);
        self.watch.running.count(0, length as u64);
        Duration::from_nanos(ended.nanos_since(began))
    }
}

fn cut_off(path: &ServicePath, at: u64, bytes: u64, got: usize) -> Fault {
    if got == 0 {
        let message = format!("read `{path}`: it ended after {at} of {bytes} octets");
        return Fault::new(Class::Length, message);
    }
    Fault::new(Class::Protocol, format!("read `{path}`: more came at {at} than was asked for"))
}

/// Which block of a file is next, and when the first was moved.
struct Place {
    bytes: u64,
    block_bytes: u64,
    next: Cell<u64>,
    first: Cell<Option<Instant>>,
}

impl Place {
    fn new(bytes: u64, block_bytes: u32) -> Self {
        let block_bytes = block_bytes.into();
        Self { bytes, block_bytes, next: Cell::new(0), first: Cell::new(None) }
    }

    fn next(&self) -> Option<(u64, usize)> {
        let offset = self.next.get();
        if offset >= self.bytes {
            return None;
        }
        let length = self.block_bytes.min(self.bytes - offset);
        self.next.set(offset + length);
        Some((offset, length as usize))
    }
}
