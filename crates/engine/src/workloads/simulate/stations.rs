//! Stations in a simulated world, each on its own machine, with the file server on the last.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use lanlab_files::ServiceKind;
use lanlab_sim::file_service::Contents;
use lanlab_sim::programs::HostNode;
use lanlab_sim::{Host, HostId, World};
use lanlab_workloads::stations::pattern::{Pattern, Place};
use lanlab_workloads::stations::{self, Connector, KeptReadings, ThreadTotals, blocks, paths};
use lanlab_workloads::virtual_time::Task;

use super::outcomes;
use super::service::{Connects, FileMachines, Ftp, Ncp, START_NS, Smb1, check_service, room_bytes};
use crate::messages::{
    CpuTime, Failure, SimulatedMachine, SimulatedStations, Stationed, StationsSpec,
};
use crate::running::Running;
use crate::workloads::stations as real_stations;

type Outcome = Result<(Stationed, Vec<KeptReadings>), Failure>;

pub struct Stationing {
    task: Task<Outcome>,
    pub files: FileMachines,
    totals: Arc<ThreadTotals>,
    pub reported: Cell<(u64, u64)>,
    machines: u16,
}

struct MachineConnector<C> {
    clients: C,
    hosts: Vec<Host<HostNode>>,
    spec: StationsSpec,
    server: HostId,
}

impl<C: Connects> Connector for MachineConnector<C> {
    type Session = C::Session;

    async fn connect(&self, station: u32) -> lanlab_files::Result<C::Session> {
        let host = &self.hosts[station as usize];
        self.clients.connect(host, &self.spec.service, self.server).await
    }
}

/// Check a simulated trial; returns the host memory it needs, including files, bytes.
pub fn check(asked: &SimulatedStations, machines: usize) -> Result<u64, Failure> {
    let spec = &asked.spec;
    check_service(&spec.service, asked.profile.as_deref())?;
    let others = machines as u64 - 1;
    for (key, found) in
        [("work.spec.stations", spec.stations), ("work.spec.own.count", spec.own.count)]
    {
        if u64::from(found) != others {
            let allowed = format!("{others}, one for each machine but the server");
            return Err(Failure::value(key, found, allowed));
        }
    }
    let files = u64::from(spec.stations).saturating_mul(spec.file_size_bytes);
    Ok(real_stations::check(spec)?.memory_bytes.saturating_add(files))
}

pub fn start(
    world: &World<HostNode>,
    machines: &[SimulatedMachine],
    spec: &StationsSpec,
) -> Result<Stationing, Failure> {
    let server = machines.len() as u16 - 1;
    let service = spec.service.service;
    let contents = written(spec, room_bytes(machines))?;
    let files = FileMachines::serve(world, machines, &spec.service, contents);
    let hosts: Vec<_> = (0..server).map(|id| world.host(id)).collect();
    let totals = Arc::new(ThreadTotals::default());
    let task = match service {
        ServiceKind::Ftp => work(Ftp, hosts, spec, Arc::clone(&totals)),
        ServiceKind::Ncp => work(Ncp, hosts, spec, Arc::clone(&totals)),
        _ => work(Smb1, hosts, spec, Arc::clone(&totals)),
    };
    Ok(Stationing { task, files, totals, reported: Cell::new((0, 0)), machines: server })
}

fn work(
    clients: impl Connects,
    hosts: Vec<Host<HostNode>>,
    spec: &StationsSpec,
    totals: Arc<ThreadTotals>,
) -> Task<Outcome> {
    let (first, server) = (hosts[0].clone(), hosts.len() as HostId);
    let connector = MachineConnector { clients, hosts, spec: spec.clone(), server };
    let time = first.clock().clone();
    first.spawn("stations", stations::simulate(time, spec.clone(), connector, totals, START_NS))
}

fn written(spec: &StationsSpec, room: u64) -> Result<Contents, Failure> {
    let mut contents = Contents::new(room, Rc::new(|_: &[String]| None));
    let pattern = Pattern::new(spec.seed);
    let message = spec.message_size_bytes as usize;
    let whole_files = spec.service.service == ServiceKind::Ftp;
    let count = blocks(spec, whole_files);
    let mut bytes = vec![0; if whole_files { message } else { count as usize * message }];
    for station in 0..spec.stations {
        for (number, path) in (0..).zip(paths(spec, station, whole_files, count)?) {
            for (block, part) in (number..).zip(bytes.chunks_exact_mut(message)) {
                pattern.fill(Place { station, block, generation: 0 }, part);
            }
            let names: Vec<String> = path.names().map(str::to_owned).collect();
            contents.put_bytes(&names, &bytes).map_err(|_| {
                let total = spec.stations as usize * count as usize * message;
                let message = format!("files of {total} bytes on a disk of {room} bytes");
                Failure::new("request.value", message)
                    .hint("use smaller files (`--file-size`) or fewer stations")
            })?;
        }
    }
    Ok(contents)
}

impl Stationing {
    pub fn counted(&self) -> (u64, u64) {
        let [operations, bytes, _] = self.totals.load();
        (operations, bytes)
    }

    /// The result; readings were reported earlier.
    pub fn take(&self, running: &Running, world: &World<HostNode>) -> Result<Stationed, Failure> {
        let defect = || Failure::new("engine.defect", "a program ended without a result");
        let (mut stationed, kept) = self.task.take().ok_or_else(defect)??;
        real_stations::tell(&stationed, kept, running);
        if let Some(failure) = real_stations::failure(&stationed) {
            return Err(failure);
        }
        let cpu = (0..self.machines).map(|id| outcomes::cpu(&world.host(id)));
        stationed.cpu = cpu.fold(CpuTime::default(), CpuTime::plus);
        Ok(stationed)
    }
}

#[cfg(test)]
mod tests;
