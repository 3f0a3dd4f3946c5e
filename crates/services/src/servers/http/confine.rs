//! Where a client may look: below the directory that is served, by no symbolic link.

use std::io;
use std::path::{Path, PathBuf};

/// The path of names joined by `/` below `root`. Symbolic links are followed nowhere; what is not
/// there yet may be named.
///
/// # Errors
/// `InvalidFilename` of a name that could lead elsewhere, `PermissionDenied` of a symbolic link, or
/// what the system says.
pub fn confined(root: &Path, names: &str) -> io::Result<PathBuf> {
    let mut path = root.to_owned();
    for name in names.split('/').filter(|name| !name.is_empty()) {
        if matches!(name, "." | "..") || name.contains(['\\', '\0']) || is_of_a_drive(name) {
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
fn is_of_a_drive(name: &str) -> bool {
    cfg!(windows) && name.contains(':')
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
    }

    #[cfg(unix)]
    #[test]
    fn no_symbolic_link_is_followed() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", root.path().join("link")).unwrap();
        for names in ["link", "link/passwd"] {
            let error = confined(root.path(), names).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{names}");
        }
    }
}
