//! The file system for dav-server: only files below the served directory.
//!
//! Paths come from the URL, from `Destination`, from `If` and from directory walks. Each is split here, and opened
//! through directory handles. As over FTP, a short operation runs at once on a thread of the runtime: for small files
//! another thread would cost more than the operation.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cap_std::fs::Metadata;
use dav_server::davpath::DavPath;
use dav_server::fs::{
    DavDirEntry, DavFile, DavFileSystem, DavMetaData, DavProp, FsError, FsFuture, FsResult,
    FsStream, OpenOptions, ReadDirMeta,
};
use hyper::StatusCode;

use super::errors::named;
use super::facts::{Facts, Listing};
use super::opened::Opened;
use super::properties::Properties;
use crate::file_sessions::while_others_run;
use lanlab_served::{Confined, MAX_DEPTH, Names};

#[derive(Clone)]
pub struct Files {
    confined: Confined,
    properties: Arc<Properties>,
    quote: &'static str,
    is_broken: Arc<AtomicBool>,
}

impl Files {
    pub fn new(confined: Confined, properties: Arc<Properties>) -> Self {
        Self { confined, properties, quote: "", is_broken: Arc::default() }
    }

    /// These files with quoted entity tags, for one `PROPFIND`. dav-server omits entries that cannot be read: the flag
    /// shows that the listing is incomplete.
    pub fn listed(&self) -> (Self, Arc<AtomicBool>) {
        let is_broken = Arc::<AtomicBool>::default();
        (Self { quote: "\"", is_broken: Arc::clone(&is_broken), ..self.clone() }, is_broken)
    }

    fn with<T>(
        &self,
        path: &DavPath,
        work: impl FnOnce(&Confined, &Names) -> io::Result<T>,
    ) -> FsResult<T> {
        named(work(&self.confined, &names(path)?))
    }

    fn look(
        &self,
        path: &DavPath,
        look: fn(&Confined, &[String]) -> io::Result<Metadata>,
    ) -> FsResult<Box<dyn DavMetaData>> {
        let found = self.with(path, |confined, names| look(confined, names))?;
        Ok(Box::new(Facts(found, self.quote)))
    }
}

fn names(path: &DavPath) -> FsResult<Names> {
    let path = path.as_rel_ospath();
    if path.components().count() > MAX_DEPTH {
        return Err(FsError::PathTooLong);
    }
    path.to_str().and_then(|path| Confined::plain_names(path).ok()).ok_or(FsError::Forbidden)
}

impl DavFileSystem for Files {
    fn open<'a>(
        &'a self,
        path: &'a DavPath,
        options: OpenOptions,
    ) -> FsFuture<'a, Box<dyn DavFile>> {
        Box::pin(async move {
            let opened =
                self.with(path, |confined, names| Opened::new(confined, names, &options))?;
            Ok(Box::new(opened) as Box<dyn DavFile>)
        })
    }

    /// Includes links and pipes, which are not listed: removing a directory removes them.
    fn read_dir<'a>(
        &'a self,
        path: &'a DavPath,
        _meta: ReadDirMeta,
    ) -> FsFuture<'a, FsStream<Box<dyn DavDirEntry>>> {
        Box::pin(async move {
            let entries = self.with(path, |confined, names| confined.all_entries(names))?;
            let listing = Listing::new(entries, self.quote, Arc::clone(&self.is_broken));
            Ok(Box::pin(listing) as FsStream<Box<dyn DavDirEntry>>)
        })
    }

    fn metadata<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, Box<dyn DavMetaData>> {
        Box::pin(async move { self.look(path, Confined::metadata) })
    }

    fn symlink_metadata<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, Box<dyn DavMetaData>> {
        Box::pin(async move { self.look(path, Confined::metadata_of_any) })
    }

    fn create_dir<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            self.with(path, |confined, names| confined.create_dir(names, Some(0o755)))
        })
    }

    fn remove_dir<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            self.with(path, |confined, names| confined.remove_dir(names))?;
            self.properties.forget(path);
            Ok(())
        })
    }

    /// Removing a directory removes its links, but not their targets.
    fn remove_file<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            self.with(path, |confined, names| confined.remove_any(names))?;
            self.properties.forget(path);
            Ok(())
        })
    }

    fn rename<'a>(&'a self, from: &'a DavPath, to: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            let new = names(to)?;
            self.with(from, |confined, names| confined.rename(names, &new))?;
            self.properties.carry(from, to, true);
            Ok(())
        })
    }

    /// As [`Self::rename`], this replaces no existing file.
    fn copy<'a>(&'a self, from: &'a DavPath, to: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            let new = names(to)?;
            while_others_run(|| self.with(from, |confined, names| copy(confined, names, &new)))
        })
    }

    fn have_props<'a>(
        &'a self,
        _path: &'a DavPath,
    ) -> std::pin::Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(std::future::ready(true))
    }

    fn patch_props<'a>(
        &'a self,
        path: &'a DavPath,
        asked: Vec<(bool, DavProp)>,
    ) -> FsFuture<'a, Vec<(StatusCode, DavProp)>> {
        Box::pin(std::future::ready(Ok(self.properties.change(path, asked))))
    }

    fn get_props<'a>(&'a self, path: &'a DavPath, content: bool) -> FsFuture<'a, Vec<DavProp>> {
        Box::pin(std::future::ready(Ok(self.properties.all(path, content))))
    }

    fn get_prop<'a>(&'a self, path: &'a DavPath, wanted: DavProp) -> FsFuture<'a, Vec<u8>> {
        let found = self.properties.one(path, &wanted).ok_or(FsError::NotFound);
        Box::pin(std::future::ready(found))
    }
}

/// Copy to a new file with the permissions of its source.
fn copy(confined: &Confined, from: &[String], to: &[String]) -> io::Result<()> {
    let mut source = confined.open(from)?;
    let mut options = cap_std::fs::OpenOptions::new();
    let mut copy = confined.open_to_change(to, options.write(true).create_new(true))?;
    let copied = io::copy(&mut source, &mut copy)
        .and_then(|_| source.metadata())
        .and_then(|found| copy.set_permissions(found.permissions()));
    if copied.is_err() {
        // A partial copy is removed.
        let _ = confined.remove_any(to);
    }
    copied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_path_escapes_the_directory() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        std::fs::write(root.path().join("file"), "y").unwrap();
        let confined = Confined::new(root.path(), false).unwrap();
        let files = Files::new(confined, Arc::default());
        let path = |text: &str| DavPath::new(text).unwrap();
        let (file, secret, new) = (path("/file"), path("/link/secret"), path("/link/new"));
        let forbidden = Some(FsError::Forbidden);
        assert_eq!(DavFileSystem::metadata(&files, &secret).await.err(), forbidden);
        assert_eq!(DavFileSystem::metadata(&files, &path("/link")).await.err(), forbidden);
        assert_eq!(DavFileSystem::symlink_metadata(&files, &secret).await.err(), forbidden);
        let listed = DavFileSystem::read_dir(&files, &path("/link"), ReadDirMeta::Data).await;
        assert_eq!(listed.err(), forbidden);
        let writing = OpenOptions { write: true, create: true, ..OpenOptions::default() };
        let opened = DavFileSystem::open(&files, &new, writing).await;
        assert_eq!(opened.err(), forbidden);
        assert_eq!(files.create_dir(&new).await.err(), forbidden);
        assert_eq!(files.remove_file(&secret).await.err(), forbidden);
        assert_eq!(files.remove_dir(&path("/link/")).await.err(), forbidden);
        assert_eq!(files.rename(&secret, &path("/got")).await.err(), forbidden);
        assert_eq!(files.rename(&file, &new).await.err(), forbidden);
        assert_eq!(files.copy(&secret, &path("/got")).await.err(), forbidden);
        assert_eq!(files.copy(&file, &new).await.err(), forbidden);
        let deep = path(&"/d".repeat(MAX_DEPTH + 1));
        assert_eq!(files.create_dir(&deep).await.err(), Some(FsError::PathTooLong));
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
        // The link itself can be removed, as an entry of its directory.
        files.remove_file(&path("/link")).await.unwrap();
        assert!(outside.path().join("secret").exists() && !root.path().join("link").exists());
    }

    #[tokio::test]
    async fn files_of_other_clients_are_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        for name in ["one", "other"] {
            std::fs::write(root.path().join(name), name).unwrap();
        }
        let files = Files::new(Confined::new(root.path(), false).unwrap(), Arc::default());
        let path = |text: &str| DavPath::new(text).unwrap();
        let (one, other) = (path("/one"), path("/other"));
        assert_eq!(files.rename(&one, &other).await.err(), Some(FsError::Exists));
        assert_eq!(files.copy(&one, &other).await.err(), Some(FsError::Exists));
        assert_eq!(std::fs::read(root.path().join("other")).unwrap(), b"other");
        files.copy(&one, &path("/copy")).await.unwrap();
        files.rename(&one, &path("/new")).await.unwrap();
        for name in ["copy", "new"] {
            assert_eq!(std::fs::read(root.path().join(name)).unwrap(), b"one", "{name}");
        }
    }
}
