//! Files that grow although their client asked for `FILE_WRITE_DATA` and not for `FILE_APPEND_DATA`, as impacket and
//! smbprotocol do. Windows and Samba let them; the crate compares where a write ends with the size of the file.

use async_trait::async_trait;
use smb_server::{
    BackendCapabilities, Bytes, DirEntry, FileInfo, FileTimes, Handle, OpenAction, OpenIntent,
    OpenOptions, ShareBackend, SmbPath, SmbResult, VolumeInfo,
};

use super::traces;

/// A directory whose files grow so.
pub struct Growing<B>(pub B);

#[async_trait]
impl<B: ShareBackend> ShareBackend for Growing<B> {
    async fn open(
        &self,
        path: &SmbPath,
        options: OpenOptions,
    ) -> SmbResult<(Box<dyn Handle>, OpenAction)> {
        let (handle, action) = self.0.open(path, options).await?;
        // Who empties or makes a file writes its data. Who opens one may mean to append alone.
        let writes_data = options.write
            && !options.directory
            && !matches!(options.intent, OpenIntent::Open | OpenIntent::OpenOrCreate);
        Ok((if writes_data { Box::new(Grows(handle)) } else { handle }, action))
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

/// An open file. What a write looks at as its size is no bound.
struct Grows(Box<dyn Handle>);

#[async_trait]
impl Handle for Grows {
    async fn stat(&self) -> SmbResult<FileInfo> {
        let mut found = self.0.stat().await?;
        if traces::is_writing() {
            found.end_of_file = u64::MAX;
        }
        Ok(found)
    }

    async fn read(&self, offset: u64, len: u32) -> SmbResult<Bytes> {
        self.0.read(offset, len).await
    }

    async fn write(&self, offset: u64, data: &[u8]) -> SmbResult<u32> {
        self.0.write(offset, data).await
    }

    async fn write_owned(&self, offset: u64, data: Vec<u8>) -> SmbResult<u32> {
        self.0.write_owned(offset, data).await
    }

    async fn flush(&self) -> SmbResult<()> {
        self.0.flush().await
    }

    async fn set_times(&self, times: FileTimes) -> SmbResult<()> {
        self.0.set_times(times).await
    }

    async fn set_attributes(&self, attributes: u32) -> SmbResult<()> {
        self.0.set_attributes(attributes).await
    }

    async fn truncate(&self, len: u64) -> SmbResult<()> {
        self.0.truncate(len).await
    }

    async fn list_dir(&self, pattern: Option<&str>) -> SmbResult<Vec<DirEntry>> {
        self.0.list_dir(pattern).await
    }

    async fn close(self: Box<Self>) -> SmbResult<()> {
        self.0.close().await
    }

    async fn link_count(&self) -> SmbResult<u32> {
        self.0.link_count().await
    }
}
