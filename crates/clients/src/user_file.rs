//! Files that a user names: regular files of bounded size, checked before anything is read.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use lanlab_files::{Class, Fault, Result};

/// Content of a regular file; symbolic links are followed.
///
/// # Errors
/// It cannot be read, is too long, or is a directory, FIFO, socket or device, which is not even
/// opened, because a reader might wait forever.
pub fn read(path: &Path, most_bytes: u64) -> Result<Vec<u8>> {
    let failed = |error: io::Error| Fault::of_file(path.display(), &error);
    check(path, &fs::metadata(path).map_err(failed)?, most_bytes)?;
    let file = open(path).map_err(failed)?;
    // Another file may have replaced the one checked above.
    check(path, &file.metadata().map_err(failed)?, most_bytes)?;
    let mut content = Vec::new();
    // Kernel files report size 0, and other files may still grow.
    file.take(most_bytes + 1).read_to_end(&mut content).map_err(failed)?;
    check_length(path, content.len() as u64, most_bytes)?;
    Ok(content)
}

/// The text without the byte order mark that some editors on Windows write.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

fn check(path: &Path, facts: &Metadata, most_bytes: u64) -> Result<()> {
    if facts.is_file() {
        return check_length(path, facts.len(), most_bytes);
    }
    let found = if facts.is_dir() { "a directory" } else { "a FIFO, socket or device" };
    let message = format!("{}: found {found}; allowed: a regular file", path.display());
    Err(Fault::new(Class::Local, message).hint("save its content to a file, and name that file"))
}

fn check_length(path: &Path, found: u64, most_bytes: u64) -> Result<()> {
    if found <= most_bytes {
        return Ok(());
    }
    let message =
        format!("{}: found {found} bytes or more; allowed: at most {most_bytes}", path.display());
    Err(Fault::new(Class::Local, message).hint("check that it is the right file"))
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_a_bound() {
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().join("file");
        fs::write(&path, [7; 100]).unwrap();
        assert_eq!(read(&path, 100).unwrap(), [7; 100]);
        assert!(read(&path, 99).unwrap_err().message.contains("allowed: at most 99"));
        assert_eq!(read(&place.path().join("missing"), 1).unwrap_err().class, Class::Missing);
    }

    #[test]
    fn endless_files_and_pipes_are_refused() {
        let place = tempfile::TempDir::new().unwrap();
        let listening = place.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&listening).unwrap();
        let link = place.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [&listening, &link, &place.path().to_owned(), &"/dev/tty".into()] {
            let said = read(path, 100).unwrap_err().message;
            assert!(said.contains("allowed: a regular file"), "{said}");
        }
    }

    #[test]
    fn files_of_reported_size_zero_are_bounded_too() {
        let path = Path::new("/proc/self/status");
        assert_eq!(fs::metadata(path).unwrap().len(), 0);
        assert!(read(path, 10).unwrap_err().message.contains("allowed: at most 10"));
        assert!(!read(path, 1 << 20).unwrap().is_empty());
    }
}
