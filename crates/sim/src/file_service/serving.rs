//! A file server on a simulated host, and how a client opens a session with it.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use lanlab_files::{Class, Fault, Result};
use lanlab_sessions::{self as sessions, Logins, why_ended};
use lanlab_stack::file_server::FileServer;
use lanlab_stack::node::{CarrierKind, Peer};
use lanlab_wire::nbss::{Framing, Packet};
use lanlab_wire::netbios_name::{Name, suffix};

use super::byte_stream::open;
use super::contents::Contents;
use super::message_port::SimulatedPort;
use super::served_files::ServedFiles;
use super::store::Store;
use crate::program::Host;
use crate::programs::connection;
use crate::programs::keys::{STATION, session_key};
use crate::programs::{HostNode, Station};

/// Port of `NetBIOS` sessions over TCP (RFC 1002, 4.3).
pub const NETBIOS_PORT: u16 = 139;
/// Longest message over TCP, bytes: an SMB header and 64 KiB of data.
const LONGEST_BYTES: usize = (64 << 10) + 1024;
/// Start time of sessions on simulated machines, 100 ns since 1601: 1 January 1996.
const TIME: u64 = 124_650_240_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carriage {
    Tcp,
    Frames(CarrierKind),
}

#[derive(Clone)]
pub struct Served {
    pub contents: Rc<RefCell<Contents>>,
    pub store: Store,
}

struct Anyone;

impl Logins for Anyone {
    fn longest_message(&self) -> usize {
        LONGEST_BYTES
    }

    fn succeeded(&mut self) {}

    async fn failed(&mut self, _count: u32) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Serve all clients, over TCP and over the carriers of the host's station.
pub fn serve(host: &Host<HostNode>, server: Rc<dyn FileServer>, files: &Served) {
    host.with_node(|node, _| node.ip.interface.listen(NETBIOS_PORT));
    let over_tcp = {
        let (host, server, files) = (host.clone(), Rc::clone(&server), files.clone());
        async move {
            for client in 0.. {
                let connection = connection::accept(&host, NETBIOS_PORT).await;
                let port =
                    SimulatedPort::of_connection(host.clone(), connection, LONGEST_BYTES, true);
                serve_client(&host, port, &server, &files, client);
            }
        }
    };
    host.spawn_service("file server", over_tcp);
    let (host, server, files) = (host.clone(), server, files.clone());
    if host.with_node(|node, _| node.station.is_none()) {
        return;
    }
    host.clone().spawn_service("file server", async move {
        for client in (1 << 16).. {
            let accepted = |node: &mut HostNode, _| node.station.as_mut()?.accept();
            let (session, facts) = host.until(STATION, "a client's session", accepted).await;
            let port = SimulatedPort::of_session(host.clone(), session, facts);
            serve_client(&host, port, &server, &files, client);
        }
    });
}

fn serve_client(
    host: &Host<HostNode>,
    mut port: SimulatedPort,
    server: &Rc<dyn FileServer>,
    files: &Served,
    client: u32,
) {
    let mut session = server.session(port.facts(), [0; 8], TIME);
    let mut answers = ServedFiles::new(Rc::clone(&files.contents), files.store.clone(), client);
    let clock = host.clock().clone();
    host.spawn_service("file server's session", async move {
        // An error concerns only this client, which is disconnected.
        let _ = sessions::serve(&mut session, &mut port, &mut answers, &mut Anyone, &clock).await;
    });
}

/// Open a session with the named server at an address.
pub async fn connect(
    host: &Host<HostNode>,
    carriage: Carriage,
    server: &str,
    address: SocketAddr,
) -> Result<SimulatedPort> {
    match carriage {
        Carriage::Tcp => connect_tcp(host, server, address).await,
        Carriage::Frames(kind) => {
            let peer = kind.server(server).map_err(|bad| Fault::new(Class::Name, bad.message))?;
            open_session(host, kind, peer).await
        }
    }
}

async fn connect_tcp(
    host: &Host<HostNode>,
    server: &str,
    address: SocketAddr,
) -> Result<SimulatedPort> {
    let connection = open(host, address).await?;
    let name = |name: &str, kind| {
        Name::new(name, kind).map_err(|bad| Fault::new(Class::Name, bad.to_string()))
    };
    let mut request = Vec::new();
    let names = Packet::Request {
        called: name(server, suffix::SERVER)?,
        calling: name(&format!("PC{}", host.id()), suffix::WORKSTATION)?,
    };
    names
        .emit(Framing::Session, &mut request)
        .map_err(|bad| Fault::new(Class::Name, bad.to_string()))?;
    host.with_node(|node, now| node.ip.interface.send(now, connection, &request));
    Ok(SimulatedPort::of_connection(host.clone(), connection, LONGEST_BYTES, false))
}

async fn open_session(
    host: &Host<HostNode>,
    kind: CarrierKind,
    peer: Peer,
) -> Result<SimulatedPort> {
    let is_ready =
        |node: &mut HostNode, _| node.station.as_ref().is_none_or(Station::is_ready).then_some(());
    host.until(STATION, "its name on the network", is_ready).await;
    let opened = host.with_node(|node, now| Some(node.station.as_mut()?.open(now, peer)));
    let Some(session) = opened else {
        let message = format!("this machine has no {}", kind.title());
        return Err(Fault::new(Class::Unsupported, message));
    };
    let look = |node: &mut HostNode, _| node.station.as_ref()?.opened(session);
    let opened = host.until(session_key(session), "its session to open", look).await;
    let facts =
        opened.map_err(|why| Fault::new(Class::Refused, format!("{peer}: {}", why_ended(why))))?;
    Ok(SimulatedPort::of_session(host.clone(), session, facts))
}
