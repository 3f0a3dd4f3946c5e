//! FTP (RFC 959), optionally with TLS on both connections (RFC 4217).
//!
//! A session is one control connection. It transfers one file at a time, in binary, over a new data
//! connection to the server's own address. The commands of a transfer are sent in one segment
//! unless a reply decides about the next: servers read line by line, and wait for the data
//! connection.

pub mod control;
mod data;
pub mod listing;
pub mod login;
mod network;
pub mod reply;
mod transfer;
mod unix_listing;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use lanlab_files as files;
use lanlab_files::{Access, Class, Entry, Facts, Fault, Result, ServicePath, TransferCapabilities};
use tokio::sync::Mutex;

use control::Control;
use data::{Asked, DataConnections};
use reply::Reply;
use transfer::Transfer;

pub use login::{begin, connect};
pub use network::{Network, Sockets};

/// Bytes per call when a whole file is transferred: enough that the call itself costs nothing.
const BLOCK_BYTES: u32 = 1 << 18;

const MAX_LISTING_OCTETS: usize = 1 << 26;

#[derive(Debug)]
pub struct Session<N: Network = Sockets> {
    control: Mutex<Control<N>>,
    data: DataConnections<N>,
    facts: Facts,
    abilities: Abilities,
    has_mlsd: AtomicBool,
    base: String,
}

/// The server's features (RFC 2389).
#[derive(Debug, Clone, Copy, Default)]
struct Abilities {
    size: bool,
    mlsd: bool,
    utf8: bool,
}

#[derive(Debug)]
pub struct File<N: Network = Sockets> {
    path: ServicePath,
    transfer: Mutex<Transfer<N>>,
    access: Access,
}

impl<N: Network> Session<N> {
    fn command(verb: &str, path: &ServicePath) -> String {
        format!("{verb} {path}")
    }

    /// Request a data connection in one segment with other commands: SIZE before it and, with
    /// `at_once`, the transfer after it. Returns the size and the reply to the request.
    async fn ask_for_port(
        &self,
        control: &mut Control<N>,
        what: &str,
        sized: Option<&ServicePath>,
        at_once: bool,
    ) -> Result<(Option<u64>, Reply)> {
        let size = sized.filter(|_| self.abilities.size).map(|path| Self::command("SIZE", path));
        let mut commands: Vec<&str> = size.as_deref().into_iter().collect();
        commands.push(self.data.command());
        commands.extend(at_once.then_some(what));
        control.send(what, &commands).await?;
        let mut size_bytes = None;
        if size.is_some() {
            let said = control.reply(what).await?;
            size_bytes = said.is_done().then(|| said.words().trim().parse().ok()).flatten();
        }
        Ok((size_bytes, control.reply(what).await?))
    }

    /// Where to open the data connection, and the size of a file, if requested.
    async fn prepare(
        &self,
        control: &mut Control<N>,
        what: &str,
        sized: Option<&ServicePath>,
    ) -> Result<(Option<u64>, SocketAddr)> {
        let (size_bytes, port) = self.ask_for_port(control, what, sized, false).await?;
        Ok((size_bytes, self.data.peer(control, what, port).await?))
    }

    /// Start a transfer with all its commands in one segment, which saves a round trip each. The
    /// server must already have shown which data connection command it supports.
    async fn begin_at_once(
        &self,
        control: &mut Control<N>,
        what: &str,
        sized: Option<&ServicePath>,
        may_begin: bool,
    ) -> Result<Transfer<N>> {
        let (length, port) = self.ask_for_port(control, what, sized, true).await?;
        if !port.is_done() {
            // Nothing is transferred then; the server's next reply, if any, says so.
            let _ = control.reply(what).await;
            return Err(port.fault(&format!("{what}: {}", self.data.command()), Class::Protocol));
        }
        let peer = self.data.peer(control, what, port).await?;
        self.data.begin(control, what, peer, Asked::Already, length, may_begin).await
    }

    async fn directory_is_there(
        &self,
        control: &mut Control<N>,
        path: &ServicePath,
    ) -> Result<bool> {
        let command = Self::command("CWD", path);
        if !control.ask(&command, &command).await?.is_done() {
            return Ok(false);
        }
        self.go_back(control).await?;
        Ok(true)
    }

    async fn go_back(&self, control: &mut Control<N>) -> Result<()> {
        let command = format!("CWD {}", self.base);
        control.demand(&command, &command, Class::Missing).await.map(drop)
    }

    /// Run a command on a directory. If the error text does not say why it failed, check whether
    /// the directory exists.
    async fn with_directory(&self, verb: &str, path: &ServicePath) -> Result<()> {
        let what = Self::command(verb, path);
        let mut control = self.control.lock().await;
        let reply = control.ask(&what, &what).await?;
        if reply.is_done() {
            return Ok(());
        }
        let fault = reply.fault(&what, Class::Missing);
        if !matches!(fault.class, Class::Missing | Class::Protocol) {
            return Err(fault);
        }
        let class = if self.directory_is_there(&mut control, path).await? {
            Class::Exists
        } else {
            Class::Missing
        };
        Err(Fault { class, ..fault })
    }

    async fn read_listing(&self, control: &mut Control<N>, command: &str) -> Result<String> {
        let (_, peer) = self.prepare(control, command, None).await?;
        let mut transfer =
            self.data.begin(control, command, peer, Asked::Meanwhile, None, false).await?;
        let octets = transfer.read_to_end(control, command, MAX_LISTING_OCTETS).await?;
        // Names that are not UTF-8 are not ours; they are listed but cannot be opened.
        Ok(String::from_utf8_lossy(&octets).into_owned())
    }
}

impl<N: Network> files::Session for Session<N> {
    type File = File<N>;

    fn capabilities(&self) -> TransferCapabilities {
        TransferCapabilities::stream(BLOCK_BYTES, false)
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File<N>> {
        let verb = match access {
            Access::Read => "RETR",
            Access::Create { .. } | Access::Replace { .. } => "STOR",
            Access::Update => {
                let message = format!("open {path}: FTP cannot write in what is there");
                return Err(Fault::new(Class::Unsupported, message));
            }
        };
        let what = Self::command(verb, path);
        let mut control = self.control.lock().await;
        let (reads, creates) = (access == Access::Read, matches!(access, Access::Create { .. }));
        let sized = (reads || creates).then_some(path);
        // STOR replaces existing files (RFC 959, section 4.1.3), so check first when creating.
        let transfer = if self.data.have_worked() && !creates {
            self.begin_at_once(&mut control, &what, sized, !reads).await?
        } else {
            let (size_bytes, peer) = self.prepare(&mut control, &what, sized).await?;
            if creates && size_bytes.is_some() {
                return Err(Fault::new(Class::Exists, format!("{what}: it is there already")));
            }
            let length = size_bytes.filter(|_| reads);
            self.data.begin(&mut control, &what, peer, Asked::Meanwhile, length, !reads).await?
        };
        Ok(File { path: path.clone(), transfer: Mutex::new(transfer), access })
    }

    async fn read_at(&self, file: &File<N>, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let what = Self::command("RETR", &file.path);
        if file.access != Access::Read {
            return Err(Fault::new(Class::Unsupported, format!("{what}: it is open for writing")));
        }
        let mut transfer = file.transfer.lock().await;
        let mut control = self.control.lock().await;
        if offset != transfer.position {
            let length = transfer.length;
            transfer.give_up(&mut control, &what).await?;
            let (_, peer) = self.prepare(&mut control, &what, None).await?;
            let restart = format!("REST {offset}");
            let reply = control.ask(&what, &restart).await?;
            if reply.code != 350 {
                return Err(reply.fault(&format!("{what}, {restart}"), Class::Unsupported));
            }
            *transfer =
                self.data.begin(&mut control, &what, peer, Asked::Meanwhile, length, false).await?;
            transfer.position = offset;
        }
        transfer.read(&mut control, &what, buffer).await
    }

    async fn write_at(&self, file: &File<N>, offset: u64, data: &[u8]) -> Result<()> {
        let what = Self::command("STOR", &file.path);
        let mut transfer = file.transfer.lock().await;
        if file.access == Access::Read || offset != transfer.position {
            let message = format!("{what}: found offset {offset}; allowed: {}", transfer.position);
            return Err(Fault::new(Class::Unsupported, message)
                .hint("over FTP a new file is written from its beginning, in order"));
        }
        let mut control = self.control.lock().await;
        transfer.write(&mut control, &what, data).await
    }

    async fn sync(&self, file: &File<N>) -> Result<()> {
        let message = format!("sync {}: FTP has no word for that", file.path);
        Err(Fault::new(Class::Unsupported, message))
    }

    async fn close(&self, file: File<N>) -> Result<()> {
        let mut transfer = file.transfer.into_inner();
        let mut control = self.control.lock().await;
        if file.access == Access::Read {
            let what = Self::command("RETR", &file.path);
            transfer.end_reading(&mut control, &what).await
        } else {
            let what = Self::command("STOR", &file.path);
            transfer.end_writing(&mut control, &what).await
        }
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        let command = Self::command("DELE", path);
        self.control.lock().await.demand(&command, &command, Class::Missing).await.map(drop)
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let mut control = self.control.lock().await;
        if self.has_mlsd.load(Ordering::Relaxed) {
            let command =
                path.map_or_else(|| "MLSD".to_owned(), |path| Self::command("MLSD", path));
            match self.read_listing(&mut control, &command).await {
                // A server with MLST may lack MLSD. After other errors, try LIST, which repeats a
                // real one.
                Err(fault) if fault.class == Class::Unsupported => {
                    self.has_mlsd.store(false, Ordering::Relaxed);
                }
                Err(fault) if !fault.class.is_passing() => {}
                text => return listing::mlsd(&text?),
            }
        }
        // Servers may take a path after LIST for options or a pattern, so none is sent.
        if let Some(path) = path {
            let command = Self::command("CWD", path);
            control.demand(&command, &command, Class::Missing).await?;
        }
        let text = self.read_listing(&mut control, "LIST").await;
        if path.is_some() {
            self.go_back(&mut control).await?;
        }
        match text {
            // Some servers reply this for an empty directory.
            Err(fault) if fault.message.to_lowercase().contains("no files") => Ok(Vec::new()),
            text => listing::list(&text?),
        }
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        self.with_directory("MKD", path).await
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        self.with_directory("RMD", path).await
    }

    /// SIZE (RFC 3659, section 4), which does not work for directories.
    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let what = Self::command("SIZE", path);
        if !self.abilities.size {
            let message = format!("{what}: this FTP server has no SIZE");
            return Err(Fault::new(Class::Unsupported, message));
        }
        let said = self.control.lock().await.demand(&what, &what, Class::Missing).await?;
        let size_bytes = said.words().trim().parse().map_err(|_| {
            let message = format!("{what}: found `{}`; allowed: a size", said.words());
            Fault::new(Class::Protocol, message)
        })?;
        Ok(Entry { name: path.name().to_owned(), size_bytes, is_directory: false })
    }

    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        let (from, to) = (Self::command("RNFR", from), Self::command("RNTO", to));
        let mut control = self.control.lock().await;
        let reply = control.ask(&from, &from).await?;
        if reply.code != 350 {
            return Err(reply.fault(&from, Class::Missing));
        }
        control.demand(&to, &to, Class::Exists).await.map(drop)
    }

    async fn end(self) -> Result<()> {
        let mut control = self.control.into_inner();
        // Everything was confirmed before, so any reply or close is fine.
        let _ = control.ask("QUIT", "QUIT").await;
        let _ = control.shutdown().await;
        Ok(())
    }
}
