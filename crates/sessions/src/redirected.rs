//! A session of a historic service: calls go through its redirector, messages through a port.
//!
//! All calls of a session belong to one task. Each poll moves the messages of all calls.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use lanlab_files as files;
use lanlab_files::fault::{during, shown};
use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, TcpAgreed, TransferCapabilities,
    is_name,
};
use lanlab_stack::redirector::{
    self, Call, CallId, Done, FileId, Reason, Redirector, RedirectorFacts, Refusal,
};
use lanlab_units::Clock;

use crate::MessagePort;
use crate::within::within;

/// Calls in flight when a whole file is transferred. Measured with Samba 4.17 on loopback.
const DEPTH: u16 = 8;
/// Further waits for a late call before the client gives up.
const MOST_LATE: u32 = 1_000;

#[derive(Debug, Clone, Default)]
pub struct Agreed {
    pub no_delay: Option<bool>,
    pub tcp: Option<TcpAgreed>,
}

#[derive(Debug)]
pub struct Redirected<R, P, K> {
    exchange: RefCell<Box<Exchange<R, P>>>,
    clock: K,
    facts: RedirectorFacts,
    /// Working directory, from the root of the share: empty, or ending with `/`.
    base: String,
    patience: Duration,
    waits_on: bool,
    late_calls: Cell<u32>,
    agreed: Agreed,
}

#[derive(Debug)]
pub struct File {
    id: FileId,
    path: String,
    /// Bytes in the file when it was opened, if it was opened for reading.
    size_bytes: Option<u64>,
}

#[derive(Debug)]
struct Exchange<R, P> {
    redirector: R,
    port: P,
    outgoing: Vec<u8>,
    is_sending: bool,
    incoming: Vec<u8>,
    data: Vec<u8>,
    ended: BTreeMap<CallId, (std::result::Result<Done, Refusal>, Vec<u8>)>,
    broken: Option<Fault>,
}

impl<R: Redirector, P: MessagePort> Exchange<R, P> {
    /// Send and receive until a call has ended. Data that the call read is then in `data`.
    fn poll(&mut self, cx: &mut Context<'_>, id: CallId) -> Poll<Result<Done>> {
        loop {
            if let Some((outcome, data)) = self.ended.remove(&id) {
                self.data = data;
                return Poll::Ready(outcome.map_err(|refusal| fault(&refusal)));
            }
            if let Some(outcome) = self.drain(id) {
                return Poll::Ready(outcome.map_err(|refusal| fault(&refusal)));
            }
            if let Some(fault) = &self.broken {
                return Poll::Ready(Err(fault.clone()));
            }
            match self.transfer(cx) {
                Ok(true) => {}
                Ok(false) => return Poll::Pending,
                Err(error) => {
                    self.broken = Some(Fault::of_connection(self.redirector.protocol(), &error));
                }
            }
        }
    }

    fn drain(&mut self, id: CallId) -> Option<std::result::Result<Done, Refusal>> {
        while let Some((ended, outcome)) = self.redirector.poll_done(&mut self.data) {
            if ended == id {
                return Some(outcome);
            }
            self.ended.insert(ended, (outcome, std::mem::take(&mut self.data)));
        }
        None
    }

    fn transfer(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        loop {
            if !self.is_sending {
                self.is_sending = self.redirector.poll_message(&mut self.outgoing);
            }
            if !self.is_sending {
                break;
            }
            match self.port.poll_send(cx, [&self.outgoing, &[]]) {
                Poll::Ready(sent) => sent?,
                Poll::Pending => break,
            }
            self.is_sending = false;
        }
        match self.port.poll_receive(cx, &mut self.incoming) {
            Poll::Ready(received) => received?,
            Poll::Pending => return Ok(false),
        }
        self.redirector.handle_message(&mut self.incoming);
        Ok(true)
    }
}

impl<R: Redirector, P: MessagePort, K: Clock> Redirected<R, P, K> {
    /// Wait until the session is established (the call `connected`), and check the directory.
    ///
    /// `patience` limits each call, by `clock`.
    pub async fn begin(
        redirector: R,
        connected: CallId,
        (port, agreed): (P, Agreed),
        (clock, patience): (K, Duration),
        directory: &str,
    ) -> Result<Self> {
        let mut exchange = Box::new(Exchange {
            redirector,
            port,
            outgoing: Vec::new(),
            is_sending: false,
            incoming: Vec::new(),
            data: Vec::new(),
            ended: BTreeMap::new(),
            broken: None,
        });
        let waited = within(&clock, patience, poll_fn(|cx| exchange.poll(cx, connected))).await;
        waited.unwrap_or_else(|| Err(Fault::late("login", patience)))?;
        let Some(facts) = exchange.redirector.facts().cloned() else {
            return Err(Fault::new(Class::Protocol, "a session without a dialect"));
        };
        let mut base = directory.trim_matches('/').to_owned();
        let looked = (!base.is_empty()).then(|| base.clone());
        if looked.is_some() {
            base.push('/');
        }
        let exchange = RefCell::new(exchange);
        let (waits_on, late_calls) = (false, Cell::new(0));
        let session = Self { exchange, clock, facts, base, patience, waits_on, late_calls, agreed };
        if let Some(path) = looked {
            let found = session.ask(Call::CheckDirectory { path: &path }).await;
            found.map_err(during("directory", directory))?;
        }
        Ok(session)
    }

    #[must_use]
    pub fn waiting_on(self, waits_on: bool) -> Self {
        Self { waits_on, ..self }
    }

    async fn ask(&self, call: Call<'_>) -> Result<Done> {
        let id = self.exchange.borrow_mut().redirector.call(call);
        let ended = poll_fn(|cx| self.exchange.borrow_mut().poll(cx, id));
        self.within_patience(ended).await
    }

    async fn within_patience<T>(&self, ended: impl Future<Output = Result<T>>) -> Result<T> {
        let mut ended = pin!(ended);
        for _ in 0..if self.waits_on { MOST_LATE } else { 1 } {
            if let Some(ended) = within(&self.clock, self.patience, ended.as_mut()).await {
                return ended;
            }
            self.late_calls.set(self.late_calls.get() + 1);
        }
        Err(Fault::late("call", self.patience))
    }

    async fn command(&self, call: Call<'_>) -> Result<()> {
        self.ask(call).await.map(drop)
    }

    fn path(&self, path: &ServicePath) -> String {
        format!("{}{}", self.base, path.as_str())
    }

    async fn open_file(&self, path: &ServicePath, access: Access) -> Result<File> {
        let (access, to_read) = match access {
            Access::Read => (redirector::Access::Read, true),
            Access::Update => (redirector::Access::Update, false),
            Access::Create { .. } => (redirector::Access::Create, false),
            Access::Replace { .. } => (redirector::Access::Replace, false),
        };
        match self.ask(Call::Open { path: &self.path(path), access }).await? {
            Done::Opened { file, size_bytes } => {
                let size_bytes = to_read.then_some(size_bytes);
                Ok(File { id: file, path: path.as_str().to_owned(), size_bytes })
            }
            other => Err(unexpected(&other)),
        }
    }

    async fn read(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let count = buffer.len().min(self.facts.read_bytes as usize);
        let id = {
            let call = Call::Read { file: file.id, offset, count: count as u32 };
            self.exchange.borrow_mut().redirector.call(call)
        };
        let read = poll_fn(|cx| {
            let exchange = &mut **self.exchange.borrow_mut();
            exchange.poll(cx, id).map(|ended| match ended? {
                // Copied at once, because the next polled call may reuse the memory.
                Done::Read(range) => {
                    let data = &exchange.data[range];
                    buffer[..data.len()].copy_from_slice(data);
                    Ok(data.len())
                }
                other => Err(unexpected(&other)),
            })
        });
        let read = self.within_patience(read).await?;
        match file.size_bytes {
            Some(size_bytes) if read == 0 && count > 0 && offset < size_bytes => {
                let message = format!("nothing at {offset} of a file of {size_bytes} octets");
                Err(Fault::new(Class::Length, message))
            }
            _ => Ok(read),
        }
    }

    async fn write(&self, file: &File, mut offset: u64, mut parts: [&[u8]; 2]) -> Result<()> {
        while !(parts[0].is_empty() && parts[1].is_empty()) {
            match self.ask(Call::Write { file: file.id, offset, parts }).await? {
                Done::Written(count) => {
                    offset += u64::from(count);
                    let first = parts[0].len().min(count as usize);
                    parts = [&parts[0][first..], &parts[1][count as usize - first..]];
                }
                other => return Err(unexpected(&other)),
            }
        }
        Ok(())
    }

    async fn entries(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let path = match path {
            Some(path) => self.path(path),
            None => self.base.trim_end_matches('/').to_owned(),
        };
        match self.ask(Call::List { path: &path }).await? {
            Done::Listed(listed) => {
                let names = listed.into_iter().filter(|entry| is_name(&entry.name));
                Ok(names
                    .map(|entry| Entry {
                        name: entry.name,
                        size_bytes: entry.size_bytes,
                        is_directory: entry.is_directory,
                    })
                    .collect())
            }
            other => Err(unexpected(&other)),
        }
    }
}

impl<R: Redirector, P: MessagePort, K: Clock> files::Session for Redirected<R, P, K> {
    type File = File;

    fn capabilities(&self) -> TransferCapabilities {
        let block_bytes = self.facts.read_bytes.min(self.facts.write_bytes);
        TransferCapabilities::calls(block_bytes, self.facts.depth.min(DEPTH))
    }

    fn one_way_capabilities(&self, reads: bool) -> TransferCapabilities {
        let block_bytes = if reads { self.facts.read_bytes } else { self.facts.write_bytes };
        TransferCapabilities { block_bytes, ..self.capabilities() }
    }

    fn facts(&self) -> Facts {
        Facts {
            protocol: self.facts.protocol.clone(),
            protection: self.facts.protection.clone(),
            server: self.facts.server.clone(),
            no_delay: self.agreed.no_delay,
            tcp: self.agreed.tcp,
        }
    }

    fn late_calls(&self) -> u32 {
        if self.waits_on { self.late_calls.get() } else { 0 }
    }

    fn largest_file_bytes(&self) -> u64 {
        self.facts.largest_file_bytes
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        self.open_file(path, access).await.map_err(during("open", path.as_str()))
    }

    async fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.read(file, offset, buffer).await.map_err(during("read", &file.path))
    }

    async fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> Result<()> {
        self.write(file, offset, [data, &[]]).await.map_err(during("write", &file.path))
    }

    async fn write_parts_at(&self, file: &File, offset: u64, parts: [&[u8]; 2]) -> Result<()> {
        self.write(file, offset, parts).await.map_err(during("write", &file.path))
    }

    async fn sync(&self, file: &File) -> Result<()> {
        let flushed = self.command(Call::Flush { file: file.id }).await;
        flushed.map_err(during("sync", &file.path))
    }

    async fn close(&self, file: File) -> Result<()> {
        let closed = self.command(Call::Close { file: file.id }).await;
        closed.map_err(during("close", &file.path))
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        let removed = self.command(Call::Remove { path: &self.path(path) }).await;
        removed.map_err(during("remove", path.as_str()))
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        self.entries(path).await.map_err(during("list", shown(path)))
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        let made = self.command(Call::MakeDirectory { path: &self.path(path) }).await;
        made.map_err(during("make directory", path.as_str()))
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        let removed = self.command(Call::RemoveDirectory { path: &self.path(path) }).await;
        removed.map_err(during("remove directory", path.as_str()))
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let found = self.ask(Call::Stat { path: &self.path(path) }).await;
        let found = found.and_then(|done| match done {
            Done::Found { size_bytes, is_directory } => {
                Ok(Entry { name: path.name().to_owned(), size_bytes, is_directory })
            }
            other => Err(unexpected(&other)),
        });
        found.map_err(during("stat", path.as_str()))
    }

    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        let (old, new) = (self.path(from), self.path(to));
        let renamed = self.command(Call::Rename { from: &old, to: &new }).await;
        renamed.map_err(during("rename", from.as_str()))
    }

    async fn end(self) -> Result<()> {
        // The handle ends with its connection anyway.
        let _ = self.command(Call::End).await;
        Ok(())
    }
}

fn unexpected(done: &Done) -> Fault {
    Fault::new(Class::Protocol, format!("found {done:?}"))
}

fn fault(refusal: &Refusal) -> Fault {
    let class = match refusal.reason {
        Reason::Missing => Class::Missing,
        Reason::Exists => Class::Exists,
        Reason::Denied => Class::Denied,
        Reason::Login => Class::Login,
        Reason::NoSpace => Class::NoSpace,
        Reason::Name => Class::Name,
        Reason::Unsupported => Class::Unsupported,
        Reason::Protocol => Class::Protocol,
    };
    let fault = Fault::new(class, refusal.message.clone());
    match &refusal.hint {
        Some(hint) => fault.hint(hint.clone()),
        None if class == Class::Login => fault.wrong_login(),
        None => fault,
    }
}
