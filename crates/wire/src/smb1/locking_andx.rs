//! Locks of byte ranges from LAN Manager on.
//!
//! Source: [MS-CIFS] 2.2.4.32.

use super::andx::Block;
use super::reader::Reader;
use super::writer::Writer;
use crate::Error;
use crate::fields::fields;

pub mod lock_type {
    pub const SHARED: u8 = 0x01;
    pub const CHANGE: u8 = 0x04;
    pub const CANCEL: u8 = 0x08;
    /// Ranges have 64 bits.
    pub const LARGE_FILES: u8 = 0x10;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    pub pid: u16,
    /// Start of the range in the file, octets.
    pub offset: u64,
    pub count: u64,
}

impl Range {
    fn read(reader: &mut Reader<'_>, large: bool) -> Result<Self, Error> {
        let pid = reader.u16()?;
        if large {
            reader.skip(2)?;
            return Ok(Self {
                pid,
                offset: reader.u64_high_first()?,
                count: reader.u64_high_first()?,
            });
        }
        Ok(Self { pid, offset: u64::from(reader.u32()?), count: u64::from(reader.u32()?) })
    }

    const fn len(large: bool) -> usize {
        if large { 20 } else { 10 }
    }

    fn write(self, large: bool, writer: &mut Writer<'_>) {
        writer.u16(self.pid);
        if large {
            writer.u16(0);
        }
        for value in [self.offset, self.count] {
            if large {
                writer.u32((value >> 32) as u32);
            }
            writer.u32(value as u32);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ranges<'a> {
    octets: &'a [u8],
    large: bool,
}

impl<'a> Ranges<'a> {
    pub const fn len(&self) -> usize {
        self.octets.len() / Range::len(self.large)
    }

    pub const fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = Range> + use<'a> {
        let (mut reader, large) = (Reader::whole("smb1 locking andx", self.octets), self.large);
        core::iter::from_fn(move || Range::read(&mut reader, large).ok())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    pub head: Head,
    pub unlocks: Ranges<'a>,
    pub locks: Ranges<'a>,
}

fields! {
    Head, Little => {
        fid: u16,
        lock_type: u8,
        oplock_level: u8,
        /// Time to wait for the ranges, ms. All ones: no limit.
        timeout_ms: u32,
    }
}

impl<'a> Request<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.andx_words(8)?;
        let (head, [unlocks, locks]): (Head, [u16; 2]) = words.field()?;
        let large = head.lock_type & lock_type::LARGE_FILES != 0;
        let mut bytes = block.bytes()?;
        let mut ranges = |count| {
            let len = usize::from(count) * Range::len(large);
            bytes.take(len).map(|octets| Ranges { octets, large })
        };
        Ok(Self { head, unlocks: ranges(unlocks)?, locks: ranges(locks)? })
    }
}

/// Write a request. `lock_type` determines whether ranges have 64 bits.
pub fn emit_request(head: &Head, unlocks: &[Range], locks: &[Range], writer: &mut Writer<'_>) {
    let large = head.lock_type & lock_type::LARGE_FILES != 0;
    writer.andx_words(8);
    writer.field((*head, unlocks.len() as u16, locks.len() as u16));
    writer.begin_bytes();
    for range in unlocks.iter().chain(locks) {
        range.write(large, writer);
    }
    writer.end();
}

pub fn emit_response(writer: &mut Writer<'_>) {
    super::logoff_andx::emit(writer);
}
