//! Reading and writing at a place of a file without moving its position: the one difference between
//! systems that matters here.

use std::fs::File;
use std::io;

/// Read what lies from `offset` on; zero at the end.
///
/// # Errors
/// What the system says.
#[cfg(unix)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match std::os::unix::fs::FileExt::read_at(file, buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Write all of `data` from `offset` on.
///
/// # Errors
/// What the system says.
#[cfg(unix)]
pub fn write_all_at(file: &File, data: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, data, offset)
}

/// Read what lies from `offset` on; zero at the end.
///
/// # Errors
/// What the system says.
#[cfg(windows)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Write all of `data` from `offset` on.
///
/// # Errors
/// What the system says.
#[cfg(windows)]
pub fn write_all_at(file: &File, mut data: &[u8], mut offset: u64) -> io::Result<()> {
    while !data.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, data, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                data = &data[written..];
                offset += written as u64;
            }
        }
    }
    Ok(())
}
