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
