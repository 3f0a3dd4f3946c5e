//! Queries about a file system by transaction 2.
//!
//! Source: [MS-CIFS] 2.2.8.2. Levels from 1000 on are passed through to Windows NT ([MS-FSCC] 2.5).

use super::reader::Reader;
use super::strings::Text;
use crate::Error;
use crate::fields::{Field, Order, fields};

const FORMAT: &str = "smb1 file system information";

pub mod level {
    /// [`Allocation`](super::Allocation) of LAN Manager.
    pub const ALLOCATION: u16 = 0x0001;
    /// LAN Manager: a 32-bit serial number, an 8-bit length and the label.
    pub const INFO_VOLUME: u16 = 0x0002;
    /// [`Volume`](super::Volume).
    pub const VOLUME: u16 = 0x0102;
    /// [`Size`](super::Size).
    pub const SIZE: u16 = 0x0103;
    /// [`Device`](super::Device).
    pub const DEVICE: u16 = 0x0104;
    /// [`Attribute`](super::Attribute).
    pub const ATTRIBUTE: u16 = 0x0105;
    pub const PASS_SIZE: u16 = 1003;
    pub const PASS_ATTRIBUTE: u16 = 1005;
    /// [`FullSize`](super::FullSize).
    pub const PASS_FULL_SIZE: u16 = 1007;
}

fields! {
    Allocation, Little, FORMAT => {
        id: u32,
        sectors_per_unit: u32,
        total_units: u32,
        free_units: u32,
        sector_size: u16,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Volume<'a> {
    /// Time of creation, 100 ns since 1601.
    pub creation_time: u64,
    pub serial_number: u32,
    pub label: Text<'a>,
}

impl<'a> Volume<'a> {
    /// Read the level. Its name is always UTF-16LE, even if other strings use a code page, as
    /// Windows NT and Samba write it.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        let (creation_time, serial_number, len, _): (_, _, u32, u16) = reader.field()?;
        let label = reader.text_of(len as usize, true)?;
        Ok(Self { creation_time, serial_number, label })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let label = self.label.octets();
        (self.creation_time, self.serial_number, label.len() as u32, 0_u16)
            .write(Order::Little, out);
        out.extend_from_slice(label);
    }
}

fields! {
    Size, Little, FORMAT => {
        total_units: u64,
        free_units: u64,
        sectors_per_unit: u32,
        sector_size: u32,
    }
}

fields! {
    FullSize, Little, FORMAT => {
        total_units: u64,
        available_units: u64,
        free_units: u64,
        sectors_per_unit: u32,
        sector_size: u32,
    }
}

fields! {
    Device, Little, FORMAT => {
        /// Type of device: 7 is a disk.
        device_type: u32,
        /// Characteristics of the device: 0x20 means mounted.
        characteristics: u32,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attribute<'a> {
    /// Capabilities: 1 case-sensitive search, 2 case-preserving names, 4 Unicode.
    pub attributes: u32,
    pub max_name_len: u32,
    pub name: Text<'a>,
}

impl<'a> Attribute<'a> {
    /// Read the level. Its name is always UTF-16LE, even if other strings use a code page, as
    /// Windows NT and Samba write it.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        let (attributes, max_name_len) = reader.field()?;
        Ok(Self { attributes, max_name_len, name: reader.counted_text()? })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let name = self.name.octets();
        (self.attributes, self.max_name_len, name.len() as u32).write(Order::Little, out);
        out.extend_from_slice(name);
    }
}
