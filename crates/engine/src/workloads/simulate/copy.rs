//! A copy in a world: a file server with what it stores, and a client that copies.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use lanlab_files::{Carrier, ServiceKind, ServicePath};
use lanlab_sessions::{Agreed, Redirected};
use lanlab_sim::file_service::{
    BadDisk, Carriage, ClientDisk, Contents, Expected, NETBIOS_PORT, Served, SimulatedPort, Store,
    StoreFacts, WithDisk, connect as connect_port, serve,
};
use lanlab_sim::programs::{HostNode, Station, addresses_of};
use lanlab_sim::{Host, HostId, World, mac_of};
use lanlab_stack::node::{CarrierKinds, NodeConfig};
use lanlab_stack::profile;
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan};
use lanlab_stack::smb::server::{self, Server};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::netbios_name::{Name, suffix};
use lanlab_wire::smb1::strings::CodePage;
use lanlab_workloads::Progress;
use lanlab_workloads::copy::{self, Simulated, Sink, Site, Source, Totals};
use lanlab_workloads::dataset::{Content, content, file_name, sizes};
use lanlab_workloads::virtual_time::{Task, VirtualTime};

use super::machines::{check_cost, store_plan};
use crate::messages::{
    Copied, CopiedFiles, CopySpec, CopySync, CopyVerify, CpuTime, DatasetSpec, Direction, Failure,
    SimulatedCopy, SimulatedMachine, SimulatedStore, SimulatedStoreFacts, Verified,
};
use crate::running::Running;
use crate::workloads::copy as real_copy;
use crate::workloads::setup::check_range;

/// Time from the last connection to the start.
const START_NS: u64 = 10_000_000;
/// Bytes that a machine without a disk holds.
const MEMORY_BYTES: u64 = 1 << 40;
/// The server's `NetBIOS` name, and that of its share.
pub const SERVER: &str = "SERVER";
const SHARE: &str = "LANLAB";

/// What a copy came to.
pub type Outcome = Result<Simulated<SimulatedSite>, Failure>;

/// A copy that runs.
pub struct Copying {
    task: Task<Outcome>,
    contents: Rc<RefCell<Contents>>,
    /// Of each machine that has one.
    stores: Vec<Option<Store>>,
    /// Files and bytes that were copied.
    pub progress: Rc<Progress>,
    /// What of these was reported.
    pub reported: Cell<(u64, u64)>,
}

/// What a client copies between: its own files, and the server.
pub struct SimulatedSite {
    host: Host<HostNode>,
    spec: CopySpec,
    carriage: Carriage,
    server: SocketAddr,
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
    if spec.service.service != ServiceKind::Smb1 {
        let found = format!("{:?}", spec.service.service).to_lowercase();
        return Err(Failure::value("work.spec.service", found, "smb1 on simulated machines"));
    }
    if let Some(name) = &asked.profile
        && profile::by_name(name).is_none()
    {
        let allowed = profile::ALL.map(|profile| profile.name).join(", ");
        return Err(Failure::value("work.profile", name, allowed));
    }
    let CopiedFiles::Dataset(dataset) = &spec.files else {
        return Err(Failure::value("work.spec.files", "a directory", "a dataset"));
    };
    Ok((dataset.clone(), sizes(dataset)?))
}

/// What a machine's store may be.
///
/// # Errors
/// The first value that is not allowed.
pub fn check_store(store: &SimulatedStore) -> Result<(), Failure> {
    for (key, cost) in [
        ("store.open", store.open),
        ("store.read", store.read),
        ("store.write", store.write),
        ("store.close", store.close),
        ("store.other", store.other),
    ] {
        check_cost(key, cost)?;
    }
    for (key, found, least, most) in [
        ("store.block_bytes", u64::from(store.block_bytes), 512, 1 << 20),
        ("store.cache_blocks", store.cache_blocks.into(), 0, 1 << 20),
        ("store.read_ahead_blocks", store.read_ahead_blocks.into(), 0, 1024),
        (
            "store.write_behind_blocks",
            store.write_behind_blocks.into(),
            0,
            store.cache_blocks.into(),
        ),
        ("store.write_behind_ns", store.write_behind_ns, 0, 600_000_000_000),
        ("store.name_sectors", store.name_sectors.into(), 0, 1024),
        ("store.change_sectors", store.change_sectors.into(), 0, 1024),
    ] {
        check_range(key, found, least, most)?;
    }
    let refused = |bad: BadDisk| Failure::new("request.value", format!("`store.disk`: {bad}"));
    store_plan(store).check().map_err(refused)
}

/// The station of a machine, by its number, on a carrier of frames.
pub fn station(asked: &SimulatedCopy, host: HostId, last: HostId) -> Option<Station> {
    let Carrier::Frames(kind) = asked.spec.service.carrier else { return None };
    let profile = asked.profile.as_deref().and_then(profile::by_name);
    let is_server = host == last;
    let name = if is_server { SERVER.to_owned() } else { format!("PC{host}") };
    let suffix = if is_server { suffix::SERVER } else { suffix::WORKSTATION };
    let name = Name::new(&name, suffix).ok()?;
    let profile = profile.unwrap_or(profile::WINDOWS_NT);
    let mac = Mac(mac_of(host));
    let config = NodeConfig::new(mac, name, profile, CarrierKinds::only(kind));
    Some(Station::new(&config, is_server))
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
    let mut stores = Vec::with_capacity(machines.len());
    for (id, machine) in (0..).zip(machines) {
        let store = machine.store.map(|asked| Store::new(world.host(id), store_plan(&asked)));
        let bad = |bad: BadDisk| Failure::new("request.value", format!("`store.disk`: {bad}"));
        stores.push(store.transpose().map_err(bad)?);
    }
    let last = machines.len() as u16 - 1;
    let host = world.host(last);
    let room = machines[usize::from(last)]
        .store
        .map_or(MEMORY_BYTES, |store| store_plan(&store).disk.bytes());
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
    let contents = Rc::new(RefCell::new(contents));
    let store = match &stores[usize::from(last)] {
        Some(store) => store.clone(),
        None => Store::new(host.clone(), store_plan(&SimulatedStore::default()))
            .map_err(|bad| Failure::new("engine.defect", bad.to_string()))?,
    };
    let server = Server::new(server::Offer {
        name: SERVER.into(),
        share: SHARE.into(),
        user: None,
        read_only: false,
        code_page: CodePage::Cp850,
        dialects: Dialect::Core..=Dialect::Nt,
    });
    serve(&host, Rc::new(server), &Served { contents: Rc::clone(&contents), store });
    let client = world.host(0);
    let site = SimulatedSite {
        host: client.clone(),
        spec: spec.clone(),
        carriage: match spec.service.carrier {
            Carrier::Tcp => Carriage::Tcp,
            Carrier::Frames(kind) => Carriage::Frames(kind),
        },
        server: SocketAddr::new(addresses_of(last)[0], NETBIOS_PORT),
        disk: stores[0].clone().map(ClientDisk::new),
        dataset: dataset.clone(),
        sizes: sizes.to_vec(),
        names,
    };
    let progress = Rc::<Progress>::default();
    let work =
        copy::simulate(client.clock().clone(), spec.clone(), site, Rc::clone(&progress), START_NS);
    Ok(Copying {
        task: client.spawn("copy", work),
        contents,
        stores,
        progress,
        reported: Cell::new((0, 0)),
    })
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

    /// What the store of each machine did.
    pub fn store_facts(&self) -> Vec<Option<SimulatedStoreFacts>> {
        let facts = |store: &Store| {
            let StoreFacts { disk, hits, misses, dirty_blocks } = store.facts();
            SimulatedStoreFacts {
                disk_accesses: disk.accesses,
                disk_sectors: disk.sectors,
                disk_busy_ns: disk.busy_ns,
                disk_seek_ns: disk.seek_ns,
                disk_rotation_ns: disk.rotation_ns,
                disk_waited_ns: disk.waited_ns,
                cache_hits: hits,
                cache_misses: misses,
                dirty_blocks,
            }
        };
        self.stores.iter().map(|store| store.as_ref().map(facts)).collect()
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
            let contents = self.contents.borrow();
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
    type Session = WithDisk<Redirected<Client, SimulatedPort, VirtualTime>>;
    type Source = Pattern;
    type Sink = Compared;

    async fn connect(&self) -> lanlab_files::Result<Self::Session> {
        let port = connect_port(&self.host, self.carriage, SERVER, self.server).await?;
        let client = Client::new(Plan {
            dialect: self.spec.service.dialect.map(Into::into),
            server: SERVER.into(),
            share: SHARE.into(),
            user: None,
            code_page: CodePage::Cp850,
            nonce: [0; 8],
            time: 0,
            raw: self.spec.service.raw,
            requires_signatures: false,
            carrier: port.facts(),
        });
        let clock = self.host.clock().clone();
        let patience = Duration::from_nanos(self.spec.service.timeout_ns);
        let port = (port, Agreed::default());
        let session =
            Redirected::begin(client, Client::CONNECTED, port, (clock, patience), "").await?;
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
