//! A copy in a world: a file server with what it stores, and a client that copies.

use std::cell::Cell;
use std::rc::Rc;

use lanlab_files::ServicePath;
use lanlab_sim::file_service::{ClientDisk, Contents, Expected, WithDisk};
use lanlab_sim::programs::HostNode;
use lanlab_sim::{Host, HostId, World};
use lanlab_workloads::Progress;
use lanlab_workloads::copy::{self, Simulated, Sink, Site, Source, Totals};
use lanlab_workloads::dataset::{Content, content, file_name, sizes};
use lanlab_workloads::virtual_time::Task;

use super::service::{ClientSession, FileMachines, START_NS, check_service, connect, room_bytes};
use crate::messages::{
    Copied, CopiedFiles, CopySpec, CopySync, CopyVerify, CpuTime, DatasetSpec, Direction, Failure,
    SimulatedCopy, SimulatedMachine, Verified,
};
use crate::running::Running;
use crate::workloads::copy as real_copy;

/// What a copy came to.
pub type Outcome = Result<Simulated<SimulatedSite>, Failure>;

/// A copy that runs.
pub struct Copying {
    task: Task<Outcome>,
    /// What machines have of files.
    pub files: FileMachines,
    /// Files and bytes that were copied.
    pub progress: Rc<Progress>,
    /// What of these was reported.
    pub reported: Cell<(u64, u64)>,
}

/// What a client copies between: its own files, and the server.
pub struct SimulatedSite {
    host: Host<HostNode>,
    spec: CopySpec,
    server: HostId,
    disk: Option<ClientDisk>,
    dataset: DatasetSpec,
    sizes: Vec<u64>,
    names: Vec<ServicePath>,
}

/// What can be copied in a world: a dataset and its sizes.
///
/// # Errors
/// What cannot, with what can.
pub fn check(asked: &SimulatedCopy) -> Result<(DatasetSpec, Vec<u64>), Failure> {
    let spec = &asked.spec;
    real_copy::check(spec)?;
    check_service(&spec.service, asked.profile.as_deref())?;
    let CopiedFiles::Dataset(dataset) = &spec.files else {
        return Err(Failure::value("work.spec.files", "a directory", "a dataset"));
    };
    Ok((dataset.clone(), sizes(dataset)?))
}

/// The files of a dataset, by their names.
fn expected(dataset: &DatasetSpec, files: usize) -> Expected {
    let dataset = dataset.clone();
    Rc::new(move |path: &[String]| {
        let name = path.last()?.to_lowercase();
        let number = name.strip_prefix('f')?.strip_suffix(".dat")?.parse::<u64>().ok()?;
        ((number as usize) < files && name == file_name(number)).then(|| content(&dataset, number))
    })
}

/// Start a server and its client.
///
/// # Errors
/// A machine cannot be as asked for, or the server has no room for the files.
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
    let names: Vec<ServicePath> =
        (0..sizes.len() as u64).map(|number| path(file_name(number))).collect::<Result<_, _>>()?;
    if spec.direction == Direction::Download {
        for (name, bytes) in names.iter().zip(sizes) {
            let place = [&directory[..], &[name.as_str().to_owned()]].concat();
            let full = |_| {
                let total: u64 = sizes.iter().sum();
                let message = format!("files of {total} bytes on a disk of {room} bytes");
                Failure::new("request.value", message).hint("take a smaller dataset")
            };
            contents.put(&place, *bytes).map_err(full)?;
        }
    }
    let files = FileMachines::serve(world, machines, contents)?;
    let client = world.host(0);
    let site = SimulatedSite {
        host: client.clone(),
        spec: spec.clone(),
        server: machines.len() as u16 - 1,
        disk: files.disk(0),
        dataset: dataset.clone(),
        sizes: sizes.to_vec(),
        names,
    };
    let progress = Rc::<Progress>::default();
    let work =
        copy::simulate(client.clock().clone(), spec.clone(), site, Rc::clone(&progress), START_NS);
    Ok(Copying { task: client.spawn("copy", work), files, progress, reported: Cell::new((0, 0)) })
}

fn path(name: String) -> Result<ServicePath, Failure> {
    ServicePath::new(name).map_err(|bad| Failure::new("copy.name", bad.message))
}

impl Copying {
    /// What it came to, with what was compared. The times of files are said before.
    ///
    /// # Errors
    /// That of the copy; what is stored is not what was to be copied.
    pub fn take(&self, running: &Running, cpu: CpuTime) -> Result<Copied, Failure> {
        let defect = || Failure::new("engine.defect", "a program ended without a result");
        let simulated = self.task.take().ok_or_else(defect)??;
        let verified = self.verified(&simulated.site)?;
        let Totals { copied, meters, failure, .. } = simulated.totals;
        if let Some(failure) = failure {
            return Err(failure);
        }
        for line in meters.file_lines(simulated.start) {
            running.tell_files(line);
        }
        Ok(Copied { verified, cpu, ..copied })
    }

    fn verified(&self, site: &SimulatedSite) -> Result<Verified, Failure> {
        let how = site.spec.verify;
        let mut verified = Verified { how, files: 0, bytes: 0 };
        if how == CopyVerify::None {
            return Ok(verified);
        }
        verified.files = site.sizes.len() as u64;
        // What is received was compared as it came.
        verified.bytes = if how == CopyVerify::Content { site.sizes.iter().sum() } else { 0 };
        if site.spec.direction == Direction::Upload {
            let contents = self.files.contents.borrow();
            for (name, bytes) in site.names.iter().zip(&site.sizes) {
                let place = [site.spec.working_name.clone(), "files".into(), name.to_string()];
                if contents.is_as_expected(&place, *bytes) != Some(true) {
                    let message = format!("`{name}` at the server is not what was sent");
                    return Err(Failure::new("copy.wrong", message));
                }
            }
        }
        Ok(verified)
    }
}

impl Site for SimulatedSite {
    type Session = WithDisk<ClientSession>;
    type Source = Pattern;
    type Sink = Compared;

    async fn connect(&self) -> lanlab_files::Result<Self::Session> {
        let session = connect(&self.host, &self.spec.service, self.server).await?;
        Ok(WithDisk::new(session, self.disk.clone()))
    }

    fn files(&self) -> (usize, u64) {
        (self.sizes.len(), self.sizes.iter().sum())
    }

    fn bytes(&self, number: usize) -> u64 {
        self.sizes[number]
    }

    fn name(&self, number: usize) -> &ServicePath {
        &self.names[number]
    }

    fn source(&self, number: usize) -> Result<Pattern, Failure> {
        Ok(Pattern(content(&self.dataset, number as u64)))
    }

    fn sink(&self, number: usize, _block_bytes: u32, _is_again: bool) -> Result<Compared, Failure> {
        Ok(Compared {
            content: content(&self.dataset, number as u64),
            name: self.names[number].to_string(),
        })
    }
}

/// What is sent of a file.
pub struct Pattern(Content);

impl Source for Pattern {
    fn fill(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Failure> {
        self.0.fill(offset, buffer);
        Ok(())
    }
}

/// What is received of a file: compared, and forgotten.
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
