//! A copy on a virtual clock: workers connected, started together, and their result.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicUsize;

use super::{
    CopyEndpoints, Copying, Hashes, Meters, Totals, Transfer, Worked, Worker, add_up, connect,
    lanes,
};
use crate::Progress;
use crate::guard::Guard;
use crate::messages::{CopySpec, CpuTime, Failure, LeftOut};
use crate::virtual_time::VirtualTime;
use lanlab_units::{Clock, Instant};

/// Outcome of a copy, with its progress and endpoints.
pub struct Simulated<S> {
    pub totals: Totals,
    pub start: Instant,
    pub endpoints: S,
}

/// Copy all files, counted in `progress`; `start_ns` is the time from the last connection to the start.
pub async fn simulate<S: CopyEndpoints>(
    time: VirtualTime,
    spec: CopySpec,
    endpoints: S,
    progress: Rc<Progress>,
    start_ns: u64,
) -> Result<Simulated<S>, Failure> {
    let guard = Guard::bounded(time.clone(), &progress, &spec);
    let next = AtomicUsize::new(0);
    let mut connected = Vec::new();
    for _ in 0..spec.parallel_files {
        connected.push(connect(&endpoints, &spec, &guard).await?);
    }
    let start = time.now().plus_nanos(start_ns);
    time.sleep_until(start).await;
    endpoints.begin();
    let done = RefCell::new(Vec::new());
    let work = async |(session, capabilities, connect_ns): (S::Session, _, u64)| {
        let facts = lanlab_files::Session::facts(&session);
        let transfer = Transfer::new(capabilities, spec.sync, &guard);
        let worker =
            Worker { spec: &spec, endpoints: &endpoints, next: &next, guard: &guard, transfer };
        let mut hashes = Hashes::new();
        let failure = worker.copy_all(session, &mut hashes).await.err();
        if failure.is_some() {
            guard.stop();
        }
        let meters = worker.transfer.meters.replace(Meters::default());
        let cpu = CpuTime::default();
        done.borrow_mut().push(Worked {
            meters,
            hashes,
            capabilities,
            facts,
            connect_ns,
            cpu,
            failure,
        });
        Ok::<(), Failure>(())
    };
    lanes::all(connected.into_iter().map(work).collect()).await?;
    let (files, bytes) = endpoints.files();
    let copying = Copying { start, files, bytes, host: None, left_out: LeftOut::default() };
    let totals = add_up(copying, done.take());
    Ok(Simulated { totals, start, endpoints })
}
