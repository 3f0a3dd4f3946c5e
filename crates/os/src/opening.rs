//! How files are opened in a directory that others can change.

#[cfg(unix)]
use rustix::fs::OFlags;

/// Flags by which an open follows no link, waits for no other end of a FIFO, and takes no terminal.
/// What was opened has to be looked at: it may be none of what was there before.
#[cfg(unix)]
pub const WITHOUT_FOLLOWING: i32 =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).bits().cast_signed();

/// Flags by which a directory is opened to look names up in it, and nothing else is opened. On Linux
/// it need not let itself be listed.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub const TO_PASS: i32 =
    OFlags::NOFOLLOW.union(OFlags::DIRECTORY).union(OFlags::PATH).bits().cast_signed();

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub const TO_PASS: i32 = OFlags::NOFOLLOW.union(OFlags::DIRECTORY).bits().cast_signed();
