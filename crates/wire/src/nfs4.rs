//! Numbers and values of NFS 4.1 (RFC 8881) for a client; [`nfs3`](crate::nfs3) has calls and XDR.

pub use crate::nfs3::Status;
use crate::nfs3::xdr::{Garbled, Reader, Writer};

/// Program and version of NFS, its only procedure in use, and the minor version (section 16.2.3).
pub const NFS: (u32, u32) = (100_003, 4);
pub const COMPOUND: u32 = 1;
pub const MINOR_VERSION: u32 = 1;
pub const PORT: u16 = 2049;

/// Longest file handle, and longest opaque name of a server, octets (section 3.1).
pub const MAX_HANDLE_OCTETS: usize = 128;
pub const MAX_OPAQUE_OCTETS: usize = 1024;

/// Operations of a compound (section 18).
pub mod operation {
    pub const CLOSE: u32 = 4;
    pub const COMMIT: u32 = 5;
    pub const CREATE: u32 = 6;
    pub const GETATTR: u32 = 9;
    pub const GETFH: u32 = 10;
    pub const LOOKUP: u32 = 15;
    pub const NVERIFY: u32 = 17;
    pub const OPEN: u32 = 18;
    pub const PUTFH: u32 = 22;
    pub const PUTROOTFH: u32 = 24;
    pub const READ: u32 = 25;
    pub const READDIR: u32 = 26;
    pub const REMOVE: u32 = 28;
    pub const RENAME: u32 = 29;
    pub const RESTOREFH: u32 = 31;
    pub const SAVEFH: u32 = 32;
    pub const VERIFY: u32 = 37;
    pub const WRITE: u32 = 38;
    pub const EXCHANGE_ID: u32 = 42;
    pub const CREATE_SESSION: u32 = 43;
    pub const DESTROY_SESSION: u32 = 44;
    pub const SEQUENCE: u32 = 53;
    pub const DESTROY_CLIENTID: u32 = 57;
    pub const RECLAIM_COMPLETE: u32 = 58;

    /// Operations whose result is only a status.
    pub const PLAIN: [u32; 8] =
        [LOOKUP, NVERIFY, PUTFH, PUTROOTFH, RESTOREFH, SAVEFH, VERIFY, RECLAIM_COMPLETE];
}

pub const DIRECTORY: u32 = 2;

/// State of an open file (section 3.3.12). [`CURRENT_STATE`] is the state that an earlier operation
/// of the same compound made (section 8.2.3).
pub type StateId = [u8; 16];
pub const CURRENT_STATE: StateId = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Numbers of attributes (section 5), whose values are all integers.
pub mod attribute {
    pub const TYPE: u32 = 1;
    pub const SIZE: u32 = 4;
    pub const LEASE_TIME: u32 = 10;
    pub const RDATTR_ERROR: u32 = 11;
    pub const MAXFILESIZE: u32 = 27;
    pub const MAXREAD: u32 = 30;
    pub const MAXWRITE: u32 = 31;
    pub const MODE: u32 = 33;
}

/// Whether an attribute has 64 bits instead of 32; `None` if it is unused here.
fn is_long(attribute: u32) -> Option<bool> {
    use attribute::{LEASE_TIME, MAXFILESIZE, MAXREAD, MAXWRITE, MODE, RDATTR_ERROR, SIZE, TYPE};
    match attribute {
        SIZE | MAXFILESIZE | MAXREAD | MAXWRITE => Some(true),
        TYPE | LEASE_TIME | RDATTR_ERROR | MODE => Some(false),
        _ => None,
    }
}

/// Write `bitmap4` (section 3.3.7).
pub fn write_bitmap(writer: &mut Writer, attributes: &[u32]) {
    let mut words = [0_u32; 2];
    for attribute in attributes {
        words[*attribute as usize / 32] |= 1 << (attribute % 32);
    }
    writer.u32(2);
    for word in words {
        writer.u32(word);
    }
}

/// Write `fattr4` (section 3.3.9); the attributes are in the order of their numbers.
pub fn write_attributes(writer: &mut Writer, attributes: &[(u32, u64)]) {
    let numbers: Vec<u32> = attributes.iter().map(|(number, _)| *number).collect();
    write_bitmap(writer, &numbers);
    let mut values = Writer::default();
    for (number, value) in attributes {
        match is_long(*number) {
            Some(true) => values.u64(*value),
            _ => values.u32(*value as u32),
        }
    }
    writer.opaque(values.octets());
}

/// Maximum words of a bitmap: more than any minor version defines.
const MAX_BITMAP_WORDS: u32 = 8;

pub fn read_bitmap(reader: &mut Reader<'_>) -> Result<Vec<u32>, Garbled> {
    let count = reader.u32()?;
    if count > MAX_BITMAP_WORDS {
        return Err(Garbled);
    }
    (0..count).map(|_| reader.u32()).collect()
}

/// Attributes from a server: numbers and values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attributes(pub Vec<(u32, u64)>);

impl Attributes {
    /// Read `fattr4`, which contains only requested attributes.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        let words = read_bitmap(reader)?;
        let mut values = Reader::new(reader.opaque(reader.rest().len())?);
        let mut found = Vec::new();
        for number in 0..words.len() as u32 * 32 {
            if words[number as usize / 32] >> (number % 32) & 1 == 1 {
                let is_long = is_long(number).ok_or(Garbled)?;
                let value = if is_long { values.u64()? } else { u64::from(values.u32()?) };
                found.push((number, value));
            }
        }
        Ok(Self(found))
    }

    pub fn get(&self, attribute: u32) -> Option<u64> {
        self.0.iter().find(|(number, _)| *number == attribute).map(|(_, value)| *value)
    }
}

/// Skip the result of an OPEN after its state (section 18.16.2); it must grant no delegation.
pub fn skip_opened(reader: &mut Reader<'_>) -> Result<(), Garbled> {
    const NONE: u32 = 0;
    const NONE_BECAUSE: u32 = 3;
    reader.fixed(20 + 4)?; // Change information and flags.
    read_bitmap(reader)?;
    match reader.u32()? {
        NONE => Ok(()),
        // For contention and resources: whether the server will notify the client later.
        NONE_BECAUSE => match reader.u32()? {
            1 | 2 => reader.boolean().map(drop),
            _ => Ok(()),
        },
        _ => Err(Garbled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_round_trip_in_the_order_of_their_numbers() {
        let given =
            [(attribute::TYPE, 2), (attribute::SIZE, 5_000_000_000), (attribute::MODE, 0o644)];
        let mut writer = Writer::default();
        write_attributes(&mut writer, &given);
        let golden = [2, 1 << 1 | 1 << 4, 1 << 1, 16, 2, 1, 0x2a05_f200, 0o644_u32];
        assert_eq!(writer.octets(), golden.map(u32::to_be_bytes).concat());
        let mut reader = Reader::new(writer.octets());
        assert_eq!(Attributes::read(&mut reader), Ok(Attributes(given.to_vec())));
        assert!(reader.rest().is_empty());
    }

    #[test]
    fn an_attribute_that_was_not_asked_for_is_refused() {
        let change = [1, 1 << 3, 8, 0, 7_u32].map(u32::to_be_bytes).concat();
        assert_eq!(Attributes::read(&mut Reader::new(&change)), Err(Garbled));
        let long = [9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0_u32].map(u32::to_be_bytes).concat();
        assert_eq!(Attributes::read(&mut Reader::new(&long)), Err(Garbled));
    }
}
