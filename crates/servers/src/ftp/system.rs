//! The environment of a dialogue: connections, files and a clock, real or simulated.

use std::fs::File;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use cap_std::fs::OpenOptions;
use lanlab_connections::Wire;
use lanlab_connections::small::SmallNode;
use lanlab_os::positioned;
use lanlab_served::changes::Changes;
use lanlab_served::{Found, Names, Unseen};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::data::Listener;
use super::{Shared, data};
use crate::admission::Proof;
use crate::login;

/// Time-out for opening a data connection, and for progress on it.
const PATIENCE: Duration = Duration::from_mins(5);

const CONNECTING: Duration = Duration::from_secs(30);

/// Time in which a system closes all connections of a killed client, one after the other.
const ENDING: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Out,
    In,
}

pub type Listing = Box<dyn Iterator<Item = io::Result<Found>> + Send>;

/// The environment of a dialogue. Its system errors become replies.
pub trait System {
    type Wire: AsyncRead + AsyncWrite + Unpin;
    type Listener;
    type File;

    /// Local address of a client's connection.
    fn local_address(&self, wire: &Self::Wire) -> io::Result<SocketAddr>;

    /// Listen for data connections on a free port of an address; returns both.
    fn listen(&self, address: SocketAddr) -> io::Result<(Self::Listener, u16)>;

    /// Drop connections made before this transfer.
    fn turn_away(&self, listener: &Self::Listener);

    /// Accept a data connection from this client only.
    fn accept(
        &self,
        listener: &Self::Listener,
        client: IpAddr,
        way: Way,
    ) -> impl Future<Output = io::Result<Self::Wire>>;

    /// Open a data connection from our address to the client's.
    fn connect(
        &self,
        from: SocketAddr,
        to: SocketAddr,
        way: Way,
    ) -> impl Future<Output = io::Result<Self::Wire>>;

    /// Seconds since 1970.
    fn now_s(&self) -> u64;

    /// Run work on a data connection, with a time-out.
    fn patiently<T>(
        &self,
        work: impl Future<Output = io::Result<T>>,
    ) -> impl Future<Output = io::Result<T>>;

    /// Whether logins need TLS.
    fn has_tls(&self) -> bool;

    fn is_tls(&self, wire: &Self::Wire) -> bool;

    /// Start TLS on a control connection.
    fn secure(&self, wire: Self::Wire) -> impl Future<Output = io::Result<Self::Wire>>;

    /// Whether a user may log in; success marks the client as proved.
    fn admits(&self, user: &str, password: &str) -> bool;

    /// A line has arrived.
    fn heard(&self) {}

    /// Record a refusal for the operator.
    fn refused(&self, _what: &str) {}

    /// The delay before a wrong password is answered.
    fn delay(&self) -> impl Future<Output = ()>;

    fn look(&self, path: &Names) -> impl Future<Output = io::Result<Found>>;

    fn list(&self, path: &Names) -> impl Future<Output = io::Result<Listing>>;

    fn open(&self, path: &Names) -> impl Future<Output = io::Result<Self::File>>;

    /// Open or create a file for writing. With `truncate`, an existing file is replaced once the new content is
    /// complete.
    fn open_to_write(
        &self,
        path: &Names,
        truncate: bool,
    ) -> impl Future<Output = io::Result<(Self::File, u64)>>;

    /// Read at an offset; returns the number of bytes, zero at the end of the file.
    fn read_at(
        &self,
        file: &Self::File,
        into: &mut [u8],
        offset: u64,
    ) -> impl Future<Output = io::Result<usize>>;

    fn write_all_at(
        &self,
        file: &Self::File,
        data: &[u8],
        offset: u64,
    ) -> impl Future<Output = io::Result<()>>;

    /// Wait, before a file replaces another, until a killed client's connections have ended.
    fn doubt(&self, _file: &Self::File) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// Close a file, completely transferred if `is_whole`; returns delayed write errors.
    fn close(&self, file: Self::File, is_whole: bool) -> impl Future<Output = io::Result<()>>;

    fn remove_file(&self, path: &Names) -> impl Future<Output = io::Result<()>>;

    fn make_directory(&self, path: &Names) -> impl Future<Output = io::Result<()>>;

    fn remove_directory(&self, path: &Names) -> impl Future<Output = io::Result<()>>;

    /// Move a file or directory to a free path.
    fn rename(&self, from: &Names, to: &Names) -> impl Future<Output = io::Result<()>>;

    /// Change times and permissions.
    fn change(&self, path: &Names, changes: &Changes) -> impl Future<Output = io::Result<()>>;
}

#[derive(Debug)]
pub struct Open {
    file: File,
    unseen: Option<Unseen>,
}

/// This host: its sockets or its own TCP stack, and the served directory.
#[derive(Debug)]
pub struct Host {
    shared: Arc<Shared>,
    proof: Proof,
    station: Option<Arc<SmallNode>>,
}

impl Host {
    pub fn new(shared: Arc<Shared>, proof: Proof) -> Self {
        Self { shared, proof, station: None }
    }

    pub fn at(shared: Arc<Shared>, proof: Proof, station: Arc<SmallNode>) -> Self {
        Self { shared, proof, station: Some(station) }
    }

    /// A data connection, with TLS if offered. We are the TLS server in active mode, too (RFC 4217, section 7).
    async fn data_wire(&self, stream: TcpStream, way: Way) -> io::Result<Wire> {
        let Some(tls) = &self.shared.tls else { return Ok(Wire::Plain(stream)) };
        let config = match way {
            Way::Out => &tls.usual,
            Way::In => &tls.receiving,
        };
        self.patiently(data::secure(config, stream)).await
    }
}

/// File calls block: they are quick compared with network calls, as files are in the system's cache
/// unless the disk itself is measured.
impl System for Host {
    type Wire = Wire;
    type Listener = Listener;
    type File = Open;

    fn local_address(&self, wire: &Wire) -> io::Result<SocketAddr> {
        wire.local_address()
    }

    fn listen(&self, address: SocketAddr) -> io::Result<(Listener, u16)> {
        if let Some(station) = &self.station {
            let listener = station.listen(0)?;
            let port = listener.port();
            return Ok((Listener::Own(listener), port));
        }
        let listener = data::listen(address)?;
        let port = listener.local_addr()?.port();
        Ok((Listener::System(listener), port))
    }

    fn turn_away(&self, listener: &Listener) {
        data::turn_away(listener);
    }

    async fn accept(&self, listener: &Listener, client: IpAddr, way: Way) -> io::Result<Wire> {
        let listener = match listener {
            Listener::Own(listener) => {
                return self.patiently(data::accept_own(listener, client)).await;
            }
            Listener::System(listener) => listener,
        };
        let stream = self.patiently(data::accept(listener, client)).await?;
        self.data_wire(stream, way).await
    }

    async fn connect(&self, from: SocketAddr, to: SocketAddr, way: Way) -> io::Result<Wire> {
        let connecting = async {
            match &self.station {
                Some(station) => Ok(Wire::Small(station.connect(to).await?)),
                None => self.data_wire(data::connect(from, to).await?, way).await,
            }
        };
        let made = tokio::time::timeout(CONNECTING, self.patiently(connecting)).await;
        made.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    fn now_s(&self) -> u64 {
        std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs()
    }

    async fn patiently<T>(&self, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        match tokio::time::timeout(PATIENCE, work).await {
            Ok(done) => done,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    fn has_tls(&self) -> bool {
        self.shared.tls.is_some()
    }

    fn is_tls(&self, wire: &Wire) -> bool {
        wire.is_tls()
    }

    async fn secure(&self, wire: Wire) -> io::Result<Wire> {
        let tls = self.shared.tls.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let Wire::Plain(stream) = wire else { return Err(io::ErrorKind::InvalidInput.into()) };
        self.patiently(data::secure(&tls.usual, stream)).await
    }

    fn admits(&self, user: &str, password: &str) -> bool {
        let admits = login::admits(self.shared.credentials.as_ref(), user, password);
        if admits {
            self.proof.admit(self.shared.credentials.as_ref().map(|_| user), None);
        } else {
            self.proof.visitor().wrong_password(user, None);
        }
        admits
    }

    fn heard(&self) {
        self.proof.went_on();
    }

    fn refused(&self, what: &str) {
        self.proof.visitor().refused(what);
    }

    async fn delay(&self) {
        tokio::time::sleep(login::DELAY).await;
    }

    async fn look(&self, path: &Names) -> io::Result<Found> {
        self.shared.confined.look(path)
    }

    async fn list(&self, path: &Names) -> io::Result<Listing> {
        Ok(Box::new(self.shared.confined.list(path)?))
    }

    async fn open(&self, path: &Names) -> io::Result<Open> {
        Ok(Open { file: self.shared.confined.open(path)?, unseen: None })
    }

    /// A partially received new file is kept, so that the client can resume.
    async fn open_to_write(&self, path: &Names, truncate: bool) -> io::Result<(Open, u64)> {
        let confined = &self.shared.confined;
        if truncate && confined.has_file_to_change(path)? {
            let mut unseen = Unseen::new(confined, path, 0o666)?;
            return Ok((Open { file: unseen.file()?.try_clone()?, unseen: Some(unseen) }, 0));
        }
        let file = confined.open_to_change(path, OpenOptions::new().write(true).create(true))?;
        let size_bytes = file.metadata()?.len();
        Ok((Open { file, unseen: None }, size_bytes))
    }

    async fn read_at(&self, open: &Open, into: &mut [u8], offset: u64) -> io::Result<usize> {
        positioned::read_at(&open.file, into, offset)
    }

    async fn write_all_at(&self, open: &Open, data: &[u8], offset: u64) -> io::Result<()> {
        positioned::write_all_at(&open.file, data, offset)
    }

    async fn doubt(&self, open: &Open) {
        if open.unseen.is_some() {
            tokio::time::sleep(ENDING).await;
        }
    }

    async fn close(&self, open: Open, is_whole: bool) -> io::Result<()> {
        lanlab_os::close_file(open.file)?;
        match open.unseen {
            Some(unseen) if is_whole => unseen.show(false),
            _ => Ok(()),
        }
    }

    async fn remove_file(&self, path: &Names) -> io::Result<()> {
        self.shared.confined.remove_file(path)
    }

    async fn make_directory(&self, path: &Names) -> io::Result<()> {
        self.shared.confined.create_dir(path, None)
    }

    async fn remove_directory(&self, path: &Names) -> io::Result<()> {
        self.shared.confined.remove_dir(path)
    }

    async fn rename(&self, from: &Names, to: &Names) -> io::Result<()> {
        self.shared.confined.rename(from, to)
    }

    async fn change(&self, path: &Names, changes: &Changes) -> io::Result<()> {
        self.shared.confined.change(path, changes)
    }
}
