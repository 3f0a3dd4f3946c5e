//! A file that dav-server writes.

use std::fs::File;
use std::io::{self, SeekFrom};

use bytes::{Buf, Bytes};
use cap_std::fs::Metadata;
use dav_server::fs::{DavFile, DavMetaData, FsFuture, FsResult, OpenOptions};
use lanlab_os::positioned;

use super::errors::named;
use super::facts::Facts;
use lanlab_served::{Confined, Unseen};

#[derive(Debug)]
pub struct Opened {
    file: File,
    offset: u64,
    becoming: Option<Becoming>,
}

#[derive(Debug)]
struct Becoming {
    unseen: Unseen,
    only_new: bool,
    size_bytes: Option<u64>,
}

impl Opened {
    pub fn new(confined: &Confined, names: &[String], wanted: &OpenOptions) -> io::Result<Self> {
        if !wanted.write && !wanted.append {
            return Ok(Self { file: confined.open(names)?, offset: 0, becoming: None });
        }
        if wanted.truncate && !wanted.append {
            return Self::replacement(confined, names, wanted);
        }
        let mut options = cap_std::fs::OpenOptions::new();
        options.read(wanted.read).write(true);
        options.create(wanted.create).create_new(wanted.create_new);
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o644);
        let file = confined.open_to_change(names, &options)?;
        let offset = if wanted.append { file.metadata()?.len() } else { 0 };
        Ok(Self { file, offset, becoming: None })
    }

    fn replacement(
        confined: &Confined,
        names: &[String],
        wanted: &OpenOptions,
    ) -> io::Result<Self> {
        let only_new = wanted.create_new;
        match confined.has_file_to_change(names)? {
            true if only_new => return Err(io::ErrorKind::AlreadyExists.into()),
            false if !only_new && !wanted.create => return Err(io::ErrorKind::NotFound.into()),
            _ => {}
        }
        let mut unseen = Unseen::new(confined, names, 0o644)?;
        let file = unseen.file()?.try_clone()?;
        let becoming = Some(Becoming { unseen, only_new, size_bytes: wanted.size });
        Ok(Self { file, offset: 0, becoming })
    }

    fn with<T>(&self, work: impl FnOnce(&File, u64) -> io::Result<T>) -> FsResult<T> {
        named(work(&self.file, self.offset))
    }
}

impl DavFile for Opened {
    fn metadata(&'_ mut self) -> FsFuture<'_, Box<dyn DavMetaData>> {
        Box::pin(async move {
            let found = self.with(|file, _| Metadata::from_file(file))?;
            Ok(Box::new(Facts(found, "")) as Box<dyn DavMetaData>)
        })
    }

    fn write_buf(&'_ mut self, mut octets: Box<dyn Buf + Send>) -> FsFuture<'_, ()> {
        let octets = octets.copy_to_bytes(octets.remaining());
        self.write_bytes(octets)
    }

    fn write_bytes(&'_ mut self, octets: Bytes) -> FsFuture<'_, ()> {
        Box::pin(async move {
            let count = octets.len() as u64;
            self.with(|file, offset| positioned::write_all_at(file, &octets, offset))?;
            self.offset += count;
            Ok(())
        })
    }

    fn read_bytes(&'_ mut self, count: usize) -> FsFuture<'_, Bytes> {
        Box::pin(async move {
            let octets = self.with(|file, offset| {
                let mut octets = vec![0; count];
                let read = positioned::read_at(file, &mut octets, offset)?;
                octets.truncate(read);
                Ok(Bytes::from(octets))
            })?;
            self.offset += octets.len() as u64;
            Ok(octets)
        })
    }

    fn seek(&'_ mut self, to: SeekFrom) -> FsFuture<'_, u64> {
        Box::pin(async move {
            let moved = |from: u64, by: i64| {
                from.checked_add_signed(by).ok_or_else(|| io::ErrorKind::InvalidInput.into())
            };
            self.offset = self.with(|file, offset| match to {
                SeekFrom::Start(offset) => Ok(offset),
                SeekFrom::Current(by) => moved(offset, by),
                SeekFrom::End(by) => moved(file.metadata()?.len(), by),
            })?;
            Ok(self.offset)
        })
    }

    /// Called at the end. dav-server also calls it for an incomplete body, and then reports an error.
    fn flush(&'_ mut self) -> FsFuture<'_, ()> {
        Box::pin(async move {
            let Some(Becoming { unseen, only_new, size_bytes }) = self.becoming.take() else {
                return Ok(());
            };
            if size_bytes.is_some_and(|size_bytes| size_bytes != self.offset) {
                return Ok(());
            }
            named(unseen.show(only_new))
        })
    }
}
