use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lanlab_units::Instant;

use crate::Discipline;

static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);

/// A monotonic clock that starts with the process: processes of a host do not share it.
pub fn monotonic() -> Instant {
    Instant::ZERO + START.elapsed()
}

/// Nanoseconds since 1970 by the host's calendar clock, which may be stepped.
pub fn realtime_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Sleep until `deadline` on the monotonic clock, or longer.
pub fn sleep_until(deadline: Instant) {
    std::thread::sleep(deadline - monotonic());
}

pub fn discipline() -> Option<Discipline> {
    None
}

pub fn prepare_thread() {}
