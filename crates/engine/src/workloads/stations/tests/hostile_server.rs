//! A server with one kind of misbehaviour.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use lanlab_clients::{AnyFile, AnySession, connect};
use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Session, Target, TransferCapabilities,
};
use lanlab_workloads::stations::Connector;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malice {
    None,
    WrongBlock,
    Stale,
    Corrupt,
    Short,
    Resets,
    /// Never answers from the tenth call on.
    Silent,
    Dies,
    Reluctant,
    Full,
    Slow,
    /// Never answers connection attempts.
    Deaf,
}

#[derive(Debug, Default)]
pub struct Memory {
    pub calls: AtomicU64,
    pub connects: AtomicU64,
    pub open: AtomicU32,
    pub most_open: AtomicU32,
}

#[derive(Debug, Clone)]
pub struct Hostile {
    pub target: Target,
    pub malice: Malice,
    pub memory: Arc<Memory>,
}

impl Connector for Hostile {
    type Session = Sly;

    async fn connect(&self, station: u32) -> Result<Sly> {
        let before = self.memory.connects.fetch_add(1, Ordering::Relaxed);
        let is_dead = self.memory.calls.load(Ordering::Relaxed) >= 9;
        let refuses = match self.malice {
            Malice::Dies => is_dead,
            Malice::Reluctant => before < 3,
            _ => false,
        };
        if refuses {
            return Err(Fault::new(Class::Refused, "connect: refused"));
        }
        let open = self.memory.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.memory.most_open.fetch_max(open, Ordering::Relaxed);
        let pause_ms = match self.malice {
            Malice::Slow => 200,
            Malice::Deaf => 3_600_000,
            _ => 1,
        };
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        self.memory.open.fetch_sub(1, Ordering::Relaxed);
        let inner = connect(&self.target).await?;
        let (malice, memory) = (self.malice, Arc::clone(&self.memory));
        Ok(Sly { inner, malice, memory, station, calls: Cell::new(0) })
    }
}

pub struct Sly {
    inner: AnySession,
    malice: Malice,
    memory: Arc<Memory>,
    station: u32,
    calls: Cell<u64>,
}

impl Sly {
    async fn begin(&self) -> Result<u64> {
        let own = self.calls.get() + 1;
        self.calls.set(own);
        let all = self.memory.calls.fetch_add(1, Ordering::Relaxed) + 1;
        match self.malice {
            Malice::Resets if own >= 10 => Err(Fault::new(Class::Reset, "reset by the server")),
            Malice::Dies if all >= 9 => Err(Fault::new(Class::Reset, "reset by the server")),
            Malice::Silent if own >= 10 => {
                tokio::time::sleep(Duration::from_millis(30)).await;
                Err(Fault::new(Class::TimedOut, "no answer"))
            }
            Malice::Full => Err(Fault::new(Class::NoSpace, "no space left")),
            _ => Ok(own),
        }
    }
}

impl Session for Sly {
    type File = AnyFile;

    fn capabilities(&self) -> TransferCapabilities {
        self.inner.capabilities()
    }

    fn facts(&self) -> Facts {
        self.inner.facts()
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<AnyFile> {
        assert!(path.as_str().ends_with(&format!("s{:05}.dat", self.station)));
        self.inner.open(path, access).await
    }

    async fn read_at(&self, file: &AnyFile, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let calls = self.begin().await?;
        let block = buffer.len() as u64;
        match self.malice {
            Malice::WrongBlock if calls >= 10 => {
                let other = (offset + block) % (100 * block);
                self.inner.read_at(file, other, buffer).await
            }
            Malice::Short if offset.is_multiple_of(750) => {
                self.inner.read_at(file, offset, &mut buffer[..375]).await
            }
            Malice::Short => Ok(0),
            Malice::Corrupt => {
                let count = self.inner.read_at(file, offset, buffer).await?;
                buffer[count / 2] ^= 4;
                Ok(count)
            }
            _ => self.inner.read_at(file, offset, buffer).await,
        }
    }

    async fn write_at(&self, file: &AnyFile, offset: u64, data: &[u8]) -> Result<()> {
        self.begin().await?;
        if self.malice == Malice::Stale {
            return Ok(());
        }
        self.inner.write_at(file, offset, data).await
    }

    async fn sync(&self, file: &AnyFile) -> Result<()> {
        self.inner.sync(file).await
    }

    async fn close(&self, file: AnyFile) -> Result<()> {
        self.inner.close(file).await
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        self.inner.remove(path).await
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        self.inner.list(path).await
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        self.inner.make_directory(path).await
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        self.inner.remove_directory(path).await
    }

    async fn end(self) -> Result<()> {
        self.inner.end().await
    }
}
