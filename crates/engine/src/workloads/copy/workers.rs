//! The worker threads of a copy, each with its own connection and a shared queue of files.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use lanlab_clients::exchanges::{self, Exchanges};
use lanlab_clients::{AnySession, CarriedSince, ConfinedDirectory};
use lanlab_files::{ServicePath, Session, Target, TransferCapabilities};
use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_workloads::Guard;
use lanlab_workloads::copy::{
    CopyEndpoints, CopyError, Copying, Hashes, Totals, Transfer, Worked, Worker, add_up, connect,
    connect_patiently,
};
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

use super::clock::{RuntimeClock, bounded};
use super::files::{Files, Truth, open_source};
use super::local::{Place, Sink, compare_hashes};
use super::service_paths::path;
use super::stack;
use crate::messages::{
    ClientSide, CopySpec, CopyVerify, Direction, Failure, FileTimes, HostWindow, Outcome, Reply,
    Verified,
};
use crate::paths::absolute;
use crate::running::{Measured, Running, conclude};
use crate::workloads::worker_threads;

/// Maximum logins at once. If the server refuses the user, it counts each, and may lock the user out after three.
pub const CONNECT_AT_ONCE: usize = 2;
/// Attempts if only one connection is allowed: a server may not have noticed yet that the previous one ended.
const SINGLE_ATTEMPTS: u32 = 5;

pub fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::system("a runtime", &error))
}

pub async fn connect_once(
    service: &Target,
    guard: &Guard<'_, RuntimeClock>,
) -> Result<AnySession, CopyError> {
    let connect = || lanlab_clients::connect_unless_refused(service);
    Ok(connect_patiently(guard, SINGLE_ATTEMPTS, || async {}, connect).await?.0)
}

/// Local destination of a download, unless it is discarded.
pub fn local_place(spec: &CopySpec) -> Result<Option<Place>, Failure> {
    match &spec.client {
        ClientSide::Directory(directory) if spec.direction == Direction::Download => {
            Place::new(&absolute(directory)?, path(spec.working_name.clone())?).map(Some)
        }
        _ => Ok(None),
    }
}

/// Local source of an upload, unless it is generated.
pub fn local_source(spec: &CopySpec) -> Result<Option<Arc<ConfinedDirectory>>, Failure> {
    match &spec.client {
        ClientSide::Directory(directory) if spec.direction == Direction::Upload => {
            open_source(&absolute(directory)?).map(Some)
        }
        _ => Ok(None),
    }
}

/// The count; `None` if the service's client counts nothing.
pub fn counted(found: &Exchanges) -> Option<crate::messages::Exchanges> {
    (found.answered > 0).then(|| crate::messages::Exchanges {
        answered: found.answered,
        waits: found.waits,
        response_mean_ns: found.response_mean_ns(),
        moved_bytes: found.moved_bytes,
        moving_ns: found.moving_ns,
        moving_waits: found.moving_waits,
    })
}

pub fn copy(spec: &CopySpec, running: &Running) -> Measured {
    let files = Files::find(&spec.files, running)?;
    files.check_same(spec.files_digest.as_deref())?;
    let place = local_place(spec)?;
    let source = local_source(spec)?;
    let job = Job {
        spec,
        files: &files,
        source: source.as_deref(),
        place: place.as_ref(),
        next: AtomicUsize::new(0),
        exchanges: Mutex::default(),
        guard: bounded(spec, running),
        running,
        connecting: Semaphore::new(CONNECT_AT_ONCE),
    };
    let frames = CarriedSince::begin(&spec.service);
    let (start, done, host) = job.run()?;
    let carrier = frames.counts();
    let (count, bytes) = job.files();
    let copying = Copying { start, files: count, bytes, host, left_out: files.left_out };
    let Totals { mut copied, meters, hashes, failure } = add_up(copying, done);
    for line in meters.file_lines(start) {
        running.tell(|id| Reply::CopiedFiles(FileTimes { id, ..line }));
    }
    copied.carrier = carrier;
    copied.exchanges = counted(&job.exchanges.lock());
    copied.stack = stack::facts(&spec.service);
    let failure = failure.or_else(|| match verify(&job, hashes, copied.manner) {
        Ok(verified) => {
            copied.verified = verified;
            None
        }
        Err(failure) => Some(failure),
    });
    conclude(Outcome::Copied(Box::new(copied)), failure)
}

struct Job<'a> {
    spec: &'a CopySpec,
    files: &'a Files,
    /// Local source of files, unless they are generated.
    source: Option<&'a ConfinedDirectory>,
    place: Option<&'a Place>,
    next: AtomicUsize,
    exchanges: Mutex<Exchanges>,
    guard: Guard<'a, RuntimeClock>,
    running: &'a Running,
    connecting: Semaphore,
}

struct Connected {
    session: AnySession,
    runtime: Runtime,
    capabilities: TransferCapabilities,
    connect_ns: u64,
    exchanged: Exchanges,
}

impl Job<'_> {
    /// Connect, and copy all files from the start on; also returns the start.
    fn run(&self) -> Result<(Instant, Vec<Worked>, Option<HostWindow>), Failure> {
        let workers = 0..self.spec.parallel_files;
        let connected = worker_threads::all(workers, &self.guard, |_| self.connected())?;
        self.running.ready(Vec::new(), None);
        let start = self.running.wait_for_start(|| Ok(()))?;
        let (done, host) = self.running.with_progress(start, start, || {
            worker_threads::all(connected, &self.guard, |connected| Ok(self.work(connected, start)))
        });
        Ok((start, done?, host))
    }

    fn connected(&self) -> Result<Connected, Failure> {
        let runtime = runtime()?;
        let connecting = connect(self, self.spec, &self.guard);
        let (session, capabilities, connect_ns) = runtime.block_on(connecting)?;
        Ok(Connected { session, runtime, capabilities, connect_ns, exchanged: exchanges::take() })
    }

    fn work(&self, connected: Connected, start: Instant) -> Worked {
        let Connected { session, runtime, capabilities, connect_ns, exchanged } = connected;
        let (facts, guard) = (session.facts(), &self.guard);
        let transfer = Transfer::new(capabilities, self.spec.sync, guard);
        let worker = Worker { spec: self.spec, endpoints: self, next: &self.next, guard, transfer };
        let is_time = self.running.wait_to_begin(start);
        let before = os::thread_usage();
        let mut hashes = Hashes::new();
        let failure = match is_time {
            None => Some(Failure::cancelled()),
            Some(_) => runtime.block_on(worker.copy_all(session, &mut hashes)).err(),
        };
        let cpu = os::thread_usage().since(before);
        self.exchanges.lock().add(&exchanges::take().or_response_of(exchanged));
        if failure.is_some() {
            guard.stop();
        }
        let meters = worker.transfer.meters.into_inner();
        Worked { meters, hashes, capabilities, facts, connect_ns, cpu, failure }
    }
}

impl CopyEndpoints for Job<'_> {
    type Session = AnySession;
    type Source = Truth;
    type Sink = Sink;

    async fn turn(&self) -> impl Sized {
        // The semaphore is never closed.
        self.connecting.acquire().await
    }

    async fn connect(&self) -> lanlab_files::Result<AnySession> {
        lanlab_clients::connect_unless_refused(&self.spec.service).await
    }

    fn files(&self) -> (usize, u64) {
        (self.files.entries.len(), self.files.bytes())
    }

    fn bytes(&self, number: usize) -> u64 {
        self.files.entries[number].bytes
    }

    fn name(&self, number: usize) -> &ServicePath {
        &self.files.entries[number].path
    }

    fn source(&self, number: usize) -> Result<Truth, Failure> {
        match self.source {
            None => self.files.truth(number),
            Some(source) => Truth::open(source, &self.files.entries[number].path),
        }
    }

    fn sink(&self, number: usize, block_bytes: u32, is_again: bool) -> Result<Sink, Failure> {
        let entry = &self.files.entries[number];
        match self.place {
            Some(place) => place.create(entry, is_again),
            None => Ok(Sink::hashes(entry.bytes, block_bytes)),
        }
    }
}

/// Verify on this host that the copy is right: no source file changed and, for a download, the received data is
/// correct. Sends nothing to the server.
fn verify(
    job: &Job<'_>,
    hashes: Hashes,
    capabilities: TransferCapabilities,
) -> Result<Verified, Failure> {
    let running = job.running;
    job.files.check_unchanged()?;
    let mut verified = Verified { how: CopyVerify::None, files: 0, bytes: 0 };
    if job.spec.direction == Direction::Upload || job.spec.verify == CopyVerify::None {
        return Ok(verified);
    }
    verified.how = job.spec.verify;
    let entries = &job.files.entries;
    if job.spec.verify == CopyVerify::Size {
        // Without a place, every byte was counted on arrival.
        if let Some(place) = job.place {
            entries.iter().try_for_each(|entry| place.compare_size(entry))?;
        }
        return Ok(Verified { files: entries.len() as u64, ..verified });
    }
    let mut buffers = (vec![0; capabilities.block_bytes as usize], Vec::new());
    if let Some(place) = job.place {
        for (number, entry) in entries.iter().enumerate() {
            let truth = job.files.truth(number)?;
            verified.bytes += place.compare(entry, &truth, &mut buffers, running)?;
            verified.files += 1;
        }
    } else {
        for (number, hashes) in hashes {
            let truth = job.files.truth(number)?;
            let entry = &entries[number];
            verified.bytes += compare_hashes(entry, &truth, &hashes, &mut buffers.0, running)?;
            verified.files += 1;
        }
    }
    job.files.check_unchanged()?;
    Ok(verified)
}
