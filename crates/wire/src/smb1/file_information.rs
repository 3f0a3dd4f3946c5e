//! What is known of a file, and what of it can be set, by transaction 2.
//!
//! Source: [MS-CIFS] 2.2.8.3 (query levels), 2.2.8.4 (set levels); levels from 1000 on pass through
//! those of Windows NT ([MS-FSCC] 2.4).

use super::reader::Reader;
use super::strings::Text;
use super::time::DateTime;
use crate::Error;

const FORMAT: &str = "smb1 file information";

/// Information levels to query.
pub mod query {
    /// [`Standard`](super::Standard) of LAN Manager.
    pub const INFO_STANDARD: u16 = 0x0001;
    /// [`Basic`](super::Basic).
    pub const BASIC: u16 = 0x0101;
    /// [`Sizes`](super::Sizes).
    pub const STANDARD: u16 = 0x0102;
    /// Octets of extended attributes: 32 bits.
    pub const EA: u16 = 0x0103;
    /// [`All`](super::All).
    pub const ALL: u16 = 0x0107;
    /// As [`BASIC`].
    pub const PASS_BASIC: u16 = 1004;
    /// As [`STANDARD`].
    pub const PASS_STANDARD: u16 = 1005;
    /// As [`EA`].
    pub const PASS_EA: u16 = 1007;
    /// As [`ALL`] in another order, which nothing here reads.
    pub const PASS_ALL: u16 = 1018;
}

/// Information levels to set.
pub mod set {
    /// Times of [`Standard`](super::Standard) of LAN Manager.
    pub const INFO_STANDARD: u16 = 0x0001;
    /// [`Basic`](super::Basic). A time or attributes of zero stay.
    pub const BASIC: u16 = 0x0101;
    /// [`Disposition`](super::Disposition).
    pub const DISPOSITION: u16 = 0x0102;
    /// [`Length`](super::Length) that is set aside.
    pub const ALLOCATION: u16 = 0x0103;
    /// [`Length`](super::Length) of the file.
    pub const END_OF_FILE: u16 = 0x0104;
    /// As [`BASIC`].
    pub const PASS_BASIC: u16 = 1004;
    /// As [`DISPOSITION`].
    pub const PASS_DISPOSITION: u16 = 1013;
    /// As [`ALLOCATION`].
    pub const PASS_ALLOCATION: u16 = 1019;
    /// As [`END_OF_FILE`].
    pub const PASS_END_OF_FILE: u16 = 1020;
}

/// Times, size and attributes of LAN Manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standard {
    /// Creation.
    pub creation: DateTime,
    /// Last access.
    pub last_access: DateTime,
    /// Last write.
    pub last_write: DateTime,
    /// Octets in the file.
    pub size: u32,
    /// Octets set aside for the file.
    pub allocation_size: u32,
    /// Attributes of the file.
    pub attributes: u16,
}

impl Standard {
    /// Read the level.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        Ok(Self {
            creation: DateTime::read(&mut reader)?,
            last_access: DateTime::read(&mut reader)?,
            last_write: DateTime::read(&mut reader)?,
            size: reader.u32()?,
            allocation_size: reader.u32()?,
            attributes: reader.u16()?,
        })
    }

    /// Append the level.
    pub fn emit(&self, out: &mut Vec<u8>) {
        for moment in [self.creation, self.last_access, self.last_write] {
            out.extend_from_slice(&moment.date.to_le_bytes());
            out.extend_from_slice(&moment.time.to_le_bytes());
        }
        out.extend_from_slice(&self.size.to_le_bytes());
        out.extend_from_slice(&self.allocation_size.to_le_bytes());
        out.extend_from_slice(&self.attributes.to_le_bytes());
    }
}

/// Times and attributes of Windows NT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Basic {
    /// Time of creation, 100 ns since 1601.
    pub creation_time: u64,
    /// Time of the last access, 100 ns since 1601.
    pub last_access_time: u64,
    /// Time of the last write, 100 ns since 1601.
    pub last_write_time: u64,
    /// Time of the last change, 100 ns since 1601.
    pub change_time: u64,
    /// Attributes of the file.
    pub attributes: u32,
}

impl Basic {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self {
            creation_time: reader.u64()?,
            last_access_time: reader.u64()?,
            last_write_time: reader.u64()?,
            change_time: reader.u64()?,
            attributes: reader.u32()?,
        })
    }

    /// Read the level. Four reserved octets after it may be left out.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Self::read(&mut Reader::whole(FORMAT, data))
    }

    /// Append the level with its reserved octets.
    pub fn emit(&self, out: &mut Vec<u8>) {
        for time in
            [self.creation_time, self.last_access_time, self.last_write_time, self.change_time]
        {
            out.extend_from_slice(&time.to_le_bytes());
        }
        out.extend_from_slice(&self.attributes.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
    }
}

/// Sizes of Windows NT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// Octets set aside for the file.
    pub allocation_size: u64,
    /// Octets in the file.
    pub end_of_file: u64,
    /// Number of names.
    pub links: u32,
    /// Whether the file is deleted when it is closed.
    pub delete_pending: bool,
    /// Whether it is a directory.
    pub is_directory: bool,
}

impl Sizes {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self {
            allocation_size: reader.u64()?,
            end_of_file: reader.u64()?,
            links: reader.u32()?,
            delete_pending: reader.u8()? != 0,
            is_directory: reader.u8()? != 0,
        })
    }

    /// Read the level. Two reserved octets after it may be left out.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Self::read(&mut Reader::whole(FORMAT, data))
    }

    /// Append the level with its reserved octets.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.allocation_size.to_le_bytes());
        out.extend_from_slice(&self.end_of_file.to_le_bytes());
        out.extend_from_slice(&self.links.to_le_bytes());
        let flags = [u8::from(self.delete_pending), u8::from(self.is_directory), 0, 0];
        out.extend_from_slice(&flags);
    }
}

/// All that most clients ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct All<'a> {
    /// Times and attributes.
    pub basic: Basic,
    /// Sizes.
    pub sizes: Sizes,
    /// Octets of extended attributes.
    pub ea_size: u32,
    /// Name of the file from the root of the share.
    pub name: Text<'a>,
}

impl<'a> All<'a> {
    /// Read the level, whose name is UTF-16LE also where other strings are of a code page: so Windows NT
    /// and Samba write it.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        let basic = Basic::read(&mut reader)?;
        reader.skip(4)?;
        let sizes = Sizes::read(&mut reader)?;
        reader.skip(2)?;
        let ea_size = reader.u32()?;
        let name_len = reader.u32()? as usize;
        Ok(Self { basic, sizes, ea_size, name: reader.text_of(name_len, true)? })
    }

    /// Append the level.
    pub fn emit(&self, out: &mut Vec<u8>) {
        self.basic.emit(out);
        self.sizes.emit(out);
        out.extend_from_slice(&self.ea_size.to_le_bytes());
        out.extend_from_slice(&(self.name.octets().len() as u32).to_le_bytes());
        out.extend_from_slice(self.name.octets());
    }
}

/// Whether a file is deleted when it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disposition {
    /// Whether it is.
    pub delete_pending: bool,
}

impl Disposition {
    /// Read the level.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Ok(Self { delete_pending: Reader::whole(FORMAT, data).u8()? != 0 })
    }

    /// Append the level.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.delete_pending));
    }
}

/// Length of a file, or what is set aside for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// Octets.
    pub octets: u64,
}

impl Length {
    /// Read the level.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Ok(Self { octets: Reader::whole(FORMAT, data).u64()? })
    }

    /// Append the level.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.octets.to_le_bytes());
    }
}
