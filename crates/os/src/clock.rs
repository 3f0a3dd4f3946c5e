use lanlab_messages::ClockFacts;
use lanlab_units::Instant;
use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute};

pub(super) fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to. The call cannot fail for these clocks.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The host's monotonic clock (`CLOCK_MONOTONIC`): common to all processes and network namespaces of a kernel, and
/// never set back.
pub fn monotonic() -> Instant {
    Instant::from_nanos(read(libc::CLOCK_MONOTONIC))
}

/// Nanoseconds since 1970 on the host's calendar clock, which may be stepped.
pub fn realtime_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// Sleep until `deadline` on the monotonic clock, or a little longer; a signal may end it early.
pub fn sleep_until(deadline: Instant) {
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(deadline));
}

pub(super) fn timespec(at: Instant) -> Timespec {
    let nanos = at.as_nanos();
    Timespec {
        tv_sec: (nanos / 1_000_000_000).cast_signed(),
        tv_nsec: (nanos % 1_000_000_000).cast_signed(),
    }
}

/// The kernel's clock discipline (adjtimex(2)), without the clock daemons; `None` if the call fails.
pub fn discipline() -> Option<ClockFacts> {
    // SAFETY: all-zero is a valid timex, which queries without changing anything.
    let mut timex: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: `timex` is a valid timex to read and write.
    if unsafe { libc::adjtimex(&raw mut timex) } < 0 {
        return None;
    }
    let unit_ns = if timex.status & libc::STA_NANO == 0 { 1_000 } else { 1 };
    let bound_ns = |microseconds: libc::c_long| u64::try_from(microseconds).unwrap_or(0) * 1_000;
    Some(ClockFacts {
        synchronised: timex.status & libc::STA_UNSYNC == 0,
        offset_ns: timex.offset * unit_ns,
        maximum_error_ns: bound_ns(timex.maxerror),
        estimated_error_ns: bound_ns(timex.esterror),
        disciplined_by: Vec::new(),
    })
}

/// Request precise wake-ups of this thread: by default the kernel may add 50 µs to save power (`PR_SET_TIMERSLACK`,
/// prctl(2)).
pub fn prepare_thread() {
    // SAFETY: takes integers only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
