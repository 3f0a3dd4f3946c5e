//! The stations of a trial on a virtual clock: connected, started together, finished.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::{
    Connector, Context, Job, KeptReadings, Readings, Slices, Station, ThreadTotals, Times, Watch,
    Worked, joined, may_be_thinned, room,
};
use crate::messages::{CpuTime, Failure, Stationed, StationsSpec};
use crate::virtual_time::VirtualTime;
use lanlab_units::Clock;

/// Run a trial; `start_ns` is the time from the last connection to the start, `totals` the progress visible to
/// others.
pub async fn simulate<C: Connector>(
    time: VirtualTime,
    spec: StationsSpec,
    connector: C,
    totals: Arc<ThreadTotals>,
    start_ns: u64,
) -> Result<(Stationed, Vec<KeptReadings>), Failure> {
    let job = Arc::new(Job::new(&spec));
    let slices = may_be_thinned(&spec)
        .then(|| Slices::new(spec.own.first, 1, spec.own.count as usize, spec.until.time_ns));
    let readings = Readings::new(room(&spec) as usize, slices);
    let context =
        Context::new(Arc::clone(&job), connector, time.clone(), readings, Arc::clone(&totals));
    let context = Rc::new(context);
    let began = time.now();
    let stations = connect_all(&time, &context).await?;
    let connected = time.now();
    let start = connected.plus_nanos(start_ns);
    context.start.set(start);
    time.sleep_until(start).await;
    let left = Rc::new(Cell::new(stations.len()));
    let working: Vec<_> = stations
        .into_iter()
        .map(|mut station| {
            let (context, left) = (Rc::clone(&context), Rc::clone(&left));
            time.spawn(async move {
                station.work(&context).await;
                left.set(left.get() - 1);
                station
            })
        })
        .collect();
    let watching = time.spawn(watch(time.clone(), Arc::clone(&job), totals, left));
    let mut finished = Vec::with_capacity(working.len());
    for station in working {
        finished.push(station.await);
    }
    let elapsed_ns = time.now().nanos_since(start);
    watching.await;
    for station in finished {
        station.finish(&context).await;
    }
    let context = Rc::try_unwrap(context)
        .map_err(|_| Failure::new("engine.defect", "a station outlived its trial"))?;
    let worked = Worked {
        readings: context.readings.into_inner().into_kept(),
        counts: context.counts.into_inner(),
        cpu: CpuTime::default(),
    };
    let setup_ns = connected.nanos_since(began);
    let times = Times { setup_ns, elapsed_ns, host: None, is_cpu_known: false };
    Ok(joined(&job, vec![worked], times))
}

async fn connect_all<C: Connector>(
    time: &VirtualTime,
    context: &Rc<Context<C, VirtualTime>>,
) -> Result<Vec<Station<C>>, Failure> {
    let spec = &context.job.spec;
    let own = spec.own;
    let next = Rc::new(Cell::new(own.first));
    let connecting: Vec<_> = (0..u32::from(spec.connects_at_once).min(own.count))
        .map(|_| {
            let (context, next) = (Rc::clone(context), Rc::clone(&next));
            time.spawn(async move {
                let mut stations = Vec::new();
                while next.get() < own.first + own.count {
                    let number = next.replace(next.get() + 1);
                    stations.push(Station::connected(number, &context).await?);
                }
                Ok::<_, Failure>(stations)
            })
        })
        .collect();
    let mut stations = Vec::with_capacity(own.count as usize);
    for several in connecting {
        stations.extend(several.await?);
    }
    stations.sort_by_key(Station::number);
    Ok(stations)
}

async fn watch(time: VirtualTime, job: Arc<Job>, totals: Arc<ThreadTotals>, left: Rc<Cell<usize>>) {
    let mut watch = Watch::new(&job);
    while left.get() > 0 {
        time.sleep_ns(Watch::LOOK_NS).await;
        watch.look(&job, [&*totals]);
    }
}
