use std::io;

use super::check;

/// Bind the calling thread to one processor (`sched_setaffinity`).
///
/// # Errors
/// `EINVAL` if there is no such processor, or this process may not use it.
pub fn bind_to_processor(processor: usize) -> io::Result<()> {
    if processor >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: all-zero is a valid set; the index was checked against its size.
    check(unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    })
    .map(drop)
}

/// Let this process open as many files and sockets as its hard limit allows: the soft limit of
/// most systems, 1024, is less than a thousand flows need (getrlimit(2)).
pub fn raise_descriptor_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: points to a valid rlimit. If the limit stays, opening a socket will say so.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Numbers of the user and the group that this process acts as (geteuid(2), getegid(2)).
pub fn user_and_group() -> Option<(u32, u32)> {
    // SAFETY: neither takes anything, and neither can fail.
    Some(unsafe { (libc::geteuid(), libc::getegid()) })
}
