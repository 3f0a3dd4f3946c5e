//! One copy worker: a connection that takes file after file from a shared queue, with retries.

use std::sync::atomic::{AtomicUsize, Ordering};

use lanlab_files::{Class, Facts, Fault, ServicePath, Session, TransferCapabilities};
use lanlab_units::{Clock, Instant};

use super::{CopyError, FileTime, Sink, Source, Transfer, capabilities};
use crate::guard::{Guard, TOO_LONG};
use crate::messages::{CopySpec, CpuTime, Direction, Failure};
use crate::{SETUP_ATTEMPTS, failure_of};

/// Pause before the first retry of a file; doubled for each further one, up to the limit.
const FIRST_PAUSE_NS: u64 = 100_000_000;
const MOST_PAUSE_NS: u64 = 5_000_000_000;

pub type Hashes = Vec<(usize, Vec<u64>)>;

/// Both ends of a copy: connections to the service, and this host's side of each file.
pub trait CopyEndpoints {
    type Session: Session;
    type Source: Source;
    type Sink: Sink;

    /// Wait for a turn to connect, which lasts until the result is dropped.
    fn turn(&self) -> impl Future<Output = impl Sized> {
        async {}
    }

    fn connect(&self) -> impl Future<Output = lanlab_files::Result<Self::Session>>;

    /// Called on a virtual clock once all connections are open and copying begins.
    fn begin(&self) {}

    /// Number of files, and their total bytes.
    fn files(&self) -> (usize, u64);

    fn bytes(&self, number: usize) -> u64;

    /// Path of a file within the copied tree.
    fn name(&self, number: usize) -> &ServicePath;

    /// The content to send.
    fn source(&self, number: usize) -> Result<Self::Source, Failure>;

    /// The destination of a file; `is_again` if an earlier attempt may have left a part of it.
    fn sink(&self, number: usize, block_bytes: u32, is_again: bool) -> Result<Self::Sink, Failure>;
}

pub struct Worked {
    pub meters: super::Meters,
    pub hashes: Hashes,
    pub capabilities: TransferCapabilities,
    pub facts: Facts,
    pub connect_ns: u64,
    pub cpu: CpuTime,
    pub failure: Option<Failure>,
}

pub async fn connect<S: CopyEndpoints, K: Clock>(
    endpoints: &S,
    spec: &CopySpec,
    guard: &Guard<'_, K>,
) -> Result<(S::Session, TransferCapabilities, u64), Failure> {
    let connected =
        connect_patiently(guard, SETUP_ATTEMPTS, || endpoints.turn(), || endpoints.connect()).await;
    let (session, connect_ns) = connected.map_err(CopyError::into_failure)?;
    let reads = spec.direction == Direction::Download;
    let capabilities = capabilities(spec, session.one_way_capabilities(reads))?;
    Ok((session, capabilities, connect_ns))
}

/// Connect outside the timed part, with retries where they may help, as a server may refuse some of many
/// simultaneous connections. Returns the duration of the successful attempt.
pub async fn connect_patiently<
    T,
    F: Future<Output = lanlab_files::Result<T>>,
    W: Future,
    K: Clock,
>(
    guard: &Guard<'_, K>,
    attempts: u32,
    turn: impl Fn() -> W,
    connect: impl Fn() -> F,
) -> Result<(T, u64), CopyError> {
    let mut pause_ns = FIRST_PAUSE_NS;
    for attempt in 1.. {
        let in_turn = async {
            let _turn = turn().await;
            let began = guard.clock.now();
            let session = connect().await?;
            Ok((session, guard.clock.now().nanos_since(began)))
        };
        match guard.unless_stopped(in_turn).await {
            Ok(connected) => return Ok(connected),
            // A connection that timed out is not retried.
            Err(CopyError::Service(fault))
                if fault.class.is_passing()
                    && fault.class != Class::TimedOut
                    && attempt < attempts => {}
            Err(CopyError::Service(fault)) if attempt > 1 => {
                return Err(given_up(None, fault, u64::from(attempt - 1)).into());
            }
            Err(error) => return Err(error),
        }
        let rest = async {
            guard.sleep_ns(pause_ns).await;
            Ok(())
        };
        guard.unless_stopped(rest).await?;
        pause_ns = (2 * pause_ns).min(MOST_PAUSE_NS);
    }
    unreachable!("the loop ends with an attempt")
}

pub struct Worker<'a, S, K> {
    pub spec: &'a CopySpec,
    pub endpoints: &'a S,
    pub next: &'a AtomicUsize,
    pub guard: &'a Guard<'a, K>,
    pub transfer: Transfer<'a, K>,
}

impl<S: CopyEndpoints, K: Clock> Worker<'_, S, K> {
    pub async fn copy_all(&self, session: S::Session, hashes: &mut Hashes) -> Result<(), Failure> {
        let mut session = Some(session);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.endpoints.files().0 {
                break;
            }
            let kept = self.copy_one(number, &mut session).await?;
            hashes.extend(kept.map(|kept| (number, kept)));
            self.guard.progress.count(1, 0);
        }
        if let Some(session) = session {
            // The copy is confirmed: a failed logout does not affect it.
            let _ = self.guard.unless_stopped(async { Ok(session.end().await?) }).await;
        }
        Ok(())
    }

    async fn copy_one(
        &self,
        number: usize,
        session: &mut Option<S::Session>,
    ) -> Result<Option<Vec<u64>>, Failure> {
        let path = ServicePath::new(format!(
            "{}/files/{}",
            self.spec.working_name,
            self.endpoints.name(number)
        ))
        .map_err(|bad| Failure::new("copy.name", bad.message))?;
        let opened = self.guard.clock.now();
        let mut pause_ns = FIRST_PAUSE_NS;
        let mut first = None;
        for retries in 0.. {
            let attempt = self.attempt(number, &path, session, retries > 0);
            match self.guard.unless_stopped(attempt).await {
                Ok((first_byte, hashes)) => {
                    let closed = self.guard.clock.now();
                    let bytes = self.endpoints.bytes(number);
                    self.transfer.meters.borrow_mut().file(FileTime {
                        number,
                        bytes,
                        opened,
                        first_byte,
                        closed,
                        retries,
                    });
                    return Ok(hashes);
                }
                Err(CopyError::Own(failure)) => return Err(self.with_progress(failure, number)),
                Err(CopyError::Service(fault)) => {
                    self.note(&fault);
                    if !fault.class.is_passing() || retries >= u64::from(self.spec.retries) {
                        return Err(given_up(first, fault, retries));
                    }
                    first.get_or_insert(fault);
                }
            }
            self.transfer.meters.borrow_mut().retries += 1;
            // After any fault the connection is unusable.
            *session = None;
            let rest = async {
                self.guard.sleep_ns(pause_ns).await;
                Ok(())
            };
            self.guard.unless_stopped(rest).await.map_err(CopyError::into_failure)?;
            pause_ns = (2 * pause_ns).min(MOST_PAUSE_NS);
        }
        unreachable!("the loop ends with an attempt")
    }

    async fn attempt(
        &self,
        number: usize,
        path: &ServicePath,
        session: &mut Option<S::Session>,
        is_again: bool,
    ) -> Result<(Instant, Option<Vec<u64>>), CopyError> {
        if session.is_none() {
            let _turn = self.endpoints.turn().await;
            *session = Some(self.endpoints.connect().await?);
        }
        let Some(session) = session else { return Err(no_session().into()) };
        let bytes = self.endpoints.bytes(number);
        match self.spec.direction {
            Direction::Upload => {
                if is_again {
                    remove_part(session, path).await?;
                }
                let source = self.endpoints.source(number)?;
                Ok((self.transfer.upload(session, path, bytes, &source).await?, None))
            }
            Direction::Download => {
                let block_bytes = self.transfer.capabilities.block_bytes;
                let sink = self.endpoints.sink(number, block_bytes, is_again)?;
                let first_byte = self.transfer.download(session, path, bytes, &sink, false).await?;
                Ok((first_byte, sink.close(self.spec.sync)?))
            }
        }
    }

    fn with_progress(&self, mut failure: Failure, number: usize) -> Failure {
        if failure.code == TOO_LONG {
            let target = &self.spec.service;
            let address = target.address.map(|address| address.to_string());
            let server = target.server_name.clone().or(address);
            let (done, moved) = self.guard.progress.counted();
            let (files, all) = self.endpoints.files();
            failure.message = format!(
                "{}: `{}` was under way, {done} of {files} files ({all} bytes) were done, {moved} \
                 bytes were moved, retries included: {}",
                server.as_deref().unwrap_or(&target.directory),
                self.endpoints.name(number),
                failure.message,
            );
        }
        failure
    }

    fn note(&self, fault: &Fault) {
        let code = failure_of(fault.clone()).code;
        let class = code.trim_start_matches("service.").to_owned();
        *self.transfer.meters.borrow_mut().faults.entry(class).or_default() += 1;
    }
}

async fn remove_part<S: Session>(session: &S, path: &ServicePath) -> Result<(), CopyError> {
    match session.remove(path).await {
        Err(fault) if fault.class != Class::Missing => Err(fault.into()),
        _ => Ok(()),
    }
}

/// A refusal after a fault of the connection follows from it, e.g. because the server still has the file open: the
/// first fault is the cause.
fn given_up(first: Option<Fault>, last: Fault, retries: u64) -> Failure {
    let (cause, then) = match first {
        Some(first) if !last.class.is_passing() => (first, format!("; the last: {}", last.message)),
        _ => (last, String::new()),
    };
    let mut failure = failure_of(cause);
    if retries > 0 {
        let attempts = retries + 1;
        failure.message = format!("{} (given up after {attempts} attempts{then})", failure.message);
    }
    failure
}

fn no_session() -> Failure {
    Failure::new("engine.defect", "a copy has lost its connection by a defect of the engine")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_retry_after_a_cut_connection_names_the_cut_first() {
        let cut = || Fault::new(Class::Reset, "write a: the server ended the session");
        let locked = Fault::new(Class::Denied, "DELETE a: 423 Locked");
        let failure = given_up(Some(cut()), locked, 1);
        assert_eq!(failure.code, failure_of(cut()).code);
        assert_eq!(
            failure.message,
            "write a: the server ended the session (given up after 2 attempts; the last: DELETE a: 423 Locked)"
        );
    }
}
