//! Paths of this host: which a request may name, and errors about them.

use std::io;
use std::path::{Path, PathBuf};

use crate::messages::Failure;

pub fn absolute(directory: &str) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(directory);
    if !path.is_absolute() || directory.len() > 4096 {
        let found: String = directory.chars().take(200).collect();
        return Err(Failure::value("directory", format!("`{found}`"), "an absolute path"));
    }
    Ok(path)
}

pub fn of_file(what: &str, path: &Path, error: &io::Error) -> Failure {
    let message = format!("{what} {}: {error}", path.display());
    let failure = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            return Failure::new("system.no_space", message).hint("make room, or copy less");
        }
        io::ErrorKind::PermissionDenied => "system.permission",
        _ => "system.file",
    };
    Failure::new(failure, message)
}
