//! A file server in virtual time: it serves one call after another, first come first served.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Session, TransferCapabilities,
};
use lanlab_units::{Clock, Instant};
use lanlab_workloads::dataset::mix;
use lanlab_workloads::stations::Connector;
use lanlab_workloads::virtual_time::VirtualTime;

/// How long a call takes at the server: 2 ms and 1 µs a byte.
pub fn service_ns(bytes: usize) -> u64 {
    2_000_000 + 1_000 * bytes as u64
}

/// How service times vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Not at all.
    Fixed,
    /// Exponentially, with the fixed one as their mean.
    Exponential,
}

/// What goes wrong at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fails {
    Never,
    /// Every this many calls the connection is reset.
    ResetsEvery(u64),
    /// From this call on nothing is answered until a time-out of one second.
    SilentFrom(u64),
    /// From this call on connections are reset and refused.
    DeadFrom(u64),
    /// No client can connect before this time.
    StartsAt(Instant),
    /// Every this many reads one bit is wrong.
    CorruptsEvery(u64),
    /// From this call on nothing is allowed: a denial takes [`DENIAL_NS`].
    DeniesFrom(u64),
    /// Each call whose number is a multiple of this is not allowed.
    DeniesEvery(u64),
    /// A read gives half of what is asked for, rounded up; from this call on it gives one byte more
    /// than that.
    AnswersTooMuchFrom(u64),
}

pub const DENIAL_NS: u64 = 100_000;
/// Time after which a call without an answer fails.
pub const TIMEOUT_NS: u64 = 1_000_000_000;

#[derive(Clone)]
pub struct Server(Rc<Inner>);

struct Inner {
    time: VirtualTime,
    free_at: Cell<Instant>,
    service: Service,
    random: Cell<u64>,
    fails: Fails,
    calls: Cell<u64>,
    connects: Cell<u64>,
    files: RefCell<BTreeMap<String, Vec<u8>>>,
    in_order: bool,
}

impl Server {
    pub fn new(time: &VirtualTime, service: Service, fails: Fails, seed: u64) -> Self {
        Self::with_order(time, service, fails, seed, false)
    }

    /// With files that are one stream each, if `in_order`.
    pub fn with_order(
        time: &VirtualTime,
        service: Service,
        fails: Fails,
        seed: u64,
        in_order: bool,
    ) -> Self {
        Self(Rc::new(Inner {
            time: time.clone(),
            free_at: Cell::new(Instant::ZERO),
            service,
            random: Cell::new(seed),
            fails,
            calls: Cell::new(0),
            connects: Cell::new(0),
            files: RefCell::default(),
            in_order,
        }))
    }

    pub fn put(&self, path: &str, content: Vec<u8>) {
        self.0.files.borrow_mut().insert(path.to_owned(), content);
    }

    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        self.0.files.borrow().get(path).cloned()
    }

    pub fn connects(&self) -> u64 {
        self.0.connects.get()
    }

    /// A connection, which takes a call of no bytes.
    pub async fn connect(&self) -> Result<ServerSession> {
        let inner = &self.0;
        inner.connects.set(inner.connects.get() + 1);
        let is_down = match inner.fails {
            Fails::DeadFrom(call) => inner.calls.get() >= call,
            Fails::StartsAt(at) => inner.time.now() < at,
            _ => false,
        };
        if is_down {
            inner.time.sleep_ns(100_000).await;
            return Err(Fault::new(Class::Refused, "connect: refused"));
        }
        inner.time.sleep_ns(service_ns(0)).await;
        Ok(ServerSession { server: self.clone(), is_broken: Cell::new(false) })
    }

    /// The next number, evenly from 0 to below 1.
    fn random(&self) -> f64 {
        let next = self.0.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.random.set(next);
        (mix(next) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Wait in the queue, and for the service.
    async fn serve(&self, bytes: usize) {
        let inner = &self.0;
        let mean_ns = service_ns(bytes);
        let service_ns = match inner.service {
            Service::Fixed => mean_ns,
            Service::Exponential => (-(1.0 - self.random()).ln() * mean_ns as f64) as u64,
        };
        let done_at = inner.free_at.get().max(inner.time.now()).plus_nanos(service_ns);
        inner.free_at.set(done_at);
        inner.time.sleep_until(done_at).await;
    }
}

impl Connector for Server {
    type Session = ServerSession;

    async fn connect(&self, _station: u32) -> Result<ServerSession> {
        Server::connect(self).await
    }
}

pub struct ServerSession {
    server: Server,
    is_broken: Cell<bool>,
}

impl ServerSession {
    /// One call: what goes wrong with it, or its time at the server. Gives its number.
    async fn call(&self, bytes: usize) -> Result<u64> {
        let inner = &self.server.0;
        let number = inner.calls.get() + 1;
        inner.calls.set(number);
        let reset = || Err(Fault::new(Class::Reset, "reset by the server"));
        if self.is_broken.get() {
            return reset();
        }
        match inner.fails {
            Fails::ResetsEvery(calls) if number.is_multiple_of(calls) => {
                self.is_broken.set(true);
                reset()
            }
            Fails::DeadFrom(call) if number >= call => reset(),
            Fails::DeniesFrom(call) if number >= call => self.deny().await,
            Fails::DeniesEvery(calls) if number.is_multiple_of(calls) => self.deny().await,
            Fails::SilentFrom(call) if number >= call => {
                inner.time.sleep_ns(TIMEOUT_NS).await;
                Err(Fault::new(Class::TimedOut, "no answer within 1 s"))
            }
            _ => {
                self.server.serve(bytes).await;
                Ok(number)
            }
        }
    }

    async fn deny(&self) -> Result<u64> {
        self.server.0.time.sleep_ns(DENIAL_NS).await;
        Err(Fault::new(Class::Denied, "not allowed"))
    }
}

impl Session for ServerSession {
    type File = String;

    fn capabilities(&self) -> TransferCapabilities {
        TransferCapabilities {
            in_order: self.server.0.in_order,
            block_bytes: 4096,
            depth: if self.server.0.in_order { 1 } else { 4 },
            blocking: true,
            can_update: true,
            can_create: true,
        }
    }

    fn facts(&self) -> Facts {
        let none = || "none".to_owned();
        Facts {
            protocol: "model".to_owned(),
            protection: none(),
            server: None,
            no_delay: None,
            tcp: None,
        }
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<String> {
        self.call(0).await?;
        let mut files = self.server.0.files.borrow_mut();
        let is_there = files.contains_key(path.as_str());
        match access {
            Access::Read | Access::Update if !is_there => {
                return Err(Fault::new(Class::Missing, format!("open `{path}`: missing")));
            }
            Access::Create { .. } if is_there => {
                return Err(Fault::new(Class::Exists, format!("open `{path}`: it is there")));
            }
            Access::Read | Access::Update => {}
            Access::Create { .. } | Access::Replace { .. } => {
                files.insert(path.as_str().to_owned(), Vec::new());
            }
        }
        Ok(path.as_str().to_owned())
    }

    async fn read_at(&self, file: &String, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let number = self.call(buffer.len()).await?;
        let files = self.server.0.files.borrow();
        let content = &files[file];
        let from = (offset as usize).min(content.len());
        let mut count = buffer.len().min(content.len() - from);
        if let Fails::AnswersTooMuchFrom(call) = self.server.0.fails {
            if number >= call {
                return Ok(buffer.len() + 1);
            }
            count = count.div_ceil(2);
        }
        buffer[..count].copy_from_slice(&content[from..from + count]);
        if let Fails::CorruptsEvery(reads) = self.server.0.fails
            && number.is_multiple_of(reads)
            && count > 0
        {
            buffer[count / 2] ^= 4;
        }
        Ok(count)
    }

    async fn write_at(&self, file: &String, offset: u64, data: &[u8]) -> Result<()> {
        self.call(data.len()).await?;
        let mut files = self.server.0.files.borrow_mut();
        let content = files.get_mut(file).expect("it was opened");
        let end = offset as usize + data.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        content[offset as usize..end].copy_from_slice(data);
        Ok(())
    }

    async fn sync(&self, _file: &String) -> Result<()> {
        self.call(0).await.map(drop)
    }

    async fn close(&self, _file: String) -> Result<()> {
        self.call(0).await.map(drop)
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        self.call(0).await?;
        match self.server.0.files.borrow_mut().remove(path.as_str()) {
            Some(_) => Ok(()),
            None => Err(Fault::new(Class::Missing, format!("remove `{path}`: missing"))),
        }
    }

    async fn list(&self, _path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        Err(Fault::new(Class::Unsupported, "list: not in this model"))
    }

    async fn make_directory(&self, _path: &ServicePath) -> Result<()> {
        self.call(0).await.map(drop)
    }

    async fn remove_directory(&self, _path: &ServicePath) -> Result<()> {
        self.call(0).await.map(drop)
    }

    async fn end(self) -> Result<()> {
        Ok(())
    }
}
