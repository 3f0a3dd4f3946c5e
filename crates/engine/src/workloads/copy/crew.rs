//! The threads that copy: each with a connection of its own, all from one queue of files.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lanlab_os as os;
use lanlab_services::{
    AnySession, Below, Class, Fault, ServicePath, Session, TransferCapabilities, connect,
};
use lanlab_units::Instant;
use tokio::runtime::{Builder, Runtime};

use super::failure_of;
use super::files::{Files, Truth, open_source};
use super::local::{Place, Sink, compare_hashes};
use super::meters::{FileTime, Meters};
use super::moving::{Mover, TOO_LONG, Trouble, Watch, manner};
use super::working::{path, remote_path};
use crate::driver::Measured;
use crate::host::cpu_time;
use crate::messages::{
    ClientSide, Copied, CopySpec, CopyVerify, Direction, Failure, HostWindow, Outcome, Verified,
};
use crate::running::Running;
use crate::workloads::conclude;
use crate::workloads::dataset::absolute;

/// Before a file is tried again: so long, twice as long before each further attempt, and no longer
/// than the most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MOST_PAUSE: Duration = Duration::from_secs(5);

/// A runtime for one thread.
pub fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::system("a runtime", &error))
}

/// Where the files of a download go at this host, unless that is nowhere.
pub fn local_place(spec: &CopySpec) -> Result<Option<Place>, Failure> {
    match &spec.client {
        ClientSide::Directory(directory) if spec.direction == Direction::Download => {
            Place::new(&absolute(directory)?, path(spec.working_name.clone())?).map(Some)
        }
        _ => Ok(None),
    }
}

/// Copy all files, once armed.
pub fn copy(spec: &CopySpec, running: &Running) -> Measured {
    let failed = |failure| Box::new((failure, None));
    let files = Files::find(&spec.files, running).map_err(failed)?;
    files.check_same(spec.files_digest.as_deref()).map_err(failed)?;
    let place = local_place(spec).map_err(failed)?;
    let source = match &spec.client {
        ClientSide::Directory(directory) if spec.direction == Direction::Upload => {
            Some(absolute(directory).and_then(|path| open_source(&path)).map_err(failed)?)
        }
        _ => None,
    };
    let job = Job {
        spec,
        files: &files,
        source: source.as_deref(),
        place: place.as_ref(),
        next: AtomicUsize::new(0),
        watch: Watch::bounded(spec, running),
    };
    let timed = job.run().map_err(failed)?;
    let start = timed.start;
    let (mut copied, meters, hashes, failure) = timed.joined(&job);
    for line in meters.file_lines(start) {
        running.tell_files(line);
    }
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
    /// Where files are sent from at this host, unless they are made as they are sent.
    source: Option<&'a Below>,
    place: Option<&'a Place>,
    /// Number of the next file that nobody has taken.
    next: AtomicUsize,
    watch: Watch<'a>,
}

/// Hashes of the blocks of files, by their numbers.
type Hashes = Vec<(usize, Vec<u64>)>;

/// What one thread came to.
struct Done {
    meters: Meters,
    hashes: Hashes,
    manner: TransferCapabilities,
    facts: lanlab_services::Facts,
    connect_ns: u64,
    cpu: os::Usage,
    failure: Option<Failure>,
}

struct Timed {
    start: Instant,
    done: Vec<Done>,
    host: Option<HostWindow>,
}

impl Job<'_> {
    /// Connect all threads, wait for the start, copy.
    fn run(&self) -> Result<Timed, Failure> {
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let workers: Vec<_> = (0..self.spec.parallel_files)
                .map(|_| {
                    let tell = tell.clone();
                    let (begin, starts) = mpsc::channel();
                    let work = move || self.work(&tell, &starts);
                    thread::Builder::new()
                        .spawn_scoped(scope, work)
                        .map(|thread| (begin, thread))
                        .map_err(|error| Failure::system("a thread for a connection", &error))
                })
                .collect::<Result<_, _>>()
                // Those that are there end as nobody gives them a start.
                .inspect_err(|_| self.watch.stop())?;
            drop(tell);
            let connected = || -> Result<Instant, Failure> {
                for _ in &workers {
                    told.recv().map_err(|_| thread_is_gone())??;
                }
                self.watch.running.ready(Vec::new(), None);
                self.watch.running.wait_for_start(|| Ok(()))
            };
            let start = connected().inspect_err(|_| self.watch.stop())?;
            let (done, host) = self.watch.running.with_progress(start, start, || {
                let (begins, threads): (Vec<_>, Vec<_>) = workers.into_iter().unzip();
                // A thread that has failed meanwhile does not listen any more.
                for begin in begins {
                    let _ = begin.send(start);
                }
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|_| Err(thread_is_gone())))
                    .collect::<Result<Vec<_>, _>>()
            });
            Ok(Timed { start, done: done?, host })
        })
    }

    /// One thread, from its connection to its last file.
    fn work(
        &self,
        tell: &mpsc::Sender<Result<(), Failure>>,
        starts: &mpsc::Receiver<Instant>,
    ) -> Result<Done, Failure> {
        os::prepare_thread();
        let runtime = runtime()?;
        let connected = runtime.block_on(async {
            let began = os::monotonic();
            let session = self.watch.unless_stopped(self.connect()).await;
            let connect_ns = os::monotonic().nanos_since(began);
            let session = session.map_err(Trouble::into_failure)?;
            let manner = manner(self.spec, session.capabilities())?;
            Ok((session, manner, connect_ns))
        });
        let (session, manner, connect_ns) = match connected {
            Ok(connected) => connected,
            Err(failure) => {
                self.watch.stop();
                let _ = tell.send(Err(Failure::clone(&failure)));
                return Err(failure);
            }
        };
        let facts = session.facts();
        let mover = Mover::new(manner, self.spec.sync, &self.watch);
        let _ = tell.send(Ok(()));
        let start = starts.recv().map_err(|_| Failure::cancelled())?;
        let is_time = self.watch.running.wait_to_begin(start);
        let before = os::thread_usage();
        let mut hashes = Hashes::new();
        let failure = match is_time {
            None => Some(Failure::cancelled()),
            Some(_) => runtime.block_on(self.copy_all(session, &mover, &mut hashes)).err(),
        };
        let cpu = os::thread_usage().since(before);
        if failure.is_some() {
            self.watch.stop();
        }
        let meters = mover.meters.into_inner();
        Ok(Done { meters, hashes, manner, facts, connect_ns, cpu, failure })
    }

    async fn connect(&self) -> Result<AnySession, Trouble> {
        Ok(connect(&self.spec.service).await?)
    }

    async fn copy_all(
        &self,
        session: AnySession,
        mover: &Mover<'_>,
        hashes: &mut Hashes,
    ) -> Result<(), Failure> {
        let mut session = Some(session);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.files.entries.len() {
                break;
            }
            let kept = self.copy_one(number, &mut session, mover).await?;
            hashes.extend(kept.map(|kept| (number, kept)));
            self.watch.running.count(1, 0);
        }
        if let Some(session) = session {
            // What was copied is confirmed: how the server takes its leave changes nothing of it.
            let _ = self.watch.unless_stopped(async { Ok(session.end().await?) }).await;
        }
        Ok(())
    }

    /// Copy a file, again and again as the policy allows it.
    async fn copy_one(
        &self,
        number: usize,
        session: &mut Option<AnySession>,
        mover: &Mover<'_>,
    ) -> Result<Option<Vec<u64>>, Failure> {
        let entry = &self.files.entries[number];
        let path = remote_path(self.spec, &entry.path)?;
        let opened = os::monotonic();
        let mut pause = FIRST_PAUSE;
        for retries in 0.. {
            let attempt = self.attempt(number, &path, session, mover, retries > 0);
            match self.watch.unless_stopped(attempt).await {
                Ok((first_byte, hashes)) => {
                    let closed = os::monotonic();
                    let bytes = entry.bytes;
                    mover.meters.borrow_mut().file(FileTime {
                        number,
                        bytes,
                        opened,
                        first_byte,
                        closed,
                        retries,
                    });
                    return Ok(hashes);
                }
                Err(Trouble::Own(failure)) => return Err(self.with_progress(failure, number)),
                Err(Trouble::Service(fault)) => {
                    note(&fault, mover);
                    if !fault.class.is_passing() || retries >= u64::from(self.spec.retries) {
                        return Err(given_up(fault, retries));
                    }
                }
            }
            mover.meters.borrow_mut().retries += 1;
            // Whatever it was, the old connection is of no use.
            *session = None;
            let rest = async {
                tokio::time::sleep(pause).await;
                Ok(())
            };
            self.watch.unless_stopped(rest).await.map_err(Trouble::into_failure)?;
            pause = (2 * pause).min(MOST_PAUSE);
        }
        unreachable!("the loop ends with an attempt")
    }

    /// What took too long is said with how far it came.
    fn with_progress(&self, mut failure: Failure, number: usize) -> Failure {
        if failure.code == TOO_LONG {
            let target = &self.spec.service;
            let address = target.address.map(|address| address.to_string());
            let server = target.server_name.clone().or(address);
            let (done, moved) = self.watch.running.progress.counted();
            let (files, all) = (self.files.entries.len(), self.files.bytes());
            failure.message = format!(
                "{}: `{}` was under way, {done} of {files} files were done, {moved} of {all} bytes \
                 were moved: {}",
                server.as_deref().unwrap_or(&target.directory),
                self.files.entries[number].path,
                failure.message,
            );
        }
        failure
    }

    async fn attempt(
        &self,
        number: usize,
        path: &ServicePath,
        session: &mut Option<AnySession>,
        mover: &Mover<'_>,
        is_again: bool,
    ) -> Result<(Instant, Option<Vec<u64>>), Trouble> {
        if session.is_none() {
            *session = Some(self.connect().await?);
        }
        let Some(session) = session else { return Err(thread_is_gone().into()) };
        let entry = &self.files.entries[number];
        match self.spec.direction {
            Direction::Upload => {
                if is_again {
                    remove_part(session, path).await?;
                }
                let truth = self.source(number)?;
                let first_byte = mover.upload(session, path, entry.bytes, &truth).await?;
                Ok((first_byte, None))
            }
            Direction::Download => {
                let sink = match self.place {
                    Some(place) => place.create(entry, is_again)?,
                    None => Sink::hashes(entry.bytes, mover.manner.block_bytes),
                };
                let first_byte = mover.download(session, path, entry.bytes, &sink, false).await?;
                Ok((first_byte, sink.close(self.spec.sync)?))
            }
        }
    }

    /// What is sent: from memory, or from the file of this host.
    fn source(&self, number: usize) -> Result<Truth, Failure> {
        match self.source {
            None => self.files.truth(number),
            Some(source) => Truth::open(source, &self.files.entries[number].path),
        }
    }
}

/// Remove what an attempt before has left of a file.
async fn remove_part(session: &AnySession, path: &ServicePath) -> Result<(), Trouble> {
    match session.remove(path).await {
        Err(fault) if fault.class != Class::Missing => Err(fault.into()),
        _ => Ok(()),
    }
}

fn note(fault: &Fault, mover: &Mover<'_>) {
    let code = failure_of(fault.clone()).code;
    let class = code.trim_start_matches("service.").to_owned();
    *mover.meters.borrow_mut().faults.entry(class).or_default() += 1;
}

fn given_up(fault: Fault, retries: u64) -> Failure {
    let mut failure = failure_of(fault);
    if retries > 0 {
        failure.message = format!("{} (given up after {} attempts)", failure.message, retries + 1);
    }
    failure
}

fn thread_is_gone() -> Failure {
    Failure::new("engine.defect", "a thread of the copy stopped by a defect of the engine")
        .hint("its standard error says where; please report it")
}

impl Timed {
    /// One result of all threads.
    fn joined(self, job: &Job<'_>) -> (Copied, Meters, Hashes, Option<Failure>) {
        let mut meters = Meters::new();
        let (mut hashes, mut connect_ns, mut cpu) =
            (Hashes::new(), Vec::new(), os::Usage::default());
        let mut failure: Option<Failure> = None;
        let mut agreed = None;
        for done in self.done {
            meters.add(done.meters);
            hashes.extend(done.hashes);
            connect_ns.push(done.connect_ns);
            cpu = cpu.plus(done.cpu);
            agreed.get_or_insert((done.facts, done.manner));
            // That it was told to stop says nothing of why.
            let is_news = failure.as_ref().is_none_or(|known| known.code == "cancelled");
            if is_news && done.failure.is_some() {
                failure = done.failure;
            }
        }
        let (facts, manner) = agreed.expect("there is at least one thread");
        let first = meters.files.iter().map(|file| file.opened).min().unwrap_or(self.start);
        let last = meters.files.iter().map(|file| file.closed).max().unwrap_or(first);
        let skew_ns = first.nanos_since(self.start).cast_signed()
            - self.start.nanos_since(first).cast_signed();
        let copied = Copied {
            elapsed_ns: last.nanos_since(first),
            start_skew_ns: skew_ns,
            files: job.files.entries.len() as u64,
            bytes: job.files.bytes(),
            copied_files: meters.files.len() as u64,
            copied_bytes: meters.files.iter().map(|file| file.bytes).sum(),
            retries: meters.retries,
            faults: meters.faults.clone(),
            connect_ns,
            facts,
            manner,
            first_byte: meters.first_byte().finish(),
            file_time: meters.file_time().finish(),
            operations: meters.operation_times(),
            stalls: meters.stalls(),
            cpu: cpu_time(cpu),
            host: self.host,
            verified: Verified { how: CopyVerify::None, files: 0, bytes: 0 },
            left_out: job.files.left_out,
        };
        (copied, meters, hashes, failure)
    }
}

/// See at this host that what was copied is right: that no file has changed and, of a download, that
/// what came is what was to come. Nothing is asked of the server.
fn verify(
    job: &Job<'_>,
    hashes: Hashes,
    manner: TransferCapabilities,
) -> Result<Verified, Failure> {
    let running = job.watch.running;
    job.files.check_unchanged()?;
    let mut verified = Verified { how: CopyVerify::None, files: 0, bytes: 0 };
    if job.spec.direction == Direction::Upload || job.spec.verify == CopyVerify::None {
        return Ok(verified);
    }
    verified.how = job.spec.verify;
    let entries = &job.files.entries;
    if job.spec.verify == CopyVerify::Size {
        // Without a place every octet was counted as it came.
        if let Some(place) = job.place {
            entries.iter().try_for_each(|entry| place.compare_size(entry))?;
        }
        return Ok(Verified { files: entries.len() as u64, ..verified });
    }
    let mut buffers = (vec![0; manner.block_bytes as usize], Vec::new());
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
