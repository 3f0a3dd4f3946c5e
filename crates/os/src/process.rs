use std::io;

use rustix::process::{
    Resource, Rlimit, getegid, geteuid, getpriority_process, getrlimit, setpriority_process,
    setrlimit,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, CpuSet, remove_capability_from_bounding_set, sched_setaffinity,
    set_capabilities, set_no_new_privs,
};

/// Bind the calling thread to one processor (`sched_setaffinity`).
///
/// # Errors
/// `EINVAL` if there is no such processor, or this process may not use it.
pub fn bind_to_processor(processor: usize) -> io::Result<()> {
    if processor >= CpuSet::MAX_CPU {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut set = CpuSet::new();
    set.set(processor);
    Ok(sched_setaffinity(None, &set)?)
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
/// (getrlimit(2)). Raise the hard limit to `least` before, if permitted (`CAP_SYS_RESOURCE`, capabilities(7)).
/// [`descriptor_limit`] returns the result.
pub fn raise_descriptor_limit(least: u64) {
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

/// Give up all capabilities of this process and of programs that it starts, for good. The process must have
/// one thread, because each thread has its own capabilities.
pub fn give_up_rights() -> io::Result<()> {
    set_no_new_privs(true)?;
    for number in 0..u64::BITS {
        // If this is not permitted, the process has no capabilities to pass on.
        let _ = remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number));
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(set_capabilities(None, sets)?)
}
