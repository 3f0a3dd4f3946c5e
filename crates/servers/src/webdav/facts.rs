//! File and directory metadata for dav-server.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{SystemTime, UNIX_EPOCH};

use cap_std::fs::Metadata;
use dav_server::fs::{DavDirEntry, DavMetaData, FsError, FsFuture, FsResult};
use futures_core::Stream;

use crate::file_sessions::while_others_run;
use lanlab_served::{Entries, Entry};

const BATCH: usize = 256;

/// Metadata, and the quotes around its entity tag: dav-server adds them in conditions and headers,
/// but not in `getetag` (RFC 4918, section 15.6).
#[derive(Debug, Clone)]
pub struct Facts(pub Metadata, pub &'static str);

impl DavMetaData for Facts {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn modified(&self) -> FsResult<SystemTime> {
        std_time(self.0.modified())
    }

    fn accessed(&self) -> FsResult<SystemTime> {
        std_time(self.0.accessed())
    }

    fn created(&self) -> FsResult<SystemTime> {
        std_time(self.0.created())
    }

    fn status_changed(&self) -> FsResult<SystemTime> {
        let since_s = cap_std::fs::MetadataExt::ctime(&self.0).cast_unsigned();
        Ok(UNIX_EPOCH + std::time::Duration::from_secs(since_s))
    }

    fn executable(&self) -> FsResult<bool> {
        if !self.0.is_file() {
            return Err(FsError::NotImplemented);
        }
        Ok(cap_std::fs::MetadataExt::mode(&self.0) & 0o100 != 0)
    }

    fn is_dir(&self) -> bool {
        self.0.is_dir()
    }

    fn is_file(&self) -> bool {
        self.0.is_file()
    }

    fn is_symlink(&self) -> bool {
        !self.0.is_dir() && !self.0.is_file()
    }

    fn etag(&self) -> Option<String> {
        let since = self.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let micros = since.as_secs() * 1_000_000 + u64::from(since.subsec_micros());
        let (Self(found, quote), number) = (self, cap_std::fs::MetadataExt::ino(&self.0));
        let size = if found.is_file() { format!("{:x}-", found.len()) } else { String::new() };
        Some(format!("{quote}{number:x}-{size}{micros:x}{quote}"))
    }
}

fn std_time(time: std::io::Result<cap_std::time::SystemTime>) -> FsResult<SystemTime> {
    Ok(time?.into_std())
}

#[derive(Debug)]
struct Listed {
    name: String,
    facts: Facts,
}

impl DavDirEntry for Listed {
    fn name(&self) -> Vec<u8> {
        self.name.clone().into_bytes()
    }

    fn metadata(&'_ self) -> FsFuture<'_, Box<dyn DavMetaData>> {
        let facts: Box<dyn DavMetaData> = Box::new(self.facts.clone());
        Box::pin(std::future::ready(Ok(facts)))
    }
}

#[derive(Debug)]
pub struct Listing {
    entries: Entries,
    quote: &'static str,
    is_broken: Arc<AtomicBool>,
    read: VecDeque<FsResult<Listed>>,
}

impl Listing {
    pub fn new(entries: Entries, quote: &'static str, is_broken: Arc<AtomicBool>) -> Self {
        Self { entries, quote, is_broken, read: VecDeque::new() }
    }
}

fn read_some(entries: &mut Entries, quote: &'static str) -> VecDeque<FsResult<Listed>> {
    let some = entries.take(BATCH);
    // The entry may be gone by now.
    let listed = |Entry { name, entry, .. }: Entry| {
        Some(Listed { name, facts: Facts(entry.metadata().ok()?, quote) })
    };
    some.filter_map(|one| one.map(listed).map_err(FsError::from).transpose()).collect()
}

impl Stream for Listing {
    type Item = FsResult<Box<dyn DavDirEntry>>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { entries, quote, is_broken, read } = self.get_mut();
        if read.is_empty() {
            *read = while_others_run(|| read_some(entries, quote));
        }
        Poll::Ready(read.pop_front().map(|listed| {
            is_broken.fetch_or(listed.is_err(), Ordering::Relaxed);
            listed.map(|one| Box::new(one) as Box<dyn DavDirEntry>)
        }))
    }
}
