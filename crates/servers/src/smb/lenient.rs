//! Behaviour of Windows and Samba that the crate lacks.
//!
//! Clients with `FILE_WRITE_DATA` but not `FILE_APPEND_DATA`, such as impacket and smbprotocol, may extend files;
//! the crate refuses writes beyond the end. Reads in SMB 2.0.2 are limited to 64 KiB: the crate offers as much as
//! in later dialects, and pysmb cannot parse a longer reply.

use async_trait::async_trait;
use smb_server::{
    BackendCapabilities, Bytes, DirEntry, FileInfo, FileTimes, Handle, OpenAction, OpenIntent,
    OpenOptions, ShareBackend, SmbPath, SmbResult, VolumeInfo,
};

use super::traces;

/// Read limit in SMB 2.0.2, which has no multi-credit calls.
const OLDEST_READ_BYTES: u32 = 1 << 16;

pub struct Lenient<B>(pub B);

#[async_trait]
impl<B: ShareBackend> ShareBackend for Lenient<B> {
    async fn open(
        &self,
        path: &SmbPath,
        options: OpenOptions,
    ) -> SmbResult<(Box<dyn Handle>, OpenAction)> {
        let (handle, action) = self.0.open(path, options).await?;
        // Creating or truncating a file implies writing data; opening one may mean appending only.
        let grows = options.write
            && !options.directory
            && !matches!(options.intent, OpenIntent::Open | OpenIntent::OpenOrCreate);
        Ok((Box::new(Opened { handle, grows }), action))
    }

    async fn unlink(&self, path: &SmbPath) -> SmbResult<()> {
        self.0.unlink(path).await
    }

    async fn rename(&self, from: &SmbPath, to: &SmbPath, replace: bool) -> SmbResult<()> {
        self.0.rename(from, to, replace).await
    }

    fn capabilities(&self) -> BackendCapabilities {
        self.0.capabilities()
    }

    async fn volume_info(&self) -> SmbResult<VolumeInfo> {
        self.0.volume_info().await
    }
}

struct Opened {
    handle: Box<dyn Handle>,
    grows: bool,
}

#[async_trait]
impl Handle for Opened {
    async fn stat(&self) -> SmbResult<FileInfo> {
        let mut found = self.handle.stat().await?;
        if self.grows && traces::is_writing() {
            found.end_of_file = u64::MAX;
        }
        Ok(found)
    }

    async fn read(&self, offset: u64, len: u32) -> SmbResult<Bytes> {
        let most = if traces::is_oldest_dialect() { OLDEST_READ_BYTES } else { len };
        self.handle.read(offset, len.min(most)).await
    }

    async fn write(&self, offset: u64, data: &[u8]) -> SmbResult<u32> {
        self.handle.write(offset, data).await
    }

    async fn write_owned(&self, offset: u64, data: Vec<u8>) -> SmbResult<u32> {
        self.handle.write_owned(offset, data).await
    }

    async fn flush(&self) -> SmbResult<()> {
        self.handle.flush().await
    }

    async fn set_times(&self, times: FileTimes) -> SmbResult<()> {
        self.handle.set_times(times).await
    }

    async fn set_attributes(&self, attributes: u32) -> SmbResult<()> {
        self.handle.set_attributes(attributes).await
    }

    async fn truncate(&self, len: u64) -> SmbResult<()> {
        self.handle.truncate(len).await
    }

    async fn list_dir(&self, pattern: Option<&str>) -> SmbResult<Vec<DirEntry>> {
        self.handle.list_dir(pattern).await
    }

    async fn close(self: Box<Self>) -> SmbResult<()> {
        self.handle.close().await
    }

    async fn dir_is_empty(&self) -> SmbResult<bool> {
        self.handle.dir_is_empty().await
    }

    async fn link_count(&self) -> SmbResult<u32> {
        self.handle.link_count().await
    }
}
