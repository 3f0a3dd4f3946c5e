//! TAP interfaces: Ethernet whose frames a program carries (Documentation/networking/tuntap.rst in
//! Linux).

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::fs::{OFlags, fcntl_setfl};

use super::check;
use super::ethtool::named;

/// `_IOW('T', 202, int)` and `_IOW('T', 203, int)`, `include/uapi/linux/if_tun.h`.
const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
const TUNSETPERSIST: libc::c_ulong = 0x4004_54cb;
/// `_IOR('T', 210, unsigned int)`, in the same header.
const TUNGETIFF: libc::c_ulong = 0x8004_54d2;

/// A TAP. Its interface is removed on drop, unless left to its namespace.
#[derive(Debug)]
pub struct Tap(File);

impl Tap {
    /// Make a TAP with this name in the network namespace of the calling thread.
    pub fn open(name: &str) -> io::Result<Self> {
        let path = "/dev/net/tun";
        let about = |what: &str, error: io::Error| {
            io::Error::new(error.kind(), format!("{path} {what}: {error}"))
        };
        let device = File::options().read(true).write(true).open(path);
        let device = device.map_err(|error| about("cannot be opened", error))?;
        let mut request = named(name)?;
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the call reads no more than the request, which outlives it.
        check(unsafe { libc::ioctl(device.as_raw_fd(), TUNSETIFF as _, &raw const request) })
            .map_err(|error| about("gave no interface", error))?;
        fcntl_setfl(&device, OFlags::NONBLOCK)?;
        Ok(Self(device))
    }

    pub fn given(device: File) -> io::Result<Self> {
        fcntl_setfl(&device, OFlags::NONBLOCK)?;
        Ok(Self(device))
    }

    /// Name of the interface attached to a descriptor; `None` unless it is a TAP without packet information.
    pub fn interface_of(descriptor: BorrowedFd<'_>) -> Option<String> {
        // SAFETY: all-zero is a valid ifreq.
        let mut found: libc::ifreq = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open; the call writes an ifreq, which outlives it.
        check(unsafe { libc::ioctl(descriptor.as_raw_fd(), TUNGETIFF as _, &raw mut found) })
            .ok()?;
        // SAFETY: the call has written it.
        let flags = i32::from(unsafe { found.ifr_ifru.ifru_flags });
        let wanted = libc::IFF_TAP | libc::IFF_NO_PI;
        let name = found.ifr_name.map(libc::c_char::cast_unsigned);
        let length = name.iter().position(|&byte| byte == 0)?;
        (flags & wanted == wanted).then(|| String::from_utf8_lossy(&name[..length]).into_owned())
    }

    pub fn receive(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.0).read(into) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn send(&self, frame: &[u8]) -> io::Result<bool> {
        match (&self.0).write(frame) {
            Ok(_) => Ok(true),
            Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Leave the interface to its namespace, to be removed with it. The kernel removes all interfaces of a
    /// namespace together; a single one takes 20 ms.
    pub fn leave(self) {
        // SAFETY: the descriptor is open; the call takes integers only. On failure the interface is
        // removed now.
        unsafe { libc::ioctl(self.0.as_raw_fd(), TUNSETPERSIST as _, 1) };
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
