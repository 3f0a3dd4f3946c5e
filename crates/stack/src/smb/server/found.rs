//! File information in messages.

use lanlab_wire::smb1::attributes;
use lanlab_wire::smb1::time::{DateTime, seconds_in_zone, ticks_from_unix};

use crate::files::Found;

pub fn attributes_of(found: &Found) -> u16 {
    let read_only = if found.is_read_only { attributes::READ_ONLY } else { 0 };
    read_only | if found.is_directory { attributes::DIRECTORY } else { attributes::ARCHIVE }
}

/// The low 32 bits of a size, or all ones if it does not fit.
pub fn size_of(found: &Found) -> u32 {
    u32::try_from(found.size_bytes).unwrap_or(u32::MAX)
}

pub fn written_s(found: &Found) -> u32 {
    seconds_in_zone(found.modified_s.cast_signed(), 0)
}

pub fn ticks(since_1970_s: u64) -> u64 {
    ticks_from_unix(u32::try_from(since_1970_s).unwrap_or(u32::MAX))
}

/// Whole seconds since 1970 to set. `None` leaves the time unchanged: absent, or before 1970.
pub fn time_to_set(since_1970_s: Option<impl TryInto<u64>>) -> Option<u64> {
    since_1970_s?.try_into().ok()
}

pub fn read_only_to_set(found: &Found, attributes: u16) -> Option<bool> {
    let is_read_only = attributes & attributes::READ_ONLY != 0;
    (!found.is_directory && found.is_read_only != is_read_only).then_some(is_read_only)
}

pub fn moment(since_1970_s: u64) -> DateTime {
    DateTime::from_unix(since_1970_s.cast_signed())
}
