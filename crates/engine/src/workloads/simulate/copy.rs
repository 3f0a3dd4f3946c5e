//! A copy in a simulated world: a file server with its files, and a client.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lanlab_files::{ServiceKind, ServicePath};
use lanlab_medium::PortCounts;
use lanlab_sim::file_service::{ClientDisk, Contents, Expected, WithDisk};
use lanlab_sim::programs::HostNode;
use lanlab_sim::{Host, HostId, World};
use lanlab_units::Instant;
use lanlab_workloads::Progress;
use lanlab_workloads::copy::{self, CopyEndpoints, Sink, Source, Totals};
use lanlab_workloads::dataset::{Content, content, file_name, sizes};
use lanlab_workloads::virtual_time::Task;

use super::service::{Connects, FileMachines, Ftp, Ncp, START_NS, Smb1, check_service, room_bytes};
use crate::messages::{
    Copied, CopiedFiles, CopySpec, CopySync, CopyVerify, CpuTime, DatasetSpec, Direction, Failure,
    FileTimes, Reply, SimulatedCopy, SimulatedMachine, SimulatedSent, Verified,
};
use crate::running::Running;
use crate::workloads::copy as real_copy;

type Outcome = Result<(Totals, Instant), Failure>;

type Sent = Rc<RefCell<Vec<SimulatedSent>>>;

pub struct Copying {
    task: Task<Outcome>,
    pub served: FileMachines,
    pub progress: Rc<Progress>,
    pub reported: Cell<(u64, u64)>,
    pub sent: Sent,
    spec: Box<CopySpec>,
    files: Rc<[(ServicePath, u64)]>,
}

struct SimulatedEndpoints<C> {
    clients: C,
    host: Host<HostNode>,
    spec: CopySpec,
    server: HostId,
    disk: Option<ClientDisk>,
    contents: DatasetSpec,
    files: Rc<[(ServicePath, u64)]>,
    before: RefCell<Vec<SimulatedSent>>,
    sent: Sent,
}

/// The dataset of a simulated copy, and its sizes.
pub fn check(asked: &SimulatedCopy) -> Result<(DatasetSpec, Vec<u64>), Failure> {
    let spec = &asked.spec;
    real_copy::check(spec)?;
    check_service(&spec.service, asked.profile.as_deref())?;
    let CopiedFiles::Dataset(dataset) = &spec.files else {
        return Err(Failure::value("work.spec.files", "a directory", "a dataset"));
    };
    Ok((dataset.clone(), sizes(dataset)?))
}

fn expected(dataset: &DatasetSpec, files: usize) -> Expected {
    let dataset = dataset.clone();
    Rc::new(move |path: &[String]| {
        let name = path.last()?.to_lowercase();
        let number = name.strip_prefix('f')?.strip_suffix(".dat")?.parse::<u64>().ok()?;
        ((number as usize) < files && name == file_name(number)).then(|| content(&dataset, number))
    })
}

pub fn start(
    world: &World<HostNode>,
    machines: &[SimulatedMachine],
    spec: &CopySpec,
    (dataset, sizes): (&DatasetSpec, &[u64]),
) -> Result<Copying, Failure> {
    let room = room_bytes(machines);
    let mut contents = Contents::new(room, expected(dataset, sizes.len()));
    let directory = [spec.working_name.clone(), "files".to_owned()];
    contents.put_directory(&directory);
    let named = |(number, bytes): (u64, &u64)| Ok((path(file_name(number))?, *bytes));
    let files: Rc<[_]> = (0..).zip(sizes).map(named).collect::<Result<_, Failure>>()?;
    let total = sizes.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
    let full = || {
        let message = format!("files of {total} bytes on a disk of {room} bytes");
        Failure::new("request.value", message).hint("use a smaller dataset")
    };
    if total > room {
        return Err(full());
    }
    if spec.direction == Direction::Download {
        for (name, bytes) in &*files {
            let place = [&directory[..], &[name.as_str().to_owned()]].concat();
            contents.put(&place, *bytes).map_err(|_| full())?;
        }
    }
    let service = spec.service.service;
    let served = FileMachines::serve(world, machines, &spec.service, contents);
    let progress = Rc::<Progress>::default();
    let endpoints = SimulatedEndpoints {
        clients: (),
        host: world.host(0),
        spec: spec.clone(),
        server: machines.len() as HostId - 1,
        disk: served.disk(0),
        contents: dataset.clone(),
        files: Rc::clone(&files),
        before: RefCell::default(),
        sent: Rc::default(),
    };
    let sent = Rc::clone(&endpoints.sent);
    let task = match service {
        ServiceKind::Ftp => work(endpoints.of(Ftp), &progress),
        ServiceKind::Ncp => work(endpoints.of(Ncp), &progress),
        _ => work(endpoints.of(Smb1), &progress),
    };
    let reported = Cell::new((0, 0));
    Ok(Copying { task, served, progress, reported, sent, spec: Box::new(spec.clone()), files })
}

fn work<C: Connects>(endpoints: SimulatedEndpoints<C>, progress: &Rc<Progress>) -> Task<Outcome> {
    let (client, spec, progress) =
        (endpoints.host.clone(), endpoints.spec.clone(), Rc::clone(progress));
    let time = client.clock().clone();
    client.spawn("copy", async move {
        let done = copy::simulate(time, spec, endpoints, progress, START_NS).await?;
        done.endpoints.end();
        Ok((done.totals, done.start))
    })
}

fn path(name: String) -> Result<ServicePath, Failure> {
    ServicePath::new(name).map_err(|bad| Failure::new("copy.name", bad.message))
}

impl Copying {
    /// The result and the comparison. File times were reported earlier.
    pub fn take(&self, running: &Running, cpu: CpuTime) -> Result<Copied, Failure> {
        let defect = || Failure::new("engine.defect", "a program ended without a result");
        let (totals, start) = self.task.take().ok_or_else(defect)??;
        let Totals { copied, meters, failure, .. } = totals;
        // A failed copy is incomplete anyway, so report its failure.
        if let Some(failure) = failure {
            return Err(failure);
        }
        let verified = self.verified()?;
        for line in meters.file_lines(start) {
            running.tell(|id| Reply::CopiedFiles(FileTimes { id, ..line }));
        }
        // Stalls are named after timers of current systems, which are not simulated.
        Ok(Copied { verified, cpu, stalls: Vec::new(), ..copied })
    }

    fn verified(&self) -> Result<Verified, Failure> {
        let how = self.spec.verify;
        let mut verified = Verified { how, files: 0, bytes: 0 };
        if how == CopyVerify::None {
            return Ok(verified);
        }
        verified.files = self.files.len() as u64;
        // Downloaded content was compared on arrival.
        verified.bytes = if how == CopyVerify::Content {
            self.files.iter().map(|(_, bytes)| bytes).sum()
        } else {
            0
        };
        if self.spec.direction == Direction::Upload {
            let contents = self.served.contents.borrow();
            for (name, bytes) in &*self.files {
                let place = [self.spec.working_name.clone(), "files".into(), name.to_string()];
                if contents.is_as_expected(&place, *bytes) != Some(true) {
                    let message = format!("`{name}` at the server is not what was sent");
                    return Err(Failure::new("copy.wrong", message));
                }
            }
        }
        Ok(verified)
    }
}

impl SimulatedEndpoints<()> {
    fn of<C>(self, clients: C) -> SimulatedEndpoints<C> {
        let Self { clients: (), host, spec, server, disk, contents, files, before, sent } = self;
        SimulatedEndpoints { clients, host, spec, server, disk, contents, files, before, sent }
    }
}

impl<C> SimulatedEndpoints<C> {
    fn sent_until_now(&self) -> Vec<SimulatedSent> {
        let counts = self.host.medium();
        let port = |port: &PortCounts| SimulatedSent {
            frames: port.offered_frames,
            bytes: port.offered_bytes(),
        };
        counts.ports.iter().map(port).collect()
    }

    fn end(&self) {
        let since = |(now, before): (SimulatedSent, &SimulatedSent)| SimulatedSent {
            frames: now.frames - before.frames,
            bytes: now.bytes - before.bytes,
        };
        let now = self.sent_until_now();
        *self.sent.borrow_mut() = now.into_iter().zip(&*self.before.borrow()).map(since).collect();
    }
}

impl<C: Connects> CopyEndpoints for SimulatedEndpoints<C> {
    type Session = WithDisk<C::Session>;
    type Source = Pattern;
    type Sink = Compared;

    async fn connect(&self) -> lanlab_files::Result<Self::Session> {
        let session = self.clients.connect(&self.host, &self.spec.service, self.server).await?;
        Ok(WithDisk::new(session, self.disk.clone()))
    }

    fn begin(&self) {
        *self.before.borrow_mut() = self.sent_until_now();
    }

    fn files(&self) -> (usize, u64) {
        (self.files.len(), self.files.iter().map(|(_, bytes)| bytes).sum())
    }

    fn bytes(&self, number: usize) -> u64 {
        self.files[number].1
    }

    fn name(&self, number: usize) -> &ServicePath {
        &self.files[number].0
    }

    fn source(&self, number: usize) -> Result<Pattern, Failure> {
        Ok(Pattern(content(&self.contents, number as u64)))
    }

    fn sink(&self, number: usize, _block_bytes: u32, _is_again: bool) -> Result<Compared, Failure> {
        let content = content(&self.contents, number as u64);
        Ok(Compared { content, name: self.files[number].0.to_string() })
    }
}

pub struct Pattern(Content);

impl Source for Pattern {
    fn fill(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Failure> {
        self.0.fill(offset, buffer);
        Ok(())
    }
}

pub struct Compared {
    content: Content,
    name: String,
}

impl Sink for Compared {
    fn take(&self, offset: u64, block: &[u8]) -> Result<(), Failure> {
        match self.content.first_difference(offset, block) {
            None => Ok(()),
            Some(place) => {
                let message = format!("`{}` differs at byte {place}", self.name);
                Err(Failure::new("copy.wrong", message))
            }
        }
    }

    fn close(self, _sync: CopySync) -> Result<Option<Vec<u64>>, Failure> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
