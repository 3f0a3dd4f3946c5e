//! Embedded servers, one file for each service, for studies on machines without other servers.
//!
//! Each serves one directory of this host, to one user or to anybody, only at the given address, until stopped.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lanlab_connections::small::SmallNode;
pub use lanlab_connections::small::SmallPlan;
use lanlab_connections::wired::WiredNode;
use lanlab_files::{
    Carrier, CarrierCounts, Class, Credentials, Fault, HostAddress, IpxSegment, Result,
    ServerOptions, ServiceKind,
};
use lanlab_os::RawLinkPlace;
use lanlab_served::Confined;
use lanlab_stack::ip::small::Facts;
use lanlab_stack::node::CarrierKind;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;

pub use visits::Seen;
use visits::Visits;

mod admission;
mod file_sessions;
pub mod ftp;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../tests/fuzz_checks/mod.rs"]
pub mod fuzz_checks;
mod http;
mod identity;
mod listings;
mod login;
mod ncp;
mod nfs;
mod s3;
mod sftp;
mod smb;
mod smb1;
mod station;
mod visits;
mod webdav;

/// Accept queue: many stations connect at once.
const BACKLOG: u32 = 4096;

#[derive(Debug, Clone)]
pub struct Offer {
    pub service: ServiceKind,
    /// The directory to serve: absolute and existing.
    pub root: PathBuf,
    pub bind: HostAddress,
    pub port: u16,
    /// The only user; absent: anybody who can reach the address.
    pub credentials: Option<Credentials>,
    pub read_only: bool,
    pub options: ServerOptions,
    /// Station on an Ethernet link to serve from; absent: TCP.
    pub station: Option<StationOffer>,
    /// The station whose own TCP serves FTP instead of the system's; `bind` is unused then.
    pub own_stack: Option<SmallPlan>,
}

impl Offer {
    /// Serve anybody who can reach the address, over TCP at a free port.
    pub fn new(service: ServiceKind, root: &Path, bind: HostAddress) -> Self {
        Self {
            service,
            root: root.to_owned(),
            bind,
            port: 0,
            credentials: None,
            read_only: false,
            options: ServerOptions::None,
            station: None,
            own_stack: None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct StationOffer {
    pub carrier: CarrierKind,
    pub place: RawLinkPlace,
    pub ipx: IpxSegment,
    /// Name of 1 to 15 ASCII characters.
    pub name: String,
}

/// Limits on connections before login: cost and time.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub strangers_bytes: usize,
    /// Memory for all incomplete or unanswered NFS records together.
    pub records_bytes: usize,
    /// Time to log in, or to send the first request to a service without logins.
    pub login: Duration,
    /// Time after which a connection may be evicted when too many connect.
    pub crowded: Duration,
    pub record: Duration,
    pub connections: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            strangers_bytes: 32 << 20,
            records_bytes: 32 << 20,
            login: Duration::from_mins(1),
            crowded: Duration::from_millis(500),
            record: Duration::from_secs(30),
            connections: 0,
        }
    }
}

#[derive(Debug)]
enum Station {
    Frames(Arc<WiredNode>),
    OwnTcp(Arc<SmallNode>),
}

#[derive(Debug)]
pub struct Serving {
    port: u16,
    share: Option<String>,
    trust_sha256: Option<String>,
    visits: Arc<Visits>,
    station: Option<Station>,
    task: JoinHandle<()>,
}

impl Serving {
    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn share(&self) -> Option<&str> {
        self.share.as_deref()
    }

    /// SHA-256 of its certificate or host key, hexadecimal, for [`lanlab_files::Trust::Sha256`].
    pub fn trust_sha256(&self) -> Option<&str> {
        self.trust_sha256.as_deref()
    }

    pub fn accepted(&self) -> u64 {
        self.visits.accepted()
    }

    /// Wait until [`Self::seen`] may have entries.
    pub async fn noted(&self) {
        self.visits.noted().await;
    }

    /// Client activity since the last call; `now` counts from any fixed time. Limited to a few entries a second.
    pub fn seen(&self, now: Duration) -> Vec<Seen> {
        self.visits.take(now)
    }

    /// Counters of its station; `None` over TCP.
    pub fn carrier_counts(&self) -> Option<CarrierCounts> {
        match &self.station {
            Some(Station::Frames(node)) => Some(node.counts()),
            _ => None,
        }
    }

    pub fn stack_facts(&self) -> Option<Facts> {
        match &self.station {
            Some(Station::OwnTcp(node)) => Some(node.facts()),
            _ => None,
        }
    }

    pub async fn end(self) {
        self.task.abort();
        // Whether the task was aborted does not matter.
        let _ = self.task.await;
    }
}

/// Start serving on the caller's tokio runtime.
pub async fn serve(offer: &Offer) -> Result<Serving> {
    serve_within(offer, &Bounds::default()).await
}

pub async fn serve_within(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    if !offer.root.is_absolute() || !offer.root.is_dir() {
        let message = format!("`{}`: no directory by an absolute path", offer.root.display());
        return Err(Fault::new(Class::Missing, message));
    }
    if let Some(station) = &offer.station
        && !offer.service.goes_over(Carrier::Frames(station.carrier))
    {
        let (service, carrier) = (offer.service, station.carrier.title());
        let message = format!("{service:?} is not served over {carrier}");
        return Err(Fault::new(Class::Unsupported, message));
    }
    match offer.service {
        ServiceKind::Directory | ServiceKind::Memory => {
            Err(Fault::new(Class::Unsupported, "a directory or memory needs no server"))
        }
        ServiceKind::Nfs4 => {
            Err(Fault::new(Class::Unsupported, "there is no embedded server of NFS 4.1"))
        }
        ServiceKind::Ftp | ServiceKind::Ftps => ftp::serve(offer, bounds).await,
        ServiceKind::Sftp => sftp::serve(offer, bounds),
        ServiceKind::Webdav | ServiceKind::Webdavs => webdav::serve(offer, bounds),
        ServiceKind::Nfs => nfs::serve(offer, bounds),
        ServiceKind::Smb => smb::serve(offer, bounds).await,
        ServiceKind::Smb1 => smb1::serve(offer, bounds).await,
        ServiceKind::Ncp => ncp::serve(offer, bounds).await,
        ServiceKind::S3 | ServiceKind::S3s => s3::serve(offer, bounds),
    }
}

fn confined(offer: &Offer) -> Result<Confined> {
    Confined::new(&offer.root, offer.read_only)
        .map_err(|error| Fault::of_file(offer.root.display(), &error))
}

fn listen(offer: &Offer) -> Result<(TcpListener, u16)> {
    let address = listening_at(offer)?;
    let open = || -> std::io::Result<(TcpListener, u16)> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Makes the port available at once after the server has ended.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(BACKLOG)?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    };
    open().map_err(|error| Fault::of_connection(format_args!("listen at {address}"), &error))
}

fn listening_at(offer: &Offer) -> Result<SocketAddr> {
    lanlab_os::socket_address(offer.bind.ip(), offer.bind.zone(), offer.port)
        .map_err(|error| Fault::of_connection(format_args!("address `{}`", offer.bind), &error))
}
