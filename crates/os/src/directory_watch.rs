//! Changes of directories, as reported by the kernel (inotify(7)).

use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

use rustix::fs::fstatfs;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryChange {
    /// An entry of this name appeared, disappeared or was replaced.
    Name {
        watch: i32,
        name: OsString,
    },
    Gone {
        watch: i32,
    },
    Lost,
}

/// Bytes of reports read from the kernel at once.
const BUFFER_LEN: usize = 16 << 10;

/// Maximum reports read per call: programs may create them as fast as they are read.
const MAX_REPORTS: usize = 1 << 16;

/// File systems that only this kernel changes, by the magic numbers of statfs(2), so that every change is reported.
/// Others may be changed by another host.
const LOCAL: [u32; 12] = [
    0x0000_ef53, // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlayfs
    0xf2f5_2010, // f2fs
    0x2fc1_2fc1, // zfs
    0xca45_1a4e, // bcachefs
    0x0000_4d44, // vfat
    0x2011_bab0, // exfat
    0x7366_746e, // ntfs3
];

#[derive(Debug)]
pub struct DirectoryWatch(OwnedFd);

impl DirectoryWatch {
    pub fn new() -> io::Result<Self> {
        Ok(Self(inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?))
    }

    /// Watch an open directory for names that appear or disappear. Returns its number in reports.
    ///
    /// # Errors
    /// `Unsupported` if another host may change its file system; or a system error.
    pub fn add(&self, directory: impl AsFd) -> io::Result<i32> {
        let directory = directory.as_fd();
        if !LOCAL.contains(&(fstatfs(directory)?.f_type as u32)) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let changes = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE;
        // The kernel accepts only a path here. This one leads to the open directory, even if it was moved.
        let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
        Ok(inotify::add_watch(&self.0, path, changes | WatchFlags::ONLYDIR)?)
    }

    pub fn remove(&self, watch: i32) {
        // The watch is already gone if its directory was removed.
        let _ = inotify::remove_watch(&self.0, watch);
    }

    /// Read all reports so far, without blocking.
    pub fn take(&self, mut each: impl FnMut(DirectoryChange)) -> io::Result<()> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_LEN];
        let mut reader = Reader::new(&self.0, &mut buffer);
        for _ in 0..MAX_REPORTS {
            let report = match reader.next() {
                Ok(report) => report,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            let watch = report.wd();
            if report.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                each(DirectoryChange::Lost);
            } else if report.events().contains(ReadFlags::IGNORED) {
                each(DirectoryChange::Gone { watch });
            } else if let Some(name) = report.file_name() {
                let name = OsString::from_vec(name.to_bytes().to_vec());
                each(DirectoryChange::Name { watch, name });
            }
        }
        each(DirectoryChange::Lost);
        Ok(())
    }
}
