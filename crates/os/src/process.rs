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
pub fn bind_to_processor(processor: usize) -> io::Result<()> {
    if processor >= CpuSet::MAX_CPU {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut set = CpuSet::new();
    set.set(processor);
    Ok(sched_setaffinity(None, &set)?)
}

/// Adjust glibc's allocator (mallopt(3)) to servers. It gets one arena for each processor: with its eight, memory
/// freed by a server's threads but not returned grows over a million requests.
pub fn adjust_allocator() {
    #[cfg(target_env = "gnu")]
    {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let arenas = libc::c_int::try_from(processors).unwrap_or(libc::c_int::MAX);
        for (parameter, value) in [
            (libc::M_ARENA_MAX, arenas),
            // Buffers up to 4 MiB come from memory that each arena keeps, up to 16 MiB: fresh pages for them took a
            // quarter of an SMB server's CPU time.
            (libc::M_MMAP_THRESHOLD, 4 << 20),
            (libc::M_TRIM_THRESHOLD, 16 << 20),
        ] {
            // SAFETY: takes integers only; a refusal leaves the default.
            unsafe { libc::mallopt(parameter, value) };
        }
    }
}

/// Raise the priority of the calling thread, in nice(1) units, if permitted; returns the resulting value
/// (setpriority(2), per thread on Linux).
pub fn favour_thread(nice: i32) -> Option<i32> {
    // A refusal changes nothing.
    let _ = setpriority_process(None, nice);
    getpriority_process(None).ok()
}

const SHORTEST_SLICE_NS: u64 = 100_000;

/// Give the calling thread short time slices, so that it runs at once when it wakes up beside busy programs. Its share
/// of the processor stays the same. No effect before Linux 6.12.
pub fn shorten_slices() {
    let mut scheduling = scheduling();
    scheduling.sched_runtime = SHORTEST_SLICE_NS;
    // A refusal changes nothing. SAFETY: the kernel reads `size` bytes.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const scheduling, 0) };
}

/// How the calling thread is scheduled (`sched_getattr(2)`).
fn scheduling() -> libc::sched_attr {
    // SAFETY: all-zero is valid.
    let mut found: libc::sched_attr = unsafe { std::mem::zeroed() };
    found.size = size_of::<libc::sched_attr>() as u32;
    // SAFETY: the kernel writes at most `size` bytes.
    unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut found, found.size, 0) };
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_slices_of_a_thread_get_shorter() {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        let version = (numbers.next().unwrap().unwrap(), numbers.next().unwrap().unwrap());
        std::thread::spawn(move || {
            let before = scheduling();
            shorten_slices();
            let after = scheduling();
            assert_eq!(
                (after.sched_policy, after.sched_nice),
                (before.sched_policy, before.sched_nice)
            );
            if version >= (6, 12) && before.sched_policy == libc::SCHED_OTHER as u32 {
                assert_eq!(after.sched_runtime, SHORTEST_SLICE_NS);
            }
        })
        .join()
        .unwrap();
    }
}
