//! Linux: everything that the standard library does not offer. Each `unsafe` block calls one
//! system function and says why its arguments are valid.
#![allow(unsafe_code)]

mod adapter_work;
pub mod alarm;
pub mod clock;
pub mod datagram;
pub mod directory_watch;
pub mod ethtool;
pub mod file;
pub mod interfaces;
mod link_modes;
pub mod names;
mod namespace;
mod packet_socket;
pub mod ports;
pub mod process;
pub mod raw_link;
pub mod readiness;
mod rtnetlink;
mod tap;
pub mod tcp;
pub mod usage;
pub mod virtual_hosts;
pub mod wake;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The result of a system call that returns -1 and sets `errno` on failure.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn set_option<T>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the descriptor is borrowed and so open; pointer and length describe `value`.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    })
    .map(drop)
}
