//! The files as dav-server sees them: none but those below the directory that is served, by whatever
//! path it comes to them.
//!
//! Paths come from the URL, from `Destination`, from `If` and from directories that are walked
//! through. Each is judged here, just before the system is asked.

use std::path::PathBuf;
use std::sync::Arc;

use dav_server::davpath::DavPath;
use dav_server::fs::{
    DavDirEntry, DavFile, DavFileSystem, DavMetaData, DavProp, FsError, FsFuture, FsResult,
    FsStream, OpenOptions, ReadDirMeta,
};
use dav_server::localfs::LocalFs;
use hyper::StatusCode;

use super::super::http::confined_path;
use super::properties::Properties;

/// Names deep: what walks through directories calls itself for each.
const MAX_DEPTH: usize = 64;

/// The files below a directory, and the properties that clients gave them.
#[derive(Clone)]
pub struct Files {
    root: PathBuf,
    local: Box<LocalFs>,
    properties: Arc<Properties>,
}

impl Files {
    /// Those below `root`.
    pub fn new(root: PathBuf, properties: Arc<Properties>) -> Self {
        let local = LocalFs::new(&root, true, false, false);
        Self { root, local, properties }
    }

    /// Whether a path leads through no symbolic link, and to none, and not too deep.
    async fn judge(&self, path: &DavPath) -> FsResult<()> {
        let (root, below) = (self.root.clone(), path.as_rel_ospath().to_owned());
        if below.components().count() > MAX_DEPTH {
            return Err(FsError::PathTooLong);
        }
        let judged = self.local.blocking(move || confined_path(&root, &below));
        judged.await.map(drop).map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidFilename => FsError::Forbidden,
            _ if error.raw_os_error().is_none() => FsError::Forbidden,
            _ => error.into(),
        })
    }

    /// What is in a place, by itself.
    async fn look(&self, path: &DavPath) -> FsResult<Box<dyn DavMetaData>> {
        self.judge(path).await?;
        DavFileSystem::symlink_metadata(&*self.local, path).await
    }

    /// No pipe, socket or device: what opens one may wait for ever, or do more than to read.
    async fn ordinary(&self, path: &DavPath) -> FsResult<Box<dyn DavMetaData>> {
        let found = self.look(path).await?;
        if found.is_file() || found.is_dir() { Ok(found) } else { Err(FsError::Forbidden) }
    }

    /// The same, where there may be nothing yet.
    async fn ordinary_or_new(&self, path: &DavPath) -> FsResult<()> {
        match self.ordinary(path).await {
            Ok(_) | Err(FsError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl DavFileSystem for Files {
    fn open<'a>(
        &'a self,
        path: &'a DavPath,
        options: OpenOptions,
    ) -> FsFuture<'a, Box<dyn DavFile>> {
        Box::pin(async move {
            self.ordinary_or_new(path).await?;
            DavFileSystem::open(&*self.local, path, options).await
        })
    }

    /// Of what is in a directory a link is told from what it leads to, which is not looked at.
    fn read_dir<'a>(
        &'a self,
        path: &'a DavPath,
        _meta: ReadDirMeta,
    ) -> FsFuture<'a, FsStream<Box<dyn DavDirEntry>>> {
        Box::pin(async move {
            self.judge(path).await?;
            DavFileSystem::read_dir(&*self.local, path, ReadDirMeta::DataSymlink).await
        })
    }

    fn metadata<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, Box<dyn DavMetaData>> {
        Box::pin(self.ordinary(path))
    }

    fn symlink_metadata<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, Box<dyn DavMetaData>> {
        Box::pin(self.look(path))
    }

    fn create_dir<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            self.judge(path).await?;
            DavFileSystem::create_dir(&*self.local, path).await
        })
    }

    fn remove_dir<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            self.judge(path).await?;
            DavFileSystem::remove_dir(&*self.local, path).await?;
            self.properties.forget(path);
            Ok(())
        })
    }

    /// A link in a directory that is removed goes with it, and what it leads to stays.
    fn remove_file<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            self.judge(&path.parent()).await?;
            DavFileSystem::remove_file(&*self.local, path).await?;
            self.properties.forget(path);
            Ok(())
        })
    }

    fn rename<'a>(&'a self, from: &'a DavPath, to: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            self.judge(from).await?;
            self.judge(to).await?;
            DavFileSystem::rename(&*self.local, from, to).await?;
            self.properties.carry(from, to, true);
            Ok(())
        })
    }

    fn copy<'a>(&'a self, from: &'a DavPath, to: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            self.ordinary(from).await?;
            self.ordinary_or_new(to).await?;
            DavFileSystem::copy(&*self.local, from, to).await
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_path_leads_out_by_whatever_way_it_comes() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        std::fs::write(root.path().join("file"), "y").unwrap();
        let files = Files::new(root.path().to_owned(), Arc::default());
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
        // The link itself can be removed, as a part of its directory.
        files.remove_file(&path("/link")).await.unwrap();
        assert!(outside.path().join("secret").exists() && !root.path().join("link").exists());
    }
}
