//! Entries of listings by transaction 2.
//!
//! Source: [MS-CIFS] 2.2.8.1.1 (standard), 2.2.8.1.4 (directory), 2.2.8.1.5 (full
//! directory), 2.2.8.1.7 (both directory).

use super::find::level;
use super::reader::Reader;
use super::strings::Text;
use super::time::DateTime;
use crate::Error;
use crate::fields::{Field, Order};

const FORMAT: &str = "smb1 find";

const DIRECTORY_LEN: usize = 64;
const FULL_DIRECTORY_LEN: usize = 68;
const BOTH_DIRECTORY_LEN: usize = 94;
const SHORT_NAME_LEN: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standard<'a> {
    pub resume_key: Option<u32>,
    pub creation: DateTime,
    pub last_access: DateTime,
    pub last_write: DateTime,
    pub size: u32,
    pub allocation_size: u32,
    pub attributes: u16,
    /// Name of the file, at most 255 octets.
    pub name: Text<'a>,
}

impl<'a> Standard<'a> {
    fn read(reader: &mut Reader<'a>, resume_keys: bool, unicode: bool) -> Result<Self, Error> {
        let mut entry = Self {
            resume_key: if resume_keys { Some(reader.u32()?) } else { None },
            creation: reader.field()?,
            last_access: reader.field()?,
            last_write: reader.field()?,
            size: reader.field()?,
            allocation_size: reader.field()?,
            attributes: reader.field()?,
            name: Text::default(),
        };
        let len = usize::from(reader.u8()?);
        if unicode {
            reader.align();
        }
        entry.name = reader.text_of(len, unicode)?;
        // The terminator, which some servers omit in the last entry.
        reader.skip(if unicode { 2 } else { 1 }.min(reader.left()))?;
        Ok(entry)
    }

    pub fn len_at(&self, offset: usize) -> usize {
        let (unicode, name) = (self.name.is_unicode(), self.name.octets().len());
        let at = offset + if self.resume_key.is_some() { 27 } else { 23 };
        let at = if unicode { at.next_multiple_of(2) } else { at };
        at + name + if unicode { 2 } else { 1 } - offset
    }

    /// Append the entry to a response whose data begin at `start` of `out`.
    pub fn emit(&self, start: usize, out: &mut Vec<u8>) {
        if let Some(key) = self.resume_key {
            key.write(Order::Little, out);
        }
        [self.creation, self.last_access, self.last_write].write(Order::Little, out);
        let name_len = self.name.octets().len() as u8;
        (self.size, self.allocation_size, self.attributes, name_len).write(Order::Little, out);
        if self.name.is_unicode() && !(out.len() - start).is_multiple_of(2) {
            out.push(0);
        }
        super::transaction2::put_text(self.name, out);
    }
}

#[derive(Debug, Clone)]
pub struct Standards<'a> {
    reader: Reader<'a>,
    left: u16,
    resume_keys: bool,
    unicode: bool,
}

impl<'a> Standards<'a> {
    /// Iterate over `count` entries of `data`. `resume_keys`: the request asked for resume keys.
    pub const fn new(data: &'a [u8], count: u16, resume_keys: bool, unicode: bool) -> Self {
        Self { reader: Reader::whole(FORMAT, data), left: count, resume_keys, unicode }
    }
}

impl<'a> Iterator for Standards<'a> {
    type Item = Result<Standard<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let entry = Standard::read(&mut self.reader, self.resume_keys, self.unicode);
        if entry.is_err() {
            self.left = 0;
        }
        Some(entry)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BothDirectory<'a> {
    pub file_index: u32,
    /// Time of creation, 100 ns since 1601.
    pub creation_time: u64,
    /// Time of the last access, 100 ns since 1601.
    pub last_access_time: u64,
    /// Time of the last write, 100 ns since 1601.
    pub last_write_time: u64,
    /// Time of the last change, 100 ns since 1601.
    pub change_time: u64,
    pub end_of_file: u64,
    pub allocation_size: u64,
    pub attributes: u32,
    pub ea_size: u32,
    /// Name in 8.3 form, at most 24 octets, always UTF-16LE. Empty if the name itself has that
    /// form.
    pub short_name: &'a [u8],
    pub name: Text<'a>,
}

impl<'a> BothDirectory<'a> {
    fn read(reader: &mut Reader<'a>, unicode: bool) -> Result<(u32, Self), Error> {
        let next = reader.u32()?;
        let mut entry = Self {
            file_index: reader.u32()?,
            creation_time: reader.u64()?,
            last_access_time: reader.u64()?,
            last_write_time: reader.u64()?,
            change_time: reader.u64()?,
            end_of_file: reader.u64()?,
            allocation_size: reader.u64()?,
            attributes: reader.u32()?,
            ..Self::default()
        };
        let name_len = reader.u32()? as usize;
        entry.ea_size = reader.u32()?;
        let at = reader.offset();
        let short_name_len = usize::from(reader.u8()?);
        reader.skip(1)?;
        let short_name = reader.take(SHORT_NAME_LEN)?;
        let Some(short_name) = short_name.get(..short_name_len) else {
            return Err(reader.forbidden("ShortNameLength", at, short_name_len as u64));
        };
        entry.short_name = short_name;
        entry.name = reader.text_of(name_len, unicode)?;
        Ok((next, entry))
    }

    const fn head_len(at_level: u16) -> usize {
        match at_level {
            level::DIRECTORY => DIRECTORY_LEN,
            level::FULL_DIRECTORY => FULL_DIRECTORY_LEN,
            _ => BOTH_DIRECTORY_LEN,
        }
    }

    /// Length of the entry at a level, without the padding before the next one.
    pub fn len_at(&self, level: u16) -> usize {
        Self::head_len(level) + self.name_len()
    }

    /// Length of the name. In a code page it includes the terminator, as Windows 9x expects and
    /// Windows NT and Samba write.
    fn name_len(&self) -> usize {
        self.name.octets().len() + usize::from(!self.name.is_unicode())
    }

    /// Append the entry to a response whose data begin at `start` of `out`. `last` is the position
    /// of the previous entry in `out`; returns the position of this one.
    pub fn emit(&self, start: usize, last: Option<usize>, out: &mut Vec<u8>) -> usize {
        self.emit_at(level::BOTH_DIRECTORY, start, last, out)
    }

    pub fn emit_at(
        &self,
        at_level: u16,
        start: usize,
        last: Option<usize>,
        out: &mut Vec<u8>,
    ) -> usize {
        if let Some(last) = last {
            while !(out.len() - start).is_multiple_of(8) {
                out.push(0);
            }
            let next = (out.len() - last) as u32;
            out[last..last + 4].copy_from_slice(&next.to_le_bytes());
        }
        let at = out.len();
        let times =
            [self.creation_time, self.last_access_time, self.last_write_time, self.change_time];
        (0_u32, self.file_index, times).write(Order::Little, out);
        let name_len = self.name_len() as u32;
        (self.end_of_file, self.allocation_size, self.attributes, name_len, self.ea_size)
            .write(Order::Little, out);
        let short_name = &self.short_name[..self.short_name.len().min(SHORT_NAME_LEN)];
        out.extend_from_slice(&[short_name.len() as u8, 0]);
        out.extend_from_slice(short_name);
        // Each level is the beginning of the next.
        out.resize(at + Self::head_len(at_level), 0);
        out.extend_from_slice(self.name.octets());
        out.resize(at + self.len_at(at_level), 0);
        at
    }
}

/// Entries of Windows NT in the data of a response. Each has the offset of the next.
#[derive(Debug, Clone)]
pub struct BothDirectories<'a> {
    data: &'a [u8],
    at: Option<usize>,
    left: u16,
    unicode: bool,
}

impl<'a> BothDirectories<'a> {
    pub const fn new(data: &'a [u8], count: u16, unicode: bool) -> Self {
        Self { data, at: Some(0), left: count, unicode }
    }
}

impl<'a> Iterator for BothDirectories<'a> {
    type Item = Result<BothDirectory<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let at = self.at.take()?;
        let entry = Reader::new(FORMAT, self.data, at, self.data.len()).and_then(|mut reader| {
            let (next, entry) = BothDirectory::read(&mut reader, self.unicode)?;
            let end = reader.offset() - at;
            if next != 0 && (next as usize) < end {
                return Err(reader.forbidden("NextEntryOffset", at, u64::from(next)));
            }
            self.at = at.checked_add(next as usize).filter(|_| next != 0);
            Ok(entry)
        });
        Some(entry)
    }
}
