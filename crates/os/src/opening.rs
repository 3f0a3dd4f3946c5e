//! Open flags for directories that others can change.

use rustix::fs::OFlags;

/// Flags to open without following links, blocking on FIFOs or acquiring a terminal. Check what was opened: it may
/// have been replaced.
pub const WITHOUT_FOLLOWING: i32 =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).bits().cast_signed();

/// Flags to open a directory, and nothing else, for looking up names. On Linux it need not be listable.
pub const TO_PASS: i32 =
    OFlags::NOFOLLOW.union(OFlags::DIRECTORY).union(OFlags::PATH).bits().cast_signed();
