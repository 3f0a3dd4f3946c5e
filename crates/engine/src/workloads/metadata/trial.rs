//! The steps of a trial: all clients do one kind of operation at the same time.

use lanlab_clients::exchanges::{self, Exchanges};
use lanlab_clients::{AnySession, CarriedSince};
use lanlab_files::Session;
use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_workloads::Guard;
use lanlab_workloads::copy::{CopyError, connect_patiently};
use lanlab_workloads::measure::DistributionMeter;
use lanlab_workloads::metadata::{Done, OPERATIONS, Operation, Stage, Tree, perform, verify};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::{bad_name, bounded};
use crate::messages::{
    CpuTime, Failure, MetadataMeasured, MetadataPhase, MetadataSpec, NotMeasured, Outcome,
};
use crate::running::{Measured, Running};
use crate::workloads::copy::{CONNECT_AT_ONCE, RuntimeClock, counted, runtime};
use crate::workloads::worker_threads;

/// Connection attempts: a server may refuse some of many simultaneous ones.
const CONNECT_ATTEMPTS: u32 = 7;
/// Lead time for all threads to begin before the next start.
const LEAD_NS: u64 = 5_000_000;

pub fn measure(spec: &MetadataSpec, running: &Running) -> Measured {
    let trial = Trial {
        spec,
        guard: bounded(spec, running),
        running,
        connecting: Semaphore::new(CONNECT_AT_ONCE),
    };
    let frames = CarriedSince::begin(&spec.service);
    let mut measured = trial.run()?;
    measured.carrier = frames.counts();
    Ok(Outcome::MetadataMeasured(Box::new(measured)))
}

struct Trial<'a> {
    spec: &'a MetadataSpec,
    guard: Guard<'a, RuntimeClock>,
    running: &'a Running,
    connecting: Semaphore,
}

struct Client {
    tree: Tree,
    session: AnySession,
    runtime: Runtime,
    connect_ns: u64,
    /// Exchanges before the next operations.
    exchanged: Exchanges,
}

type Performed = (Done, CpuTime, Exchanges);

impl Trial<'_> {
    fn run(&self) -> Result<MetadataMeasured, Failure> {
        let numbers = 0..self.spec.clients;
        let mut clients = worker_threads::all(numbers, &self.guard, |number| self.connect(number))?;
        let facts = clients[0].session.facts();
        self.running.ready(Vec::new(), None);
        let start = self.running.wait_for_start(|| Ok(()))?;
        let (totals, host) =
            self.running.with_progress(start, start, || self.measure(&mut clients, start));
        let totals = totals?;
        let connect_ns = clients.iter().map(|client| client.connect_ns).collect();
        worker_threads::all(clients, &self.guard, |client| {
            // All names have been compared: a failed logout does not affect them.
            let ending = self.guard.unless_stopped(async { Ok(client.session.end().await?) });
            let _ = client.runtime.block_on(ending);
            Ok(())
        })?;
        Ok(MetadataMeasured {
            elapsed_ns: totals.phases.iter().map(|phase| phase.elapsed_ns).sum(),
            start_skew_ns: totals.first.unwrap_or(start).signed_nanos_from(start),
            phases: totals.phases,
            not_measured: totals.not_measured,
            connect_ns,
            facts,
            carrier: None,
            cpu: totals.cpu,
            host,
            verified_names: totals.verified_names,
        })
    }

    fn connect(&self, number: u16) -> Result<Client, Failure> {
        let tree = Tree::new(self.spec, number).map_err(bad_name)?;
        let runtime = runtime()?;
        // The semaphore is never closed.
        let turn = || self.connecting.acquire();
        let connect = || lanlab_clients::connect_unless_refused(&self.spec.service);
        let connecting = connect_patiently(&self.guard, CONNECT_ATTEMPTS, turn, connect);
        let connected = runtime.block_on(connecting).map_err(CopyError::into_failure);
        let (session, connect_ns) = connected?;
        Ok(Client { tree, session, runtime, connect_ns, exchanged: exchanges::take() })
    }

    fn measure(&self, clients: &mut [Client], mut start: Instant) -> Result<Totals, Failure> {
        let (mut totals, mut is_renamed) = (Totals::default(), false);
        for operation in OPERATIONS {
            let performed = worker_threads::all(clients.iter_mut(), &self.guard, |client| {
                self.perform(client, (operation, is_renamed), start)
            })?;
            let is_measured = totals.add(operation, performed);
            is_renamed |= is_measured && operation == Operation::Rename;
            if let Some(stage) = operation.leaves(is_renamed) {
                let verify = |client| self.verify(client, stage);
                let verified = worker_threads::all(clients.iter_mut(), &self.guard, verify)?;
                totals.verified_names += verified.into_iter().sum::<u64>();
            }
            start = os::monotonic().plus_nanos(LEAD_NS);
        }
        Ok(totals)
    }

    fn perform(
        &self,
        client: &mut Client,
        operation: (Operation, bool),
        start: Instant,
    ) -> Result<Performed, Failure> {
        self.running.wait_to_begin(start).ok_or_else(Failure::cancelled)?;
        let before = os::thread_usage();
        let work = perform(&client.session, &client.tree, operation, &self.guard);
        let done = client.runtime.block_on(self.guard.unless_stopped(work));
        let cpu = os::thread_usage().since(before);
        let done = done.map_err(CopyError::into_failure)?;
        let earlier = std::mem::take(&mut client.exchanged);
        Ok((done, cpu, exchanges::take().or_response_of(earlier)))
    }

    fn verify(&self, client: &mut Client, stage: Stage) -> Result<u64, Failure> {
        let work = verify(&client.session, &client.tree, stage, &self.guard);
        let verified = client.runtime.block_on(self.guard.unless_stopped(work));
        client.exchanged = exchanges::take();
        verified.map_err(CopyError::into_failure)
    }
}

#[derive(Default)]
struct Totals {
    first: Option<Instant>,
    phases: Vec<MetadataPhase>,
    not_measured: Vec<NotMeasured>,
    cpu: CpuTime,
    verified_names: u64,
}

impl Totals {
    /// Add up all clients' results of one phase; returns whether the service has the operation.
    fn add(&mut self, operation: Operation, performed: Vec<Performed>) -> bool {
        let (mut began, mut ended) = (Vec::new(), Vec::new());
        let (mut times, mut exchanged) = (DistributionMeter::default(), Exchanges::default());
        for (done, cpu, answered) in performed {
            if let Some(reason) = done.not_measured {
                let operation = operation.name().to_owned();
                self.not_measured.push(NotMeasured { operation, reason });
                self.not_measured.dedup_by(|a, b| a.operation == b.operation);
                return false;
            }
            times.add(&done.times);
            exchanged.add(&answered);
            self.cpu = self.cpu.plus(cpu);
            began.push(done.began);
            ended.push(done.ended);
        }
        let Some((began, ended)) = began.into_iter().min().zip(ended.into_iter().max()) else {
            return false;
        };
        self.first.get_or_insert(began);
        self.phases.push(MetadataPhase {
            operation: operation.name().to_owned(),
            operations: times.samples(),
            elapsed_ns: ended.nanos_since(began),
            time: times.finish(),
            exchanges: counted(&exchanged),
        });
        true
    }
}
