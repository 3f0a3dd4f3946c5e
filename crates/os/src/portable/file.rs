//! Files.

use std::fs::File;
use std::io;

/// Close a file. The standard library does not pass on what the system says of it.
///
/// # Errors
/// None here.
pub fn close(file: File) -> io::Result<()> {
    drop(file);
    Ok(())
}

/// Not known here: nothing was written.
///
/// # Errors
/// None here.
pub fn write_parts_at(_file: &File, _parts: [&[u8]; 2], _offset: u64) -> io::Result<usize> {
    Ok(0)
}

/// Not known here: the system reads ahead as it does.
pub fn will_read_in_order(_file: &File) {}

/// Not known here.
///
/// # Errors
/// Always `Unsupported`.
pub fn forget_cached(_file: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not known here.
///
/// # Errors
/// Always `Unsupported`.
pub fn drop_all_caches() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
