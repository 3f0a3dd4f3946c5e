//! Changes to a file's attributes: size, permissions and times. Partial success is reported as an error.

use std::fs::{File, FileTimes, Permissions};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, Metadata, OpenOptions};

use super::beneath::{open_any, ordinary};

/// Permission bits, without set-user-ID, set-group-ID and the sticky bit.
const PERMISSIONS: u32 = 0o777;
const SPECIAL: u32 = 0o7000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    pub size_bytes: Option<u64>,
    /// POSIX permissions; bits of the file type are ignored.
    pub mode: Option<u32>,
    /// Last access, seconds since 1970.
    pub accessed_s: Option<u64>,
    pub modified_s: Option<u64>,
}

impl Changes {
    /// Apply the changes to a file open for writing, or to a directory.
    ///
    /// # Errors `Unsupported` if the mode has unsupported bits, before any change; or a system error.
    pub fn apply(&self, file: &File) -> io::Result<()> {
        let permissions = self.permissions()?;
        if let Some(size_bytes) = self.size_bytes {
            file.set_len(size_bytes)?;
        }
        if let Some(times) = self.times()? {
            file.set_times(times)?;
        }
        // Permissions last: the other changes may need the current ones.
        permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))
    }

    /// Apply the changes by name in a directory.
    ///
    /// # Errors As for [`Self::apply`]; `PermissionDenied` for other kinds of files.
    pub fn apply_in(&self, directory: &Dir, name: &str) -> io::Result<()> {
        let permissions = self.permissions()?;
        let writes = self.size_bytes.is_some();
        let options = || OpenOptions::new().read(!writes).write(writes).clone();
        match open_any(directory, Path::new(name), &options()) {
            Ok((file, _)) => self.apply(&file),
            // Even without read permission, the owner may change permissions.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let is_rest = Self { mode: None, ..*self } != Self::default();
                let Some(permissions) = permissions.filter(|_| !is_rest) else { return Err(error) };
                ordinary(&directory.symlink_metadata(name)?)?;
                directory.set_permissions(name, cap_std::fs::Permissions::from_std(permissions))
            }
            Err(error) => Err(error),
        }
    }

    fn permissions(&self) -> io::Result<Option<Permissions>> {
        use std::os::unix::fs::PermissionsExt;
        let Some(mode) = self.mode else { return Ok(None) };
        if mode & SPECIAL != 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Some(Permissions::from_mode(mode & PERMISSIONS)))
    }

    fn times(&self) -> io::Result<Option<FileTimes>> {
        let time = |since_s: u64| {
            let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since_s));
            time.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
        };
        let mut times = FileTimes::new();
        if let Some(since_s) = self.accessed_s {
            times = times.set_accessed(time(since_s)?);
        }
        if let Some(since_s) = self.modified_s {
            times = times.set_modified(time(since_s)?);
        }
        Ok((self.accessed_s.is_some() || self.modified_s.is_some()).then_some(times))
    }
}

pub fn mode_of(found: &Metadata) -> u32 {
    cap_std::fs::PermissionsExt::mode(&found.permissions()) & PERMISSIONS
}

pub fn mode_text(is_directory: bool, mode: u32) -> String {
    let mut text = String::from(if is_directory { "d" } else { "-" });
    for (at, letter) in "rwxrwxrwx".chars().enumerate() {
        text.push(if mode & (0o400 >> at) != 0 { letter } else { '-' });
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use cap_std::ambient_authority;

    use super::*;

    fn directory(root: &tempfile::TempDir) -> Dir {
        Dir::open_ambient_dir(root.path(), ambient_authority()).unwrap()
    }

    #[test]
    fn all_requested_changes_are_made() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x");
        fs::write(&path, "content").unwrap();
        let all = Changes {
            size_bytes: Some(3),
            mode: Some(0o100_240),
            accessed_s: Some(1_000_000_000),
            modified_s: Some(2_000_000_000),
        };
        let state = || {
            let found = fs::metadata(&path).unwrap();
            (found.len(), found.mode() & 0o7777, found.atime(), found.mtime())
        };
        all.apply_in(&directory(&root), "x").unwrap();
        assert_eq!(state(), (3, 0o240, 1_000_000_000, 2_000_000_000));
        let some = Changes { modified_s: Some(5), mode: Some(0o600), ..Changes::default() };
        some.apply(&File::options().write(true).open(&path).unwrap()).unwrap();
        assert_eq!(state(), (3, 0o600, 1_000_000_000, 5));
        let of_directory = Changes { mode: Some(0o711), modified_s: Some(9), ..Changes::default() };
        fs::create_dir(root.path().join("d")).unwrap();
        of_directory.apply_in(&directory(&root), "d").unwrap();
        let found = fs::metadata(root.path().join("d")).unwrap();
        assert_eq!((found.mode() & 0o777, found.mtime()), (0o711, 9));
        // An owner without read permission may grant it.
        for mode in [0, 0o600] {
            let permits = Changes { mode: Some(mode), ..Changes::default() };
            permits.apply_in(&directory(&root), "x").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, mode);
        }
    }

    #[test]
    fn a_refused_operation_changes_nothing() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x");
        fs::write(&path, "content").unwrap();
        for mode in [0o4755, 0o2755, 0o1777] {
            let odd = Changes { mode: Some(mode), size_bytes: Some(0), ..Changes::default() };
            let file = File::options().write(true).open(&path).unwrap();
            for done in [odd.apply_in(&directory(&root), "x"), odd.apply(&file)] {
                assert_eq!(done.unwrap_err().kind(), io::ErrorKind::Unsupported);
            }
        }
        assert_eq!(fs::read(&path).unwrap(), b"content");
        std::os::unix::fs::symlink(&path, root.path().join("link")).unwrap();
        let some = Changes { mode: Some(0), ..Changes::default() };
        let linked = some.apply_in(&directory(&root), "link").unwrap_err();
        assert_eq!(linked.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn permissions_are_written_as_ls_does() {
        assert_eq!(mode_text(true, 0o755), "drwxr-xr-x");
        assert_eq!(mode_text(false, 0o640), "-rw-r-----");
        assert_eq!(mode_text(false, 0), "----------");
    }
}
