//! Record locks, attributes, dates, and server-side copies.

use super::files::FileHandle;
use super::text::{Name, messages};
use crate::fields::fields;

pub mod lock {
    pub const NOW: u8 = 0x01;
    pub const SHARED: u8 = 0x02;
}

fields! {
    /// Logs a range, or also locks it; `timeout` is in 1/18.2 s.
    Log, Big, "ncp log record" => {
        flags: u8,
        file: FileHandle,
        offset: u32,
        length: u32,
        timeout: u16,
    }
}

fields! {
    Range, Big, "ncp record" => {
        reserved: u8,
        file: FileHandle,
        offset: u32,
        length: u32,
    }
}

fields! {
    SetDate, Big, "ncp date of a file" => {
        reserved: u8,
        file: FileHandle,
        time: u16,
        date: u16,
    }
}

fields! {
    Copying, Big, "ncp copy" => {
        reserved: u8,
        from: FileHandle,
        to: FileHandle,
        from_offset: u32,
        to_offset: u32,
        count: u32,
    }
}

messages! {
    SetAttributes<'a>, "ncp attributes" => {
        attributes: u8,
        handle: u8,
        search: u8,
        path: Name<'a>,
    }
}
