//! Information about files and the file system, by level.

use lanlab_wire::smb1::file_information::{All, Basic, Sizes, Standard, query};
use lanlab_wire::smb1::file_system_information::{
    Allocation, Attribute, Device, FullSize, Size, Volume, level,
};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Encoded;

use super::found::{attributes_of, moment, size_of, ticks};
use super::pending::Whole;
use super::refusals::{Refused, malformed};
use super::search::LABEL;
use super::state::State;
use crate::files::{Found, Names};

const INFO_EA_SIZE: u16 = 0x0002;
const NAME: u16 = 0x0104;
/// Length-prefixed 8.3 name of a file.
const ALTERNATIVE_NAME: u16 = 0x0108;
const PASS_ALTERNATIVE_NAME: u16 = 1021;
const FILE_SYSTEM_ATTRIBUTES: u32 = 2 | 4;
const MAX_NAME: u32 = 255;
const SECTOR: u32 = 512;
const SECTORS_PER_UNIT: u32 = 8;
const DISK: u32 = 7;
const MOUNTED: u32 = 0x20;

fn standard(found: &Found) -> Standard {
    Standard {
        creation: moment(found.modified_s),
        last_access: moment(found.accessed_s),
        last_write: moment(found.modified_s),
        size: size_of(found),
        allocation_size: size_of(found),
        attributes: attributes_of(found),
    }
}

fn basic(found: &Found) -> Basic {
    let written = ticks(found.modified_s);
    Basic {
        creation_time: written,
        last_access_time: ticks(found.accessed_s),
        last_write_time: written,
        change_time: written,
        attributes: u32::from(attributes_of(found)),
    }
}

fn sizes(found: &Found, delete_pending: bool) -> Sizes {
    Sizes {
        allocation_size: found.size_bytes,
        end_of_file: found.size_bytes,
        links: u32::from(!delete_pending),
        delete_pending,
        is_directory: found.is_directory,
    }
}

fn put_name(name: &Encoded, data: &mut Vec<u8>) {
    let octets = name.text().octets();
    data.extend_from_slice(&(octets.len() as u32).to_le_bytes());
    data.extend_from_slice(octets);
}

impl State {
    /// A name in a Windows NT level: UTF-16LE even for code page clients, as in NT and Samba.
    fn nt_name(name: &str) -> Result<Encoded, Refused> {
        Encoded::new(name, true).map_err(malformed)
    }

    /// The path of a file, whose last name is written as stored.
    fn whole_name(path: &Names, found: &Found) -> Result<Encoded, Refused> {
        let above = path.split_last().map_or(&[][..], |(_, above)| above);
        let mut name = String::new();
        for part in above.iter().chain([&found.name]) {
            name.push('\\');
            name.push_str(part);
        }
        Self::nt_name(&name)
    }

    pub fn file_level(
        level: u16,
        path: &Names,
        (found, dies): (Found, bool),
        whole: &Whole,
    ) -> Result<Vec<u8>, Refused> {
        let mut data = Vec::new();
        match level {
            query::INFO_STANDARD => standard(&found).emit(&mut data),
            INFO_EA_SIZE => {
                standard(&found).emit(&mut data);
                data.extend_from_slice(&[0; 4]);
            }
            query::BASIC | query::PASS_BASIC => basic(&found).emit(&mut data),
            query::STANDARD | query::PASS_STANDARD => sizes(&found, dies).emit(&mut data),
            NAME => put_name(&Self::whole_name(path, &found)?, &mut data),
            query::EA | query::PASS_EA => data.extend_from_slice(&[0; 4]),
            ALTERNATIVE_NAME | PASS_ALTERNATIVE_NAME => {
                if found.short_name.is_empty() {
                    return Err(error::OBJECT_NAME_NOT_FOUND);
                }
                put_name(&Self::nt_name(&found.short_name)?, &mut data);
            }
            query::ALL => {
                let name = Self::whole_name(path, &found)?;
                let (basic, sizes) = (basic(&found), sizes(&found, dies));
                All { basic, sizes, ea_size: 0, name: name.text() }.emit(&mut data);
            }
            _ => return Err(error::INVALID_LEVEL),
        }
        fits(data, whole)
    }

    pub async fn file_system(&mut self, level: u16, whole: &Whole) -> Result<Vec<u8>, Refused> {
        let mut data = Vec::new();
        let unit = u64::from(SECTOR * SECTORS_PER_UNIT);
        let (total, free) = self.space().await?;
        let (total_units, free_units) = (total / unit, free / unit);
        let (sectors_per_unit, sector_size) = (SECTORS_PER_UNIT, SECTOR);
        match level {
            level::ALLOCATION => Allocation {
                id: 0,
                sectors_per_unit,
                total_units: u32::try_from(total_units).unwrap_or(u32::MAX),
                free_units: u32::try_from(free_units).unwrap_or(u32::MAX),
                sector_size: SECTOR as u16,
            }
            .emit(&mut data),
            level::INFO_VOLUME => {
                let label = Encoded::new(LABEL, whole.is_unicode).map_err(malformed)?;
                data.extend_from_slice(&[0; 4]);
                data.push(label.text().octets().len() as u8);
                data.extend_from_slice(label.text().octets());
                data.push(0);
            }
            level::VOLUME => {
                let label = Self::nt_name(LABEL)?;
                let volume = Volume { creation_time: 0, serial_number: 0, label: label.text() };
                volume.emit(&mut data);
            }
            level::SIZE | level::PASS_SIZE => {
                Size { total_units, free_units, sectors_per_unit, sector_size }.emit(&mut data);
            }
            level::PASS_FULL_SIZE => FullSize {
                total_units,
                available_units: free_units,
                free_units,
                sectors_per_unit,
                sector_size,
            }
            .emit(&mut data),
            level::DEVICE => {
                Device { device_type: DISK, characteristics: MOUNTED }.emit(&mut data);
            }
            level::ATTRIBUTE | level::PASS_ATTRIBUTE => {
                let name = Self::nt_name("NTFS")?;
                let attributes = FILE_SYSTEM_ATTRIBUTES;
                Attribute { attributes, max_name_len: MAX_NAME, name: name.text() }.emit(&mut data);
            }
            _ => return Err(error::INVALID_LEVEL),
        }
        fits(data, whole)
    }
}

fn fits(data: Vec<u8>, whole: &Whole) -> Result<Vec<u8>, Refused> {
    if data.len() > whole.max_data { Err(error::BUFFER_OVERFLOW) } else { Ok(data) }
}
