//! Control of a trial: threads are started together, watched and joined.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lanlab_clients::{AnySession, CarriedSince, connect_unless_refused};
use lanlab_files::{Credentials, Target};
use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_workloads::stations::{
    Connector, Job, KeptReadings, ThreadTotals, Times, Watch, Worked, joined,
};

use super::workers::Worker;
use super::{is_alone, limits, readings, room, slices, threads};
use crate::messages::{
    Failure, HostWindow, Outcome, Reply, StationReadings, StationSlices, Stationed, StationsEnd,
    StationsSpec,
};
use crate::running::{Measured, Running, conclude};
use crate::workloads::worker_threads::thread_is_gone;

const LOOK: Duration = Duration::from_nanos(Watch::LOOK_NS);
const STATION: &str = "{station}";
/// Stack of a single-station thread: there are up to a thousand.
const STACK_BYTES: usize = 1 << 20;

#[derive(Debug, Clone)]
pub struct ServiceConnector {
    target: Arc<Target>,
}

impl Connector for ServiceConnector {
    type Session = AnySession;

    async fn connect(&self, station: u32) -> lanlab_files::Result<AnySession> {
        connect_unless_refused(&of_station(&self.target, station)).await
    }
}

pub fn of_station(target: &Target, station: u32) -> Cow<'_, Target> {
    match &target.credentials {
        Some(credentials) if credentials.user.contains(STATION) => {
            let mut own = target.clone();
            let user = credentials.user.replace(STATION, &station.to_string());
            own.credentials = Some(Credentials { user, ..credentials.clone() });
            Cow::Owned(own)
        }
        _ => Cow::Borrowed(target),
    }
}

pub fn work(spec: &StationsSpec, running: &Running) -> Measured {
    limits::check(&spec.service, spec.own.count)?;
    let connector = ServiceConnector { target: Arc::new(spec.service.clone()) };
    work_with(spec, running, &connector)
}

pub fn work_with<C: Connector + Clone + Send>(
    spec: &StationsSpec,
    running: &Running,
    connector: &C,
) -> Measured {
    let job = Arc::new(Job::new(spec));
    let frames = CarriedSince::begin(&spec.service);
    let timed = run(&job, running, connector)?;
    let (mut stationed, kept) = joined(&job, timed.0, timed.1);
    stationed.carrier = frames.counts();
    tell(&stationed, kept, running);
    let failure = failure(&stationed);
    conclude(Outcome::Stationed(Box::new(stationed)), failure)
}

pub fn tell(stationed: &Stationed, kept: Vec<KeptReadings>, running: &Running) {
    for of_thread in kept {
        for (count, octets) in readings::lines(&of_thread.all) {
            let octets = BASE64_STANDARD.encode(octets);
            let readings = |id| StationReadings { id, readings: count, octets };
            running.tell(|id| Reply::StationReadings(readings(id)));
        }
        if let Some(slices) = of_thread.slices.filter(|_| stationed.thinned.is_some()) {
            for (cells, octets) in lines_of_cells(&slices.octets()) {
                let octets = BASE64_STANDARD.encode(octets);
                let slices = |id| StationSlices { id, slices: cells, octets };
                running.tell(|id| Reply::StationSlices(slices(id)));
            }
        }
    }
}

pub fn failure(stationed: &Stationed) -> Option<Failure> {
    match stationed.ended_by {
        StationsEnd::Cancelled => Some(Failure::cancelled()),
        StationsEnd::NoStation => Some(none_left(&stationed.ended)),
        _ => None,
    }
}

fn lines_of_cells(octets: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let lines = octets.chunks(slices::CELL_BYTES * slices::CELLS_A_LINE);
    lines.map(|line| ((line.len() / slices::CELL_BYTES) as u32, line))
}

fn none_left(ended: &[crate::messages::StationEnded]) -> Failure {
    let why = ended.first().map_or("", |first| first.message.as_str());
    let message = format!("all stations ended before their time, the first as: {why}");
    Failure::new("stations.none_left", message)
        .hint("check that the server still runs; results so far are saved")
}

fn run<C: Connector + Clone + Send>(
    job: &Arc<Job>,
    running: &Running,
    connector: &C,
) -> Result<(Vec<Worked>, Times), Failure> {
    let began = os::monotonic();
    let shares = shares(&job.spec);
    let alone = is_alone(&job.spec);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (connected, results) = mpsc::channel();
        let (over, overs) = mpsc::channel();
        let count = shares.len();
        let (mut starts, mut leaves, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        let mut workers = Vec::with_capacity(count);
        for (stations, room) in shares {
            let (start, begins) = mpsc::channel();
            let (leave, leaving) = mpsc::channel();
            let own_totals = Arc::new(ThreadTotals::default());
            let worker = Worker {
                stations,
                connects: connects_each(job.spec.connects_at_once, count),
                room,
                step: count as u32,
                is_crowded: is_crowded(count, processors),
                job: Arc::clone(job),
                totals: Arc::clone(&own_totals),
                connected: connected.clone(),
                starts: begins,
                over: over.clone(),
                leave: leaving,
            };
            let connector = connector.clone();
            let work = move || {
                if alone { worker.work_alone(connector) } else { worker.work_together(connector) }
            };
            let builder = thread::Builder::new();
            let builder = if alone { builder.stack_size(STACK_BYTES) } else { builder };
            let worker = builder
                .spawn_scoped(scope, work)
                .map_err(|error| Failure::system("a thread for stations", &error))
                // Existing threads end because they get no start.
                .inspect_err(|_| job.stop(StationsEnd::Cancelled))?;
            starts.push(start);
            leaves.push(leave);
            totals.push(own_totals);
            workers.push(worker);
        }
        drop((connected, over));
        let start = all_connected(job, running, &results, count)
            .inspect_err(|_| job.stop(StationsEnd::Cancelled))?;
        let setup_ns = start.1;
        let start = start.0;
        let (elapsed_ns, host): (u64, Option<HostWindow>) =
            running.with_progress(start, start, || {
                for begin in &starts {
                    // A failed thread no longer listens.
                    let _ = begin.send(start);
                }
                look_on(job, running, &totals, &overs, count);
                os::monotonic().nanos_since(start)
            });
        if job.stopped() == Some(StationsEnd::Cancelled) {
            drop(leaves);
        } else {
            for leave in &leaves {
                let _ = leave.send(());
            }
        }
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        let worked = joined
            .map(|joined| joined.unwrap_or_else(|_| Err(thread_is_gone())))
            .collect::<Result<Vec<_>, _>>()?;
        let setup_ns = setup_ns.saturating_sub(began.as_nanos());
        Ok((worked, Times { setup_ns, elapsed_ns, host, is_cpu_known: true }))
    })
}

/// Connections that each of `threads` threads may open at the same time.
fn connects_each(connects_at_once: u16, threads: usize) -> usize {
    (usize::from(connects_at_once) / threads).max(1)
}

fn is_crowded(threads: usize, processors: usize) -> bool {
    threads > processors
}

/// Wait until all threads are connected, then for the start; also returns when they were connected.
fn all_connected(
    job: &Job,
    running: &Running,
    results: &mpsc::Receiver<Result<(), Failure>>,
    count: usize,
) -> Result<(Instant, u64), Failure> {
    let mut left = count;
    while left > 0 {
        match results.recv_timeout(LOOK) {
            Ok(connected) => {
                connected?;
                left -= 1;
            }
            Err(RecvTimeoutError::Timeout) if running.is_cancelled() => {
                job.stop(StationsEnd::Cancelled);
                return Err(Failure::cancelled());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(thread_is_gone()),
        }
    }
    let connected_ns = os::monotonic().as_nanos();
    running.ready(Vec::new(), None);
    Ok((running.wait_for_start(|| Ok(()))?, connected_ns))
}

/// Watch until all threads are over: report progress, and apply the stopping rule.
fn look_on(
    job: &Job,
    running: &Running,
    totals: &[Arc<ThreadTotals>],
    overs: &mpsc::Receiver<()>,
    count: usize,
) {
    let mut watch = Watch::new(job);
    let mut left = count;
    while left > 0 {
        match overs.recv_timeout(LOOK) {
            Ok(()) => {
                left -= 1;
                continue;
            }
            // All remaining threads ended because of a defect, which joining reports.
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if running.is_cancelled() {
            job.stop(StationsEnd::Cancelled);
        }
        let [operations, bytes] = watch.look(job, totals.iter().map(|thread| &**thread));
        running.count(operations, bytes);
    }
}

fn shares(spec: &StationsSpec) -> Vec<(Vec<u32>, usize)> {
    let threads = threads(spec) as u32;
    let own = spec.own;
    (0..threads)
        .map(|thread| {
            let stations: Vec<u32> = (own.first..own.first + own.count)
                .skip(thread as usize)
                .step_by(threads as usize)
                .collect();
            let share = u64::from(room(spec)) * stations.len() as u64 / u64::from(own.count);
            (stations, share.max(1) as usize)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::example::spec;
    use super::*;
    use crate::messages::OwnStations;

    #[test]
    fn a_station_has_its_number_in_the_name_of_its_user() {
        let of = |user: &str| {
            let credentials = Credentials {
                passphrase: None,
                user: user.to_owned(),
                secret: "secret".to_owned(),
                domain: Some("LAB".to_owned()),
            };
            let target = Target { credentials: Some(credentials), ..spec().service };
            let found = of_station(&target, 17);
            let is_own = matches!(found, Cow::Owned(_));
            let found = found.into_owned().credentials.unwrap();
            assert_eq!((found.secret.as_str(), found.domain.as_deref()), ("secret", Some("LAB")));
            (found.user, is_own)
        };
        assert_eq!(of("user{station}"), ("user17".to_owned(), true));
        assert_eq!(of("user"), ("user".to_owned(), false));
        assert!(of_station(&spec().service, 17).credentials.is_none());
    }

    #[test]
    fn threads_share_the_limit_on_concurrent_connections() {
        let each = [(16, 1), (16, 3), (4, 2), (1, 8)]
            .map(|(at_once, threads)| connects_each(at_once, threads));
        assert_eq!(each, [16, 5, 2, 1]);
        let crowded = [1, 2, 3].map(|threads| is_crowded(threads, 2));
        assert_eq!(crowded, [false, false, true]);
    }

    #[test]
    fn stations_and_readings_are_divided_among_threads() {
        let of = |most_readings, own, threads| {
            let until = crate::messages::StationsUntil { time_ns: Some(1), ..Default::default() };
            let threads = Some(threads);
            shares(&StationsSpec { stations: 10, own, most_readings, until, threads, ..spec() })
        };
        let own = OwnStations { first: 3, count: 5 };
        assert_eq!(of(1001, own, 2), [(vec![3, 5, 7], 600), (vec![4, 6], 400)]);
        assert_eq!(of(1001, own, 1), [(vec![3, 4, 5, 6, 7], 1001)]);
        assert_eq!(of(2, own, 5).iter().map(|share| share.1).collect::<Vec<_>>(), [1; 5]);
    }

    #[test]
    fn result_lines_are_bounded() {
        let octets = vec![7; 48 * (2 * 13_000 + 5)];
        let lines = lines_of_cells(&octets).map(|(cells, line)| (cells, line.len()));
        assert_eq!(lines.collect::<Vec<_>>(), [(13_000, 624_000), (13_000, 624_000), (5, 240)]);
        assert_eq!(lines_of_cells(&[]).count(), 0);
    }
}
