//! Where a client may look: below the directory that is served, by no symbolic link.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The path of names joined by `/` below `root`. Symbolic links are followed nowhere; what is not
/// there yet may be named.
///
/// # Errors
/// `InvalidFilename` of a name that could lead elsewhere, `PermissionDenied` of a symbolic link, or
/// what the system says.
pub fn confined(root: &Path, names: &str) -> io::Result<PathBuf> {
    below(root, names.split('/').filter(|name| !name.is_empty()).map(OsStr::new))
}

/// The same of a path that the system has taken apart.
///
/// # Errors
/// As of [`confined`].
pub fn confined_path(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name),
            _ => return Err(io::ErrorKind::InvalidFilename.into()),
        }
    }
    below(root, names.into_iter())
}

fn below<'a>(root: &Path, names: impl Iterator<Item = &'a OsStr>) -> io::Result<PathBuf> {
    let mut path = root.to_owned();
    for name in names {
        let octets = name.as_encoded_bytes();
        let is_odd = octets.iter().any(|octet| matches!(octet, b'\\' | b'\0'));
        if matches!(octets, b"." | b"..") || is_odd || is_of_a_drive(octets) {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        path.push(name);
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => return Err(io::ErrorKind::PermissionDenied.into()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(path)
}

/// Windows takes `C:` for another place, and `name:stream` for another content.
fn is_of_a_drive(name: &[u8]) -> bool {
    cfg!(windows) && name.contains(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out() {
        let root = tempfile::tempdir().unwrap();
        let kind = |names| confined(root.path(), names).unwrap_err().kind();
        for bad in ["..", "a/../../b", "a/./b", "a\\b", "a\0b"] {
            assert_eq!(kind(bad), io::ErrorKind::InvalidFilename, "{bad}");
        }
        assert_eq!(confined(root.path(), "/a//b/").unwrap(), root.path().join("a/b"));
        assert_eq!(confined(root.path(), "").unwrap(), root.path());
        for bad in ["../a", "a/../../b", "/etc/passwd", "a\\b"] {
            let error = confined_path(root.path(), Path::new(bad)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidFilename, "{bad}");
        }
        let below = confined_path(root.path(), Path::new("a/b")).unwrap();
        assert_eq!(below, root.path().join("a/b"));
    }

    #[cfg(unix)]
    #[test]
    fn no_symbolic_link_is_followed() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", root.path().join("link")).unwrap();
        for names in ["link", "link/passwd"] {
            let error = confined(root.path(), names).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{names}");
            let error = confined_path(root.path(), Path::new(names)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{names}");
        }
    }
}
