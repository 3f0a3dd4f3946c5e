//! Names in directories.

use std::io;
use std::path::Path;

pub fn rename_to_free_name_at<D>(_from: (&D, &Path), _to: (&D, &Path)) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
