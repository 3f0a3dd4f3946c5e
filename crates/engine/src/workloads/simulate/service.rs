//! File services in a simulated world: the server and its files on the last machine, clients on the others.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use lanlab_files::{Carrier, ServiceKind, Session, Target};
use lanlab_sessions::{Agreed, Redirected};
use lanlab_sim::file_service::{
    Carriage, ClientDisk, Contents, NETBIOS_PORT, Served, SimulatedPort, Store,
    connect as connect_port, serve,
};
use lanlab_sim::programs::{HostNode, Station, addresses_of};
use lanlab_sim::{Host, HostId, World, mac_of};
use lanlab_stack::node::NodeConfig;
use lanlab_stack::profile::netware::{NETWARE_2, NetWare};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan};
use lanlab_stack::smb::server::{self, Server};
use lanlab_stack::{ncp, profile};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::netbios_name::{Name, suffix};
use lanlab_workloads::virtual_time::VirtualTime;

use super::ftp;
use crate::messages::{Failure, SimulatedMachine, SimulatedStore, SimulatedStoreFacts};
use crate::workloads::segment::check_target;

pub const START_NS: u64 = 10_000_000;
const MEMORY_BYTES: u64 = 1 << 40;
/// Simulated `NetWare`: packets of 1 KB, as in study `poo-tan`.
const NETWARE: NetWare = NETWARE_2;
/// `NetBIOS` name of the server, and name of its share.
pub const SERVER: &str = "SERVER";
const SHARE: &str = "LANLAB";

/// The service, carrier and timer profile of simulated machines.
pub fn check_service(service: &Target, profile: Option<&str>) -> Result<(), Failure> {
    if !matches!(service.service, ServiceKind::Smb1 | ServiceKind::Ftp | ServiceKind::Ncp) {
        let found = format!("{:?}", service.service).to_lowercase();
        return Err(Failure::value(
            "work.spec.service",
            found,
            "smb1, ncp or ftp on simulated machines",
        ));
    }
    if !service.service.goes_over(service.carrier) {
        let carriers = Carrier::all().filter(|carrier| service.service.goes_over(*carrier));
        let allowed = carriers.map(Carrier::name).collect::<Vec<_>>().join(", ");
        return Err(Failure::value("work.spec.carrier", service.carrier.name(), allowed));
    }
    check_target(service)?;
    if service.options.stack().is_some() {
        return Err(Failure::value("work.spec.service.stack", "one", "none on simulated machines"));
    }
    if let Some(name) = profile
        && profile::by_name(name).is_none()
    {
        let allowed = profile::ALL.map(|profile| profile.name).join(", ");
        return Err(Failure::value("work.profile", name, allowed));
    }
    Ok(())
}

pub fn station(
    service: &Target,
    profile: Option<&str>,
    host: HostId,
    last: HostId,
) -> Option<Station> {
    let Carrier::Frames(kind) = service.carrier else { return None };
    let is_server = host == last;
    let name = if is_server { SERVER.to_owned() } else { format!("PC{host}") };
    let suffix = if is_server { suffix::SERVER } else { suffix::WORKSTATION };
    let name = Name::new(&name, suffix).ok()?;
    let usual = service.system().map_or(profile::WINDOWS_NT, |system| *system.station);
    let profile = profile.and_then(profile::by_name).unwrap_or(usual);
    let mut config = NodeConfig::new(Mac(mac_of(host)), name, profile, kind);
    config.station.netware = NETWARE;
    (config.station.framing, config.station.network) = (service.ipx.framing(), service.ipx.network);
    Some(Station::new(&config, is_server))
}

pub fn room_bytes(machines: &[SimulatedMachine]) -> u64 {
    let store = machines.last().and_then(|server| server.store);
    store.map_or(MEMORY_BYTES, |store| store.disk.bytes())
}

pub struct FileMachines {
    stores: Vec<Option<Store>>,
    pub contents: Rc<RefCell<Contents>>,
}

impl FileMachines {
    /// Serve `contents` on the last machine.
    pub fn serve(
        world: &World<HostNode>,
        machines: &[SimulatedMachine],
        service: &Target,
        contents: Contents,
    ) -> Self {
        let mut stores = Vec::with_capacity(machines.len());
        for (id, machine) in (0..).zip(machines) {
            let store = machine.store.map(|asked| Store::new(world.host(id), asked));
            stores.push(store);
        }
        let host = world.host(machines.len() as u16 - 1);
        let store = match stores.last().cloned().flatten() {
            Some(store) => store,
            None => Store::new(host.clone(), SimulatedStore::default()),
        };
        store.lay_out(&contents.files());
        let contents = Rc::new(RefCell::new(contents));
        let files = Served { contents: Rc::clone(&contents), store };
        let longest_message = machines.last().and_then(|server| server.message_bytes);
        match service.service {
            ServiceKind::Ftp => ftp::serve(&host, &files),
            ServiceKind::Ncp => serve(&host, Rc::new(ncp_server()), &files),
            _ => serve(&host, Rc::new(smb1_server(service, longest_message)), &files),
        }
        Self { stores, contents }
    }

    pub fn disk(&self, host: HostId) -> Option<ClientDisk> {
        self.stores[usize::from(host)].clone().map(ClientDisk::new)
    }

    pub fn facts(&self) -> Vec<Option<SimulatedStoreFacts>> {
        self.stores.iter().map(|store| store.as_ref().map(Store::facts)).collect()
    }
}

/// A server whose longest message is the smallest limit of its machine, system and carrier.
fn smb1_server(service: &Target, longest_message: Option<u32>) -> Server {
    let server = Server::new(server::Offer {
        name: SERVER.into(),
        share: SHARE.into(),
        user: None,
        read_only: false,
        dialects: Dialect::Core..=Dialect::Nt,
    });
    let of_system = service.system().map(|system| system.buffer_bytes);
    match longest_message.or(of_system) {
        Some(longest_message) => server.taking(longest_message),
        None => server,
    }
}

fn ncp_server() -> ncp::server::Server {
    ncp::server::Server::new(ncp::server::Offer {
        name: SERVER.into(),
        volume: SHARE.into(),
        user: None,
        read_only: false,
        netware: NETWARE,
    })
}

/// Provides sessions to the clients of a service.
pub trait Connects: Clone + 'static {
    type Session: Session<File: 'static> + 'static;

    /// Connect a client's machine to the server, the last.
    fn connect(
        &self,
        host: &Host<HostNode>,
        service: &Target,
        server: HostId,
    ) -> impl Future<Output = lanlab_files::Result<Self::Session>>;
}

#[derive(Clone)]
pub struct Ftp;

impl Connects for Ftp {
    type Session = lanlab_clients::ftp::Session<ftp::Machine>;

    async fn connect(
        &self,
        host: &Host<HostNode>,
        service: &Target,
        server: HostId,
    ) -> lanlab_files::Result<Self::Session> {
        ftp::connect(host, service, server).await
    }
}

#[derive(Clone)]
pub struct Smb1;

impl Connects for Smb1 {
    type Session = Redirected<Client, SimulatedPort, VirtualTime>;

    async fn connect(
        &self,
        host: &Host<HostNode>,
        service: &Target,
        server: HostId,
    ) -> lanlab_files::Result<Self::Session> {
        let port = port_of(host, service, server).await?;
        let client = Client::new(Plan {
            dialect: service.options.smb1().dialect.map(Into::into),
            server: SERVER.into(),
            share: SHARE.into(),
            user: None,
            nonce: [0; 8],
            time: 0,
            raw: service.options.smb1().raw,
            multiplexed: true,
            requires_signatures: false,
            carrier: port.facts(),
        });
        let clock = host.clock().clone();
        let patience = Duration::from_nanos(service.timeout_ns);
        let port = (port, Agreed::default());
        let session = Redirected::begin(client, Client::CONNECTED, port, (clock, patience), "");
        Ok(session.await?.waiting_on(service.options.smb1().waits_on))
    }
}

#[derive(Clone)]
pub struct Ncp;

impl Connects for Ncp {
    type Session = Redirected<ncp::client::Client, SimulatedPort, VirtualTime>;

    async fn connect(
        &self,
        host: &Host<HostNode>,
        service: &Target,
        server: HostId,
    ) -> lanlab_files::Result<Self::Session> {
        let port = port_of(host, service, server).await?;
        let client = ncp::client::Client::new(ncp::client::Plan {
            volume: SHARE.into(),
            user: None,
            most_data_bytes: NETWARE.most_data_bytes,
            // The simulated server predates them.
            large_packets: false,
            burst_packets: None,
            carrier: port.facts(),
        });
        let clock = host.clock().clone();
        let patience = Duration::from_nanos(service.timeout_ns);
        let port = (port, Agreed::default());
        let connected = ncp::client::Client::CONNECTED;
        let session = Redirected::begin(client, connected, port, (clock, patience), "");
        Ok(session.await?.waiting_on(service.options.ncp().waits_on))
    }
}

async fn port_of(
    host: &Host<HostNode>,
    service: &Target,
    server: HostId,
) -> lanlab_files::Result<SimulatedPort> {
    let carriage = match service.carrier {
        Carrier::Tcp => Carriage::Tcp,
        Carrier::Frames(kind) => Carriage::Frames(kind),
    };
    let address = SocketAddr::new(addresses_of(server)[0], NETBIOS_PORT);
    connect_port(host, carriage, SERVER, address).await
}
