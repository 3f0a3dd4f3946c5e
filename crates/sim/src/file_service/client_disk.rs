//! The disk of a client: data to send is first read from it, and received data is written to it.

use std::cell::Cell;
use std::rc::Rc;

use lanlab_files::{Access, Entry, Facts, Result, ServicePath, Session, TransferCapabilities};

use super::store::Store;

#[derive(Clone)]
pub struct ClientDisk {
    store: Store,
    files: Rc<Cell<u64>>,
}

impl ClientDisk {
    pub fn new(store: Store) -> Self {
        Self { store, files: Rc::default() }
    }

    fn next_file(&self) -> u64 {
        self.files.set(self.files.get() + 1);
        self.files.get()
    }
}

pub struct WithDisk<S> {
    session: S,
    disk: Option<ClientDisk>,
}

impl<S> WithDisk<S> {
    /// A session and the client's disk; without a disk, its files are in memory.
    pub const fn new(session: S, disk: Option<ClientDisk>) -> Self {
        Self { session, disk }
    }
}

pub struct File<F> {
    file: F,
    local: Option<Local>,
}

struct Local {
    store: Store,
    number: u64,
    /// Length of a file to send, bytes; absent: the file is received.
    size_bytes: Option<u64>,
}

impl<S: Session> Session for WithDisk<S> {
    type File = File<S::File>;

    fn capabilities(&self) -> TransferCapabilities {
        self.session.capabilities()
    }

    fn facts(&self) -> Facts {
        self.session.facts()
    }

    fn largest_file_bytes(&self) -> u64 {
        self.session.largest_file_bytes()
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<Self::File> {
        let size_bytes = match access {
            Access::Create { size_bytes } | Access::Replace { size_bytes } => Some(size_bytes),
            Access::Read | Access::Update => None,
        };
        let has_local = access != Access::Update;
        let local = self.disk.as_ref().filter(|_| has_local).map(|disk| Local {
            store: disk.store.clone(),
            number: disk.next_file(),
            size_bytes,
        });
        if let Some(local) = &local {
            local.store.open(size_bytes.is_none()).await;
        }
        let file = self.session.open(path, access).await?;
        Ok(File { file, local })
    }

    async fn read_at(&self, file: &Self::File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let count = self.session.read_at(&file.file, offset, buffer).await?;
        if let Some(local) = &file.local {
            local.store.write(0, local.number, offset, count as u64).await;
        }
        Ok(count)
    }

    async fn write_at(&self, file: &Self::File, offset: u64, data: &[u8]) -> Result<()> {
        if let Some(Local { store, number, size_bytes: Some(size_bytes) }) = &file.local {
            store.read(0, *number, *size_bytes, offset, data.len() as u64).await;
        }
        self.session.write_at(&file.file, offset, data).await
    }

    async fn sync(&self, file: &Self::File) -> Result<()> {
        self.session.sync(&file.file).await
    }

    async fn close(&self, file: Self::File) -> Result<()> {
        self.session.close(file.file).await?;
        if let Some(local) = &file.local {
            local.store.close(local.size_bytes.is_none()).await;
        }
        Ok(())
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        self.session.remove(path).await
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        self.session.list(path).await
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        self.session.make_directory(path).await
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        self.session.remove_directory(path).await
    }

    async fn end(self) -> Result<()> {
        self.session.end().await
    }
}
