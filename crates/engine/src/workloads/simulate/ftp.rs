//! FTP in a simulated world: the real client and server code over the simulator's TCP and files.

use std::fmt;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use lanlab_clients::ftp as client;
use lanlab_files::{Fault, Target};
use lanlab_servers::ftp::{Changes, Dialogue, Found, GREETING, Listing, Names, System, Way};
use lanlab_sessions::within;
use lanlab_sim::Host;
use lanlab_sim::file_service::{ByteStream, Served, ServedFiles};
use lanlab_sim::programs::{HostNode, addresses_of};
use lanlab_stack::files::{self as stack, FileAnswer, FileCall, FileRefusal, Handle, Presence};
use lanlab_units::Instant;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::Mutex;

/// Port of control connections (RFC 959).
pub const CONTROL_PORT: u16 = 21;
/// Port of the first session's data connections; each session has its own.
const FIRST_DATA_PORT: u16 = 20_000;
const LISTED: u32 = 256;
/// Time-out for data connections and progress, as in the real server.
const PATIENCE: Duration = Duration::from_mins(5);
/// Permissions of files and directories, which simulated machines lack.
const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;

pub struct Stream(ByteStream);

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a connection of a simulated machine")
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let into = buffer.initialize_unfilled();
        let read = std::task::ready!(self.0.poll_read(context, into));
        read.map(|count| buffer.advance(count)).into()
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_write(context, data)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close();
        Poll::Ready(Ok(()))
    }
}

pub struct Machine {
    host: Host<HostNode>,
    patience: Duration,
}

impl fmt::Debug for Machine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "machine {}", self.host.id())
    }
}

/// Connect a client's machine to a server's, and log in.
pub async fn connect(
    host: &Host<HostNode>,
    service: &Target,
    server: u16,
) -> lanlab_files::Result<client::Session<Machine>> {
    let patience = Duration::from_nanos(service.timeout_ns);
    let machine = Machine { host: host.clone(), patience };
    let address = SocketAddr::new(addresses_of(server)[0], CONTROL_PORT);
    client::begin(machine, address, service).await
}

impl client::Network for Machine {
    type Wire = Stream;

    async fn connect(&self, peer: SocketAddr) -> lanlab_files::Result<Stream> {
        let connecting = ByteStream::connect(&self.host, peer);
        self.within(&format!("connect to {peer}"), connecting).await.map(Stream)
    }

    fn has_tls(&self) -> bool {
        false
    }

    async fn secure(&self, _: &str, wire: Stream) -> lanlab_files::Result<Stream> {
        Ok(wire)
    }

    fn facts(&self, _: &Stream) -> (String, Option<bool>) {
        ("none".to_owned(), None)
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn now(&self) -> Duration {
        self.host.now() - Instant::ZERO
    }

    async fn within<T>(
        &self,
        what: &str,
        work: impl Future<Output = lanlab_files::Result<T>>,
    ) -> lanlab_files::Result<T> {
        let done = within(self.host.clock(), self.patience, work).await;
        done.unwrap_or_else(|| Err(Fault::late(what, self.patience)))
    }
}

pub fn serve(host: &Host<HostNode>, files: &Served) {
    host.with_node(|node, _| node.ip.interface.listen(CONTROL_PORT));
    let (host, files) = (host.clone(), files.clone());
    host.clone().spawn_service("FTP server", async move {
        for session in 0.. {
            let mut wire = Stream(ByteStream::accept(&host, CONTROL_PORT).await);
            let own = host.clone();
            let answers =
                ServedFiles::new(Rc::clone(&files.contents), files.store.clone(), session);
            host.spawn_service("FTP server's session", async move {
                let server = Server {
                    host: own,
                    files: Mutex::new(answers),
                    data_port: FIRST_DATA_PORT + (session % 20_000) as u16,
                };
                if wire.write_all(GREETING).await.is_err() {
                    return;
                }
                let client = SocketAddr::new(addresses_of(0)[0], 0);
                // An error means that the client disconnected.
                let _ = Dialogue::new(server, wire, client).run().await;
            });
        }
    });
}

struct Server {
    host: Host<HostNode>,
    files: Mutex<ServedFiles>,
    data_port: u16,
}

impl Server {
    async fn call(&self, call: FileCall, data: &mut Vec<u8>) -> io::Result<FileAnswer> {
        match self.files.lock().await.call(call, data).await {
            FileAnswer::Refused(refusal) => Err(error(refusal).into()),
            answer => Ok(answer),
        }
    }

    async fn ask(&self, call: FileCall) -> io::Result<FileAnswer> {
        self.call(call, &mut Vec::new()).await
    }

    async fn open_file(
        &self,
        path: &Names,
        write: bool,
        truncate: bool,
    ) -> io::Result<(Handle, u64)> {
        let presence = if write { Presence::Any } else { Presence::Old };
        let path = path.clone();
        match self.ask(FileCall::Open { path, read: !write, write, presence, truncate }).await? {
            FileAnswer::Opened { handle, found, .. } => Ok((handle, found.size_bytes)),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }
}

const fn error(refusal: FileRefusal) -> ErrorKind {
    match refusal {
        FileRefusal::Missing => ErrorKind::NotFound,
        FileRefusal::NoPath => ErrorKind::NotADirectory,
        FileRefusal::Exists => ErrorKind::AlreadyExists,
        FileRefusal::NotEmpty => ErrorKind::DirectoryNotEmpty,
        FileRefusal::IsDirectory => ErrorKind::IsADirectory,
        FileRefusal::Denied => ErrorKind::PermissionDenied,
        FileRefusal::NoSpace => ErrorKind::StorageFull,
        FileRefusal::Name => ErrorKind::InvalidFilename,
        FileRefusal::TooMany | FileRefusal::TooLong | FileRefusal::Failed => ErrorKind::Other,
    }
}

fn found(found: stack::Found) -> Found {
    let stack::Found { name, is_directory, size_bytes, modified_s, accessed_s, .. } = found;
    let mode = if is_directory { DIRECTORY_MODE } else { FILE_MODE };
    Found { name, is_directory, size_bytes, mode, modified_s, accessed_s }
}

impl System for Server {
    type Wire = Stream;
    type Listener = ();
    type File = Handle;

    fn local_address(&self, _: &Stream) -> io::Result<SocketAddr> {
        Ok(SocketAddr::new(addresses_of(self.host.id())[0], CONTROL_PORT))
    }

    fn listen(&self, _: SocketAddr) -> io::Result<((), u16)> {
        self.host.with_node(|node, _| node.ip.interface.listen(self.data_port));
        Ok(((), self.data_port))
    }

    fn turn_away(&self, (): &()) {}

    /// Each session has its own port, to which no other client connects.
    async fn accept(&self, (): &(), _: IpAddr, _: Way) -> io::Result<Stream> {
        self.patiently(async { Ok(ByteStream::accept(&self.host, self.data_port).await) })
            .await
            .map(Stream)
    }

    async fn connect(&self, _: SocketAddr, to: SocketAddr, _: Way) -> io::Result<Stream> {
        let connecting =
            async { ByteStream::connect(&self.host, to).await.map_err(io::Error::other) };
        self.patiently(connecting).await.map(Stream)
    }

    fn now_s(&self) -> u64 {
        (self.host.now() - Instant::ZERO).as_secs()
    }

    async fn patiently<T>(&self, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        let done = within(self.host.clock(), PATIENCE, work).await;
        done.unwrap_or_else(|| Err(ErrorKind::TimedOut.into()))
    }

    fn has_tls(&self) -> bool {
        false
    }

    fn is_tls(&self, _: &Stream) -> bool {
        false
    }

    async fn secure(&self, _: Stream) -> io::Result<Stream> {
        Err(ErrorKind::Unsupported.into())
    }

    fn admits(&self, _: &str, _: &str) -> bool {
        true
    }

    async fn delay(&self) {}

    async fn look(&self, path: &Names) -> io::Result<Found> {
        match self.ask(FileCall::Look { path: path.clone() }).await? {
            FileAnswer::Found(one) => Ok(found(one)),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }

    async fn list(&self, path: &Names) -> io::Result<Listing> {
        let mut all = Vec::new();
        loop {
            let after = all.last().map_or_else(String::new, |last: &Found| last.name.clone());
            let call = FileCall::List { path: path.clone(), after, most: LISTED };
            let FileAnswer::Listed(some) = self.ask(call).await? else {
                return Err(ErrorKind::InvalidData.into());
            };
            let is_last = some.len() < LISTED as usize;
            all.extend(some.into_iter().map(found));
            if is_last {
                return Ok(Box::new(all.into_iter().map(Ok)));
            }
        }
    }

    async fn open(&self, path: &Names) -> io::Result<Handle> {
        self.open_file(path, false, false).await.map(|(handle, _)| handle)
    }

    async fn open_to_write(&self, path: &Names, truncate: bool) -> io::Result<(Handle, u64)> {
        self.open_file(path, true, truncate).await
    }

    async fn read_at(&self, file: &Handle, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut data = Vec::new();
        let call = FileCall::Read { handle: *file, offset, count: into.len() as u32 };
        self.call(call, &mut data).await?;
        into[..data.len()].copy_from_slice(&data);
        Ok(data.len())
    }

    async fn write_all_at(&self, file: &Handle, data: &[u8], offset: u64) -> io::Result<()> {
        let mut data = data.to_vec();
        let call = FileCall::Write { handle: *file, offset, data: 0..data.len() };
        match self.call(call, &mut data).await? {
            FileAnswer::Written(count) if count as usize == data.len() => Ok(()),
            _ => Err(ErrorKind::WriteZero.into()),
        }
    }

    async fn close(&self, file: Handle, _is_whole: bool) -> io::Result<()> {
        self.ask(FileCall::Close { handle: file }).await.map(drop)
    }

    async fn remove_file(&self, path: &Names) -> io::Result<()> {
        self.ask(FileCall::Remove { path: path.clone() }).await.map(drop)
    }

    async fn make_directory(&self, path: &Names) -> io::Result<()> {
        self.ask(FileCall::MakeDirectory { path: path.clone() }).await.map(drop)
    }

    async fn remove_directory(&self, path: &Names) -> io::Result<()> {
        self.ask(FileCall::RemoveDirectory { path: path.clone() }).await.map(drop)
    }

    async fn rename(&self, from: &Names, to: &Names) -> io::Result<()> {
        self.ask(FileCall::Rename { from: from.clone(), to: to.clone() }).await.map(drop)
    }

    async fn change(&self, path: &Names, changes: &Changes) -> io::Result<()> {
        let modified_s = changes.modified_s;
        let call = FileCall::Change { path: path.clone(), modified_s, is_read_only: None };
        self.ask(call).await.map(drop)
    }
}
