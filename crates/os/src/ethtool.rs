//! Offloads of a network device: packet processing by its driver instead of the kernel.
//!
//! A link shaped to an Ethernet's speed must carry Ethernet frames; with offloads it would carry buffers of up to
//! 64 KiB.

use std::ffi::CString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;

use super::check;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offload {
    /// The name that ethtool(8) prints.
    pub name: &'static str,
    pub on: bool,
}

pub(super) const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// `include/uapi/linux/ethtool.h`: the command that reads an offload, and the one that sets it.
const OFFLOADS: [(&str, u32, u32); 6] = [
    ("tcp-segmentation-offload", 0x1e, 0x1f),
    ("generic-segmentation-offload", 0x23, 0x24),
    ("generic-receive-offload", 0x2b, 0x2c),
    ("scatter-gather", 0x18, 0x19),
    ("tx-checksumming", 0x16, 0x17),
    ("rx-checksumming", 0x14, 0x15),
];

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

fn call(device: &str, command: u32, data: u32) -> io::Result<u32> {
    let mut value = Value { command, data };
    ask(device, SIOCETHTOOL, &mut value)?;
    Ok(value.data)
}

/// Make a request about a device by an ioctl(2) whose argument is an `ifreq` that points to `value`.
pub(super) fn ask<T>(device: &str, request: libc::c_ulong, value: &mut T) -> io::Result<()> {
    let mut argument = named(device)?;
    argument.ifr_ifru.ifru_data = std::ptr::from_mut(value).cast();
    // SAFETY: `value` outlives the call; `T` is the type that the request reads and writes.
    unsafe { control(request, &mut argument) }
}

/// An `ifreq` that names a device (netdevice(7)).
pub(super) fn named(device: &str) -> io::Result<libc::ifreq> {
    let name = CString::new(device).map_err(io::Error::other)?;
    let name = name.as_bytes_with_nul();
    if name.len() > libc::IFNAMSIZ {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    // SAFETY: all-zero is a valid ifreq.
    let mut argument: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in argument.ifr_name.iter_mut().zip(name) {
        *to = from.cast_signed();
    }
    Ok(argument)
}

/// Make a request about a device.
///
/// # Safety
/// `argument` must point to memory that is valid for the request.
pub(super) unsafe fn control(request: libc::c_ulong, argument: &mut libc::ifreq) -> io::Result<()> {
    // Any socket can reach the device by name (netdevice(7)).
    let socket = UnixDatagram::unbound()?;
    // SAFETY: the descriptor is open; the caller guarantees the argument.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), request as _, std::ptr::from_mut(argument)) })
        .map(drop)
}

/// The offloads of `device` in this process's network namespace.
pub fn offloads(device: &str) -> io::Result<Vec<Offload>> {
    let mut list = Vec::with_capacity(OFFLOADS.len());
    for (name, read, _) in OFFLOADS {
        match call(device, read, 0) {
            Ok(value) => list.push(Offload { name, on: value != 0 }),
            // An offload that the driver does not support is off.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                list.push(Offload { name, on: false });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(list)
}

/// Switch every offload of `device` on or off, and return the resulting state.
pub fn set_offloads(device: &str, on: bool) -> io::Result<Vec<Offload>> {
    for (_, _, set) in OFFLOADS {
        match call(device, set, u32::from(on)) {
            Err(error) if error.raw_os_error() != Some(libc::EOPNOTSUPP) => return Err(error),
            _ => {}
        }
    }
    offloads(device)
}
