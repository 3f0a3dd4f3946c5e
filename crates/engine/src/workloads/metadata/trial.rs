//! The clients of a trial, each on its own thread. All receive an order at the same time.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use lanlab_clients::exchanges::{self, Exchanges};
use lanlab_clients::{AnySession, CarriedSince};
use lanlab_files::{Facts, Session};
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
use crate::workloads::copy::{CONNECT_AT_ONCE, RuntimeClock, counted, runtime, thread_is_gone};

/// Connection attempts: a server may refuse some of many simultaneous ones.
const CONNECT_ATTEMPTS: u32 = 7;
/// Lead time for all threads to learn of the next start.
const LEAD_NS: u64 = 1_000_000;

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

#[derive(Debug, Clone, Copy)]
enum Order {
    Perform { operation: Operation, is_renamed: bool, start: Instant },
    Verify(Stage),
}

enum Report {
    Connected { connect_ns: u64, facts: Facts },
    Performed(Box<(Done, CpuTime, Exchanges)>),
    Verified(u64),
}

type Reports = Sender<Result<Report, Failure>>;

impl Trial<'_> {
    fn run(&self) -> Result<MetadataMeasured, Failure> {
        thread::scope(|scope| {
            let (report, reported) = mpsc::channel();
            let mut orders = Vec::new();
            for client in 0..self.spec.clients {
                let (order, given) = mpsc::channel();
                let report = report.clone();
                thread::Builder::new()
                    .spawn_scoped(scope, move || self.work(client, &report, &given))
                    .map_err(|error| Failure::system("a thread for a client", &error))
                    // Existing clients end because they get no order.
                    .inspect_err(|_| self.guard.stop())?;
                orders.push(order);
            }
            drop(report);
            let clients = Clients { orders, reported };
            self.lead(&clients).inspect_err(|_| self.guard.stop())
        })
    }

    fn lead(&self, clients: &Clients) -> Result<MetadataMeasured, Failure> {
        let (mut connect_ns, mut facts) = (Vec::new(), None);
        for reported in clients.answers()? {
            if let Report::Connected { connect_ns: each_ns, facts: each } = reported {
                connect_ns.push(each_ns);
                facts.get_or_insert(each);
            }
        }
        let facts = facts.ok_or_else(|| Failure::new("engine.defect", "no client connected"))?;
        self.running.ready(Vec::new(), None);
        let start = self.running.wait_for_start(|| Ok(()))?;
        let (done, host) = self.running.with_progress(start, start, || {
            let mut totals = Totals::default();
            totals.all(clients, start).map(|()| totals)
        });
        let totals = done?;
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

    fn work(&self, client: u16, report: &Reports, orders: &Receiver<Order>) {
        os::prepare_thread();
        let reported = self.carry_out_orders(client, report, orders);
        if let Err(failure) = reported {
            self.guard.stop();
            let _ = report.send(Err(failure));
        }
    }

    fn carry_out_orders(
        &self,
        client: u16,
        report: &Reports,
        orders: &Receiver<Order>,
    ) -> Result<(), Failure> {
        let tree = Tree::new(self.spec, client).map_err(bad_name)?;
        let runtime = runtime()?;
        // The semaphore is never closed.
        let turn = || self.connecting.acquire();
        let connect = || lanlab_clients::connect_unless_refused(&self.spec.service);
        let connecting = connect_patiently(&self.guard, CONNECT_ATTEMPTS, turn, connect);
        let (session, connect_ns) =
            runtime.block_on(connecting).map_err(CopyError::into_failure)?;
        let _ = report.send(Ok(Report::Connected { connect_ns, facts: session.facts() }));
        while let Ok(order) = orders.recv() {
            let _ = report.send(Ok(self.obey(order, &runtime, &session, &tree)?));
        }
        // All names have been compared: a failed logout does not affect them.
        let ending = self.guard.unless_stopped(async { Ok(session.end().await?) });
        let _ = runtime.block_on(ending);
        Ok(())
    }

    fn obey(
        &self,
        order: Order,
        runtime: &Runtime,
        session: &AnySession,
        tree: &Tree,
    ) -> Result<Report, Failure> {
        let guard = &self.guard;
        match order {
            Order::Perform { operation, is_renamed, start } => {
                self.running.wait_to_begin(start).ok_or_else(Failure::cancelled)?;
                let (before, connecting) = (os::thread_usage(), exchanges::take());
                let work = perform(session, tree, (operation, is_renamed), guard);
                let done = runtime.block_on(guard.unless_stopped(work));
                let cpu = os::thread_usage().since(before);
                let answered = exchanges::take().or_response_of(connecting);
                let done = done.map_err(CopyError::into_failure)?;
                Ok(Report::Performed(Box::new((done, cpu, answered))))
            }
            Order::Verify(stage) => {
                let work = guard.unless_stopped(verify(session, tree, stage, guard));
                runtime.block_on(work).map(Report::Verified).map_err(CopyError::into_failure)
            }
        }
    }
}

struct Clients {
    orders: Vec<Sender<Order>>,
    reported: Receiver<Result<Report, Failure>>,
}

impl Clients {
    fn all(&self, order: Order) -> Result<Vec<Report>, Failure> {
        for client in &self.orders {
            // A failed client no longer listens.
            let _ = client.send(order);
        }
        self.answers()
    }

    /// A reply of each client, or the first failure that is not merely a consequence of stopping.
    fn answers(&self) -> Result<Vec<Report>, Failure> {
        let (mut answers, mut failure) = (Vec::new(), None::<Failure>);
        for _ in &self.orders {
            match self.reported.recv().map_err(|_| thread_is_gone())? {
                Ok(reported) => answers.push(reported),
                Err(found) if failure.as_ref().is_none_or(|known| known.code == "cancelled") => {
                    failure = Some(found);
                }
                Err(_) => {}
            }
        }
        failure.map_or(Ok(answers), Err)
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
    fn all(&mut self, clients: &Clients, mut start: Instant) -> Result<(), Failure> {
        let mut is_renamed = false;
        for operation in OPERATIONS {
            let answers = clients.all(Order::Perform { operation, is_renamed, start })?;
            let is_measured = self.add(operation, answers);
            is_renamed |= is_measured && operation == Operation::Rename;
            if let Some(stage) = operation.leaves(is_renamed) {
                for reported in clients.all(Order::Verify(stage))? {
                    if let Report::Verified(names) = reported {
                        self.verified_names += names;
                    }
                }
            }
            start = os::monotonic().plus_nanos(LEAD_NS);
        }
        Ok(())
    }

    /// Add up all clients' results of one phase; returns whether the service has the operation.
    fn add(&mut self, operation: Operation, answers: Vec<Report>) -> bool {
        let (mut began, mut ended) = (Vec::new(), Vec::new());
        let (mut times, mut exchanged) = (DistributionMeter::default(), Exchanges::default());
        for reported in answers {
            let Report::Performed(report) = reported else { continue };
            let (done, cpu, answered) = *report;
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
