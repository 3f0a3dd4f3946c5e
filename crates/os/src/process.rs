use std::io;

use rustix::process::{
    Resource, Rlimit, getegid, geteuid, getpriority_process, getrlimit, setpriority_process,
    setrlimit,
};

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

/// Keep at most one arena of glibc's allocator for each processor: with its eight, memory freed by
/// a server's threads but not returned grows over a million requests (mallopt(3)).
pub fn limit_arenas() {
    #[cfg(target_env = "gnu")]
    {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let arenas = libc::c_int::try_from(processors).unwrap_or(libc::c_int::MAX);
        // SAFETY: takes integers only; a refusal leaves the default.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, arenas) };
    }
}

/// Raise the priority of the calling thread, in nice(1) units, if permitted; returns the resulting value
/// (setpriority(2), per thread on Linux).
pub fn favour_thread(nice: i32) -> Option<i32> {
    // A refusal changes nothing.
    let _ = setpriority_process(None, nice);
    getpriority_process(None).ok()
}

/// Raise the limit of open files to the hard limit: the usual soft limit of 1024 is too low for a thousand flows
/// (getrlimit(2)).
pub fn raise_descriptor_limit() {
    raise_descriptor_limit_to(0);
}

/// Raise the hard limit of open files to `least`, if permitted (`CAP_SYS_RESOURCE`,
/// capabilities(7)), and the soft limit to the hard one. [`descriptor_limit`] returns the result.
pub fn raise_descriptor_limit_to(least: u64) {
    let hard = getrlimit(Resource::Nofile).maximum;
    // If the limit stays, opening a socket will say so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard });
    if hard.is_some_and(|hard| hard < least) {
        let more = Rlimit { current: Some(least), maximum: Some(least) };
        let _ = setrlimit(Resource::Nofile, more);
    }
}

/// Limit of open files and sockets.
pub fn descriptor_limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Effective user and group ID of this process (geteuid(2), getegid(2)).
pub fn user_and_group() -> (u32, u32) {
    (geteuid().as_raw(), getegid().as_raw())
}

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: libc::c_int,
}

/// `_LINUX_CAPABILITY_VERSION_3` in `include/uapi/linux/capability.h`.
const CAPABILITY_VERSION: u32 = 0x2008_0522;
const CAPABILITIES: libc::c_ulong = 64;

/// Give up all capabilities of this process and of programs that it starts, for good. The process must have
/// one thread, because each thread has its own capabilities.
pub fn give_up_rights() -> io::Result<()> {
    // SAFETY: takes integers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    for capability in 0..CAPABILITIES {
        // If this is not permitted, the process has no capabilities to pass on. SAFETY: takes integers only.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    let header = CapabilityHeader { version: CAPABILITY_VERSION, pid: 0 };
    // Effective, permitted and inheritable ones, in two halves.
    let none = [[0_u32; 3]; 2];
    // SAFETY: both pointers are valid during the call.
    let set = unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) };
    check(set as libc::c_int).map(drop)
}
