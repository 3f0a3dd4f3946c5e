//! Reading and writing at an offset without moving the file position.

use std::fs::File;
use std::io;

pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match std::os::unix::fs::FileExt::read_at(file, buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

pub fn write_all_at(file: &File, data: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, data, offset)
}

/// Write two consecutive parts at `offset`, in one system call if it exists and accepts everything.
pub fn write_all_parts_at(file: &File, parts: [&[u8]; 2], offset: u64) -> io::Result<()> {
    let mut done = crate::write_parts_at(file, parts, offset)?;
    let mut offset = offset;
    for part in parts {
        let written = done.min(part.len());
        done -= written;
        if written < part.len() {
            write_all_at(file, &part[written..], offset + written as u64)?;
        }
        offset += part.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_parts_are_written_as_one() {
        let file = tempfile::tempfile().expect("a file");
        for (head, body) in [("ab", "cdef"), ("", "xy"), ("z", ""), ("", "")] {
            let (head, body) = (head.as_bytes(), body.as_bytes());
            write_all_parts_at(&file, [head, body], 3).expect("written");
            let mut found = vec![0; head.len() + body.len()];
            assert_eq!(read_at(&file, &mut found, 3).expect("read"), found.len());
            assert_eq!(found, [head, body].concat());
        }
        assert_eq!(file.metadata().expect("facts").len(), 9);
    }
}
