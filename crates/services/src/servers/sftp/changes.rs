//! Attributes that a client sets.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::sftp::Attributes;

/// Set what is given of a file that is open.
pub fn apply(file: &File, attributes: &Attributes) -> io::Result<()> {
    if let Some(size_bytes) = attributes.size_bytes {
        file.set_len(size_bytes)?;
    }
    #[cfg(unix)]
    if let Some(mode) = attributes.mode {
        use std::os::unix::fs::PermissionsExt;
        // Neither setuid nor sticky: nothing here is for others to run.
        file.set_permissions(std::fs::Permissions::from_mode(mode & 0o777))?;
    }
    if let Some(modified_s) = attributes.modified_s {
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(modified_s.into()))?;
    }
    Ok(())
}

/// The same by its path.
pub fn apply_at(path: &Path, attributes: &Attributes) -> io::Result<()> {
    let writes = attributes.size_bytes.is_some() || cfg!(windows);
    apply(&OpenOptions::new().read(true).write(writes).open(path)?, attributes)
}
