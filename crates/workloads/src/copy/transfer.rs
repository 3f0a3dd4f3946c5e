//! Transfer of one file in one direction: open, blocks in order or concurrently, close.
#![allow(
    clippy::await_holding_refcell_ref,
    reason = "a buffer is one lane's: nothing else borrows it while that one waits"
)]

use std::cell::{Cell, RefCell};
use std::time::Duration;

use lanlab_files::{Access, Class, Fault, MinimumRate, ServicePath, Session, TransferCapabilities};
use lanlab_units::{Clock, Instant};

use super::meters::{Meters, Operation};
use super::{CopyError, lanes};
use crate::guard::Guard;
use crate::messages::{CopySpec, CopySync, Failure};

/// Memory for calls in flight per connection. Without a requested depth, all connections share it, and each has at
/// least two calls. If more is requested, the request is refused.
pub const SESSION_BYTES: u64 = 12 << 20;

/// Content of a file to send.
pub trait Source {
    fn fill(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Failure>;
}

/// Destination of a received file.
pub trait Sink {
    /// Store one whole block at `offset`.
    fn take(&self, offset: u64, block: &[u8]) -> Result<(), Failure>;

    /// Finish; returns the block hashes if they were requested.
    fn close(self, sync: CopySync) -> Result<Option<Vec<u64>>, Failure>;
}

/// Transfer settings: the best ones for the service, overridden by the request.
pub fn capabilities(
    spec: &CopySpec,
    of_service: TransferCapabilities,
) -> Result<TransferCapabilities, Failure> {
    let mut capabilities = of_service;
    if let Some(bytes) = spec.block_bytes {
        capabilities.block_bytes = bytes;
    }
    capabilities.block_bytes = capabilities.block_bytes.clamp(1, SESSION_BYTES as u32);
    let block_bytes = u64::from(capabilities.block_bytes);
    let most = (SESSION_BYTES / block_bytes) as u16;
    let shared = SESSION_BYTES / (block_bytes * u64::from(spec.parallel_files.max(1)));
    capabilities.depth = capabilities.depth.min(shared.clamp(2, u16::MAX.into()) as u16);
    if let Some(depth) = spec.depth {
        if capabilities.in_order && depth > 1 {
            let allowed = "1, as this service moves a file as one stream";
            return Err(Failure::value("depth", depth, allowed));
        }
        if depth > most {
            let allowed = format!("{most} with blocks of {} octets", capabilities.block_bytes);
            return Err(Failure::value("depth", depth, allowed));
        }
        capabilities.depth = depth;
    }
    capabilities.depth = if capabilities.in_order { 1 } else { capabilities.depth.clamp(1, most) };
    Ok(capabilities)
}

/// Transfers files over one session with fixed buffers.
pub struct Transfer<'a, K> {
    pub capabilities: TransferCapabilities,
    buffers: Vec<RefCell<Vec<u8>>>,
    pub meters: RefCell<Meters>,
    guard: &'a Guard<'a, K>,
    sync: CopySync,
}

impl<'a, K: Clock> Transfer<'a, K> {
    pub fn new(
        capabilities: TransferCapabilities,
        sync: CopySync,
        guard: &'a Guard<'a, K>,
    ) -> Self {
        let buffer = || RefCell::new(vec![0; capabilities.block_bytes as usize]);
        Self {
            capabilities,
            buffers: (0..capabilities.depth).map(|_| buffer()).collect(),
            meters: RefCell::new(Meters::default()),
            guard,
            sync,
        }
    }

    async fn timed<T>(
        &self,
        kind: Operation,
        call: impl Future<Output = lanlab_files::Result<T>>,
    ) -> Result<T, CopyError> {
        let began = self.guard.clock.now();
        let done = call.await?;
        self.meters.borrow_mut().operation(kind, began, self.guard.clock.now(), 0);
        Ok(done)
    }

    async fn close<S: Session>(&self, session: &S, file: S::File) -> Result<(), CopyError> {
        self.timed(Operation::Close, session.close(file)).await
    }

    /// Send a file of `bytes` bytes; returns when the server had accepted the first of them.
    pub async fn upload<S: Session>(
        &self,
        session: &S,
        path: &ServicePath,
        bytes: u64,
        source: &impl Source,
    ) -> Result<Instant, CopyError> {
        // The directory is ours: checking first would protect no file, and no other client does it.
        let access = if self.capabilities.can_create {
            Access::Create { size_bytes: bytes }
        } else {
            Access::Replace { size_bytes: bytes }
        };
        let file = self.timed(Operation::Open, session.open(path, access)).await?;
        let blocks = Blocks::new(bytes, self.capabilities.block_bytes);
        let lanes =
            self.lanes(bytes).map(|buffer| self.send(session, &file, source, &blocks, buffer));
        lanes::all(lanes.collect()).await?;
        if self.sync == CopySync::File {
            self.timed(Operation::Sync, session.sync(&file)).await?;
        }
        self.close(session, file).await?;
        Ok(blocks.first.get().unwrap_or_else(|| self.guard.clock.now()))
    }

    async fn send<S: Session>(
        &self,
        session: &S,
        file: &S::File,
        source: &impl Source,
        blocks: &Blocks,
        buffer: &RefCell<Vec<u8>>,
    ) -> Result<(), CopyError> {
        let mut buffer = buffer.borrow_mut();
        while let Some((offset, length)) = blocks.next() {
            self.guard.check()?;
            let block = &mut buffer[..length];
            source.fill(offset, block)?;
            let began = self.guard.clock.now();
            session.write_at(file, offset, block).await?;
            self.moved(Operation::Write, began, blocks, length);
        }
        Ok(())
    }

    /// Receive a file of `bytes` bytes; returns when the first of them had arrived.
    pub async fn download<S: Session>(
        &self,
        session: &S,
        path: &ServicePath,
        bytes: u64,
        sink: &impl Sink,
        ends_there: bool,
    ) -> Result<Instant, CopyError> {
        let file = self.timed(Operation::Open, session.open(path, Access::Read)).await?;
        let blocks = Blocks::new(bytes, self.capabilities.block_bytes);
        let lanes = self
            .lanes(bytes)
            .map(|buffer| self.receive(session, &file, path, sink, &blocks, buffer));
        lanes::all(lanes.collect()).await?;
        // A single stream signals its end; elsewhere checking costs a call that no other client makes.
        if self.capabilities.in_order || ends_there {
            let more = session.read_at(&file, bytes, &mut [0; 1]).await?;
            if more > 0 {
                let message = format!("read `{path}`: more than its {bytes} octets came");
                return Err(Fault::new(Class::Length, message).into());
            }
        }
        self.close(session, file).await?;
        Ok(blocks.first.get().unwrap_or_else(|| self.guard.clock.now()))
    }

    async fn receive<S: Session>(
        &self,
        session: &S,
        file: &S::File,
        path: &ServicePath,
        sink: &impl Sink,
        blocks: &Blocks,
        buffer: &RefCell<Vec<u8>>,
    ) -> Result<(), CopyError> {
        let mut buffer = buffer.borrow_mut();
        // Guards against a server that answers each call with next to nothing.
        let mut moves = MinimumRate::default();
        while let Some((offset, length)) = blocks.next() {
            let block = &mut buffer[..length];
            let mut filled = 0;
            while filled < length {
                self.guard.check()?;
                let began = self.guard.clock.now();
                let at = offset + filled as u64;
                let got = session.read_at(file, at, &mut block[filled..]).await?;
                if got == 0 || got > length - filled {
                    return Err(cut_off(path, at, blocks.bytes, got).into());
                }
                let waited = self.moved(Operation::Read, began, blocks, got);
                let what = format_args!("read `{path}`");
                moves.moved(what, Duration::from_nanos(self.guard.timeout_ns), waited, got)?;
                filled += got;
            }
            sink.take(offset, block)?;
        }
        Ok(())
    }

    fn lanes(&self, bytes: u64) -> impl Iterator<Item = &RefCell<Vec<u8>>> {
        let blocks = bytes.div_ceil(self.capabilities.block_bytes.into());
        self.buffers.iter().take(usize::try_from(blocks).unwrap_or(usize::MAX))
    }

    fn moved(&self, kind: Operation, began: Instant, blocks: &Blocks, length: usize) -> Duration {
        let ended = self.guard.clock.now();
        blocks.first.set(blocks.first.get().or(Some(ended)));
        self.meters.borrow_mut().operation(kind, began, ended, length as u64);
        self.guard.progress.count(0, length as u64);
        Duration::from_nanos(ended.nanos_since(began))
    }
}

fn cut_off(path: &ServicePath, at: u64, bytes: u64, got: usize) -> Fault {
    if got == 0 {
        // With several blocks in flight, the last may be the first to reach the end.
        let message = format!("read `{path}`: it has at most {at} of its {bytes} octets");
        return Fault::new(Class::Length, message);
    }
    Fault::new(Class::Protocol, format!("read `{path}`: more came at {at} than was asked for"))
}

struct Blocks {
    bytes: u64,
    block_bytes: u64,
    next: Cell<u64>,
    first: Cell<Option<Instant>>,
}

impl Blocks {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    const SERVICE: TransferCapabilities = TransferCapabilities {
        in_order: false,
        block_bytes: 1 << 20,
        depth: 4,
        blocking: false,
        can_update: true,
        can_create: true,
    };

    pub(in crate::copy) fn spec(block_bytes: Option<u32>, depth: Option<u16>) -> CopySpec {
        serde_json::from_value(json!({
            "service": {"service": "directory", "directory": "/there"},
            "working_name": "lanlab-test",
            "token": "0".repeat(32),
            "direction": "upload",
            "files": {"dataset": {
                "seed": 1,
                "groups": [{"count": 1, "least_bytes": 1, "most_bytes": 1}],
            }},
            "client": "memory",
            "parallel_files": 1,
            "block_bytes": block_bytes,
            "depth": depth,
            "sync": "none",
            "verify": "content",
            "retries": 0,
        }))
        .unwrap()
    }

    /// Bytes per call and calls in flight; `None` if refused.
    fn moved(
        of: TransferCapabilities,
        block_bytes: Option<u32>,
        depth: Option<u16>,
    ) -> Option<(u32, u16)> {
        let found = capabilities(&spec(block_bytes, depth), of).ok()?;
        Some((found.block_bytes, found.depth))
    }

    #[test]
    fn requested_settings_replace_service_defaults() {
        assert_eq!(moved(SERVICE, None, None), Some((1 << 20, 4)));
        assert_eq!(moved(SERVICE, Some(4096), Some(8)), Some((4096, 8)));
        let in_order = TransferCapabilities { in_order: true, ..SERVICE };
        assert_eq!(moved(in_order, None, None), Some((1 << 20, 1)));
        assert_eq!(moved(in_order, None, Some(1)), Some((1 << 20, 1)));
        assert_eq!(moved(in_order, None, Some(2)), None);
    }

    #[test]
    fn parallel_files_share_the_data_in_flight() {
        let depth_of_each = |parallel_files: u16, depth: Option<u16>| {
            let spec = CopySpec { parallel_files, ..spec(None, depth) };
            capabilities(&spec, TransferCapabilities { depth: 8, ..SERVICE }).unwrap().depth
        };
        let depths: Vec<u16> = [1, 2, 4, 8, 64].map(|files| depth_of_each(files, None)).into();
        assert_eq!(depths, [8, 6, 3, 2, 2]);
        assert_eq!(depth_of_each(8, Some(5)), 5);
    }

    #[test]
    fn calls_in_flight_fit_the_session_memory() {
        assert_eq!(moved(SERVICE, None, Some(12)), Some((1 << 20, 12)));
        assert_eq!(moved(SERVICE, None, Some(13)), None);
        // Excessive defaults of a service are reduced, not refused.
        let deep = TransferCapabilities { depth: 100, ..SERVICE };
        assert_eq!(moved(deep, None, None), Some((1 << 20, 12)));
        let wide = TransferCapabilities { block_bytes: u32::MAX, ..SERVICE };
        assert_eq!(moved(wide, None, None), Some((12 << 20, 1)));
    }
}
