use lanlab_messages::CpuTime;

pub fn thread_usage() -> CpuTime {
    // SAFETY: all-zero is a valid rusage, which the call then fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    let nanos = |time: libc::timeval| {
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1_000
    };
    CpuTime {
        user_ns: nanos(usage.ru_utime),
        system_ns: nanos(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw.cast_unsigned(),
        involuntary_switches: usage.ru_nivcsw.cast_unsigned(),
    }
}

/// CPU time of all threads of this process, nanoseconds (`CLOCK_PROCESS_CPUTIME_ID`).
pub fn process_cpu_ns() -> u64 {
    super::clock::read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

pub fn thread_cpu_ns() -> u64 {
    super::clock::read(libc::CLOCK_THREAD_CPUTIME_ID)
}
