//! Embedded servers, one file for each service: what a study runs against on a bare machine.
//!
//! Each serves one directory of this host, to one user or to anybody, at the given address and no
//! other, until it is stopped.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lanlab_connections::small::SmallNode;
pub use lanlab_connections::small::SmallPlan;
use lanlab_connections::wired::WiredNode;
use lanlab_files::{
    Carrier, CarrierCounts, Class, Credentials, Dialect, Fault, HostAddress, IpxSegment, Result,
    ServiceKind, SystemProfile,
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

/// Connections that wait to be accepted: many stations connect at once.
const BACKLOG: u32 = 4096;

#[derive(Debug, Clone)]
pub struct Offer {
    pub service: ServiceKind,
    /// The directory that is served, absolute; it must be there.
    pub root: PathBuf,
    pub bind: HostAddress,
    pub port: u16,
    /// To whom; absent: to anybody who can reach the address.
    pub credentials: Option<Credentials>,
    pub read_only: bool,
    /// Whether every client has to sign its messages, which only SMB 1 can ask for here.
    pub requires_signatures: bool,
    /// The oldest and the newest dialect of SMB 1 to speak.
    pub dialects: (Dialect, Dialect),
    /// Names of the server and of its share or volume, by which clients of SMB and NCP find them; absent: those of
    /// the service.
    pub names: ServerNames,
    /// Where it is served on a link of whole Ethernet frames; absent: over TCP.
    pub station: Option<StationOffer>,
    /// The station with TCP of its own that serves FTP, in place of the system's; `bind` has no meaning then.
    pub own_stack: Option<SmallPlan>,
}

#[derive(Debug, Clone, Default)]
pub struct ServerNames {
    /// Of the server, 1 to 15 characters of ASCII; only SMB 1 says one.
    pub server: Option<String>,
    /// Of the share or volume, 1 to 12 characters of ASCII.
    pub share: Option<String>,
}

#[derive(Debug, Clone)]
pub struct StationOffer {
    pub carrier: CarrierKind,
    pub place: RawLinkPlace,
    pub ipx: IpxSegment,
    /// Its name, 1 to 15 characters of ASCII.
    pub name: String,
    /// The system of the time that it is; absent: none, but over XNS, where it is 3+.
    pub profile: Option<SystemProfile>,
}

/// What connections may cost that have not proved themselves, and how long they may take.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub strangers_bytes: usize,
    /// Memory of all records of NFS together that have not come whole, or are not answered yet.
    pub records_bytes: usize,
    /// Time to log in, or to send the first request to a service without logins.
    pub login: Duration,
    /// After how long one of them makes room for another, where too many come.
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

    /// What clients did since this was asked, `now` after any fixed time: few entries a second.
    pub fn seen(&self, now: Duration) -> Vec<Seen> {
        self.visits.take(now)
    }

    /// What its station has counted until now; `None` over TCP.
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
        // Aborted or not, it is over.
        let _ = self.task.await;
    }
}

/// Begin to serve, on the tokio runtime of the caller.
///
/// # Errors
/// The directory is not there, the port is taken, or there is no embedded server of the service.
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
    if offer.own_stack.is_some() && offer.service != ServiceKind::Ftp {
        let message = format!("{:?} is not served over the small stack", offer.service);
        return Err(Fault::new(Class::Unsupported, message));
    }
    if offer.requires_signatures
        && (offer.service != ServiceKind::Smb1 || offer.credentials.is_none())
    {
        let message = "signatures can be required of clients of SMB 1, where a user is named";
        return Err(Fault::new(Class::Unsupported, message));
    }
    match offer.service {
        ServiceKind::Directory | ServiceKind::Memory => {
            Err(Fault::new(Class::Unsupported, "a directory or memory needs no server"))
        }
        ServiceKind::Ftp | ServiceKind::Ftps => ftp::serve(offer, bounds).await,
        ServiceKind::Sftp => sftp::serve(offer, bounds).await,
        ServiceKind::Webdav | ServiceKind::Webdavs => webdav::serve(offer, bounds),
        ServiceKind::Nfs => nfs::serve(offer, bounds).await,
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
        // So that a port is free again at once after its server has ended.
        #[cfg(unix)]
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
