//! The worker threads of stations: connected, started together, and logged out after all have finished measuring.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_workloads::stations::{
    Connector, Context as StationContext, Job, Readings, Slices, Station, ThreadTotals, Worked,
    may_be_thinned,
};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};

use super::clock::ThreadClock;
use super::timers::Timers;
use crate::messages::{CpuTime, Failure};
use crate::waiting::Waiter;
use crate::workloads::copy::runtime;
use crate::workloads::worker_threads::thread_is_gone;

const TICK: Duration = Duration::from_millis(20);
const LEAVING: usize = 64;

pub struct Worker {
    pub stations: Vec<u32>,
    pub connects: usize,
    pub room: usize,
    pub step: u32,
    pub is_crowded: bool,
    pub job: Arc<Job>,
    pub totals: Arc<ThreadTotals>,
    pub connected: Sender<Result<(), Failure>>,
    pub starts: Receiver<Instant>,
    pub over: Sender<()>,
    pub leave: Receiver<()>,
}

impl Worker {
    pub fn work_alone<C: Connector>(self, connector: C) -> Result<Worked, Failure> {
        os::prepare_thread();
        let clock = ThreadClock::Alone(Waiter::new().into());
        let context = self.context(connector, clock);
        let mut stations = Vec::new();
        for number in &self.stations {
            let connected = at_once(Station::connected(*number, &context));
            stations.push(connected.inspect_err(|failure| {
                let _ = self.connected.send(Err(failure.clone()));
            })?);
        }
        let _ = self.connected.send(Ok(()));
        let start = self.begun(&context)?;
        if self.is_crowded {
            // Spinning would only delay the start of others.
            os::sleep_until(start);
        } else {
            Waiter::new().wait_until(start);
        }
        let before = os::thread_usage();
        for station in &mut stations {
            at_once(station.work(&context));
        }
        let cpu = os::thread_usage().since(before);
        let _ = self.over.send(());
        if self.leave.recv().is_ok() {
            for station in stations {
                at_once(station.finish(&context));
            }
        }
        Ok(came_to(context, cpu))
    }

    pub fn work_together<C: Connector>(self, connector: C) -> Result<Worked, Failure> {
        os::prepare_thread();
        let runtime = runtime()?;
        let guard = runtime.enter();
        let timers = Timers::new().map_err(|error| Failure::system("an alarm", &error))?;
        drop(guard);
        let context = Rc::new(self.context(connector, ThreadClock::Shared(Rc::clone(&timers))));
        let local = LocalSet::new();
        let bell = local.spawn_local(Rc::clone(&timers).run());
        let connecting = self.connect_all(&context);
        let connected = runtime.block_on(local.run_until(connecting)).inspect_err(|failure| {
            let _ = self.connected.send(Err(failure.clone()));
        });
        let stations = connected?;
        let _ = self.connected.send(Ok(()));
        let start = self.begun(&context)?;
        let mut working = JoinSet::new();
        for mut station in stations {
            let context = Rc::clone(&context);
            let work = async move {
                station.work(&context).await;
                station
            };
            working.spawn_local_on(work, &local);
        }
        Waiter::new().wait_until(start);
        let before = os::thread_usage();
        let working = self.unless_dropped(working, &timers);
        let worked = runtime.block_on(local.run_until(working));
        let cpu = os::thread_usage().since(before);
        let _ = self.over.send(());
        let stations = worked?;
        if self.leave.recv().is_ok() {
            runtime.block_on(local.run_until(leave_all(stations, &context)));
        } else {
            drop(stations);
        }
        bell.abort();
        // Operations in progress also hold the context.
        drop(local);
        drop(runtime);
        let context = Rc::try_unwrap(context)
            .map_err(|_| Failure::new("engine.defect", "a station outlived its thread's work"))?;
        Ok(came_to(context, cpu))
    }

    fn context<C: Connector>(
        &self,
        connector: C,
        clock: ThreadClock,
    ) -> StationContext<C, ThreadClock> {
        let totals = Arc::clone(&self.totals);
        let spec = &self.job.spec;
        let slices = may_be_thinned(spec).then(|| {
            let first = self.stations.first().copied().unwrap_or(0);
            Slices::new(first, self.step, self.stations.len(), spec.until.time_ns)
        });
        let readings = Readings::new(self.room, slices);
        StationContext::new(Arc::clone(&self.job), connector, clock, readings, totals)
    }

    fn begun<C: Connector>(
        &self,
        context: &StationContext<C, ThreadClock>,
    ) -> Result<Instant, Failure> {
        let start = self.starts.recv().map_err(|_| Failure::cancelled())?;
        context.start.set(start);
        Ok(start)
    }

    async fn connect_all<C: Connector>(
        &self,
        context: &Rc<StationContext<C, ThreadClock>>,
    ) -> Result<Vec<Station<C>>, Failure> {
        let turns = Rc::new(Semaphore::new(self.connects));
        let mut connecting = JoinSet::new();
        for number in self.stations.iter().copied() {
            let (context, turns) = (Rc::clone(context), Rc::clone(&turns));
            connecting.spawn_local(async move {
                let _turn = turns.acquire().await;
                Station::connected(number, &context).await
            });
        }
        let mut stations = Vec::with_capacity(self.stations.len());
        while !connecting.is_empty() {
            let next = tokio::time::timeout(TICK, connecting.join_next()).await;
            if self.job.stopped().is_some() {
                return Err(Failure::cancelled());
            }
            match next {
                Err(_) | Ok(None) => {}
                Ok(Some(Ok(station))) => stations.push(station?),
                Ok(Some(Err(_))) => return Err(thread_is_gone()),
            }
        }
        Ok(stations)
    }

    /// The stations that have ended: all of them, unless operations in progress are dropped.
    async fn unless_dropped<C: Connector>(
        &self,
        mut working: JoinSet<Station<C>>,
        timers: &Timers,
    ) -> Result<Vec<Station<C>>, Failure> {
        let mut stations = Vec::with_capacity(self.stations.len());
        while !working.is_empty() {
            match tokio::time::timeout(TICK, working.join_next()).await {
                Ok(Some(Ok(station))) => stations.push(station),
                Ok(Some(Err(_))) => return Err(thread_is_gone()),
                Err(_) if self.job.stopped().is_some() => {
                    timers.wake_all();
                    if self.job.is_dropped.load(std::sync::atomic::Ordering::Relaxed) {
                        break;
                    }
                }
                Ok(None) | Err(_) => {}
            }
        }
        working.shutdown().await;
        Ok(stations)
    }
}

async fn leave_all<C: Connector>(
    stations: Vec<Station<C>>,
    context: &Rc<StationContext<C, ThreadClock>>,
) {
    let turns = Rc::new(Semaphore::new(LEAVING));
    let mut leaving = JoinSet::new();
    for station in stations {
        let (context, turns) = (Rc::clone(context), Rc::clone(&turns));
        leaving.spawn_local(async move {
            let _turn = turns.acquire().await;
            station.finish(&context).await;
        });
    }
    while leaving.join_next().await.is_some() {}
}

fn came_to<C>(context: StationContext<C, ThreadClock>, cpu: CpuTime) -> Worked {
    Worked {
        readings: context.readings.into_inner().into_kept(),
        counts: context.counts.into_inner(),
        cpu,
    }
}

/// Run to completion work that never waits, except in system calls.
fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
        std::thread::yield_now();
    }
}
