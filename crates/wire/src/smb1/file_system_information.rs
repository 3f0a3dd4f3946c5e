//! What is known of a file system, by transaction 2.
//!
//! Source: [MS-CIFS] 2.2.8.2; levels from 1000 on pass through those of Windows NT ([MS-FSCC] 2.5).

use super::reader::Reader;
use super::strings::Text;
use crate::Error;

const FORMAT: &str = "smb1 file system information";

/// Information levels.
pub mod level {
    /// [`Allocation`](super::Allocation) of LAN Manager.
    pub const ALLOCATION: u16 = 0x0001;
    /// Serial number of 32 bits, length of 8 bits and label: of LAN Manager.
    pub const INFO_VOLUME: u16 = 0x0002;
    /// [`Volume`](super::Volume).
    pub const VOLUME: u16 = 0x0102;
    /// [`Size`](super::Size).
    pub const SIZE: u16 = 0x0103;
    /// [`Device`](super::Device).
    pub const DEVICE: u16 = 0x0104;
    /// [`Attribute`](super::Attribute).
    pub const ATTRIBUTE: u16 = 0x0105;
    /// As [`SIZE`].
    pub const PASS_SIZE: u16 = 1003;
    /// As [`ATTRIBUTE`].
    pub const PASS_ATTRIBUTE: u16 = 1005;
    /// [`FullSize`](super::FullSize).
    pub const PASS_FULL_SIZE: u16 = 1007;
}

/// Size of LAN Manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allocation {
    /// Identifier of the file system. Zero.
    pub id: u32,
    /// Sectors of a unit.
    pub sectors_per_unit: u32,
    /// Units.
    pub total_units: u32,
    /// Units that are free.
    pub free_units: u32,
    /// Octets of a sector.
    pub sector_size: u16,
}

impl Allocation {
    /// Read the level.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        Ok(Self {
            id: reader.u32()?,
            sectors_per_unit: reader.u32()?,
            total_units: reader.u32()?,
            free_units: reader.u32()?,
            sector_size: reader.u16()?,
        })
    }

    /// Append the level.
    pub fn emit(&self, out: &mut Vec<u8>) {
        for value in [self.id, self.sectors_per_unit, self.total_units, self.free_units] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(&self.sector_size.to_le_bytes());
    }
}

/// Volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Volume<'a> {
    /// Time of creation, 100 ns since 1601.
    pub creation_time: u64,
    /// Serial number.
    pub serial_number: u32,
    /// Label.
    pub label: Text<'a>,
}

impl<'a> Volume<'a> {
    /// Read the level, whose name is UTF-16LE also where other strings are of a code page: so Windows NT
    /// and Samba write it.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        let (creation_time, serial_number) = (reader.u64()?, reader.u32()?);
        let len = reader.u32()? as usize;
        reader.skip(2)?;
        Ok(Self { creation_time, serial_number, label: reader.text_of(len, true)? })
    }

    /// Append the level.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.creation_time.to_le_bytes());
        out.extend_from_slice(&self.serial_number.to_le_bytes());
        out.extend_from_slice(&(self.label.octets().len() as u32).to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(self.label.octets());
    }
}

/// Size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Units.
    pub total_units: u64,
    /// Units that are free.
    pub free_units: u64,
    /// Sectors of a unit.
    pub sectors_per_unit: u32,
    /// Octets of a sector.
    pub sector_size: u32,
}

impl Size {
    /// Read the level.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        Ok(Self {
            total_units: reader.u64()?,
            free_units: reader.u64()?,
            sectors_per_unit: reader.u32()?,
            sector_size: reader.u32()?,
        })
    }

    /// Append the level.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.total_units.to_le_bytes());
        out.extend_from_slice(&self.free_units.to_le_bytes());
        out.extend_from_slice(&self.sectors_per_unit.to_le_bytes());
        out.extend_from_slice(&self.sector_size.to_le_bytes());
    }
}

/// Size, with what the user may have of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FullSize {
    /// Units.
    pub total_units: u64,
    /// Units that are free for the user.
    pub available_units: u64,
    /// Units that are free.
    pub free_units: u64,
    /// Sectors of a unit.
    pub sectors_per_unit: u32,
    /// Octets of a sector.
    pub sector_size: u32,
}

impl FullSize {
    /// Read the level.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        Ok(Self {
            total_units: reader.u64()?,
            available_units: reader.u64()?,
            free_units: reader.u64()?,
            sectors_per_unit: reader.u32()?,
            sector_size: reader.u32()?,
        })
    }

    /// Append the level.
    pub fn emit(&self, out: &mut Vec<u8>) {
        for value in [self.total_units, self.available_units, self.free_units] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(&self.sectors_per_unit.to_le_bytes());
        out.extend_from_slice(&self.sector_size.to_le_bytes());
    }
}

/// Device below the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Device {
    /// Type of device: 7 is a disk.
    pub device_type: u32,
    /// What the device is like: 0x20 is that it is mounted.
    pub characteristics: u32,
}

impl Device {
    /// Read the level.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        Ok(Self { device_type: reader.u32()?, characteristics: reader.u32()? })
    }

    /// Append the level.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.device_type.to_le_bytes());
        out.extend_from_slice(&self.characteristics.to_le_bytes());
    }
}

/// Attributes of the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attribute<'a> {
    /// What it can: 1 is a search with case, 2 is names that keep it, 4 is Unicode.
    pub attributes: u32,
    /// Longest part of a path, characters.
    pub max_name_len: u32,
    /// Name of the file system.
    pub name: Text<'a>,
}

impl<'a> Attribute<'a> {
    /// Read the level, whose name is UTF-16LE also where other strings are of a code page: so Windows NT
    /// and Samba write it.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        let (attributes, max_name_len) = (reader.u32()?, reader.u32()?);
        let len = reader.u32()? as usize;
        Ok(Self { attributes, max_name_len, name: reader.text_of(len, true)? })
    }

    /// Append the level.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.attributes.to_le_bytes());
        out.extend_from_slice(&self.max_name_len.to_le_bytes());
        out.extend_from_slice(&(self.name.octets().len() as u32).to_le_bytes());
        out.extend_from_slice(self.name.octets());
    }
}
