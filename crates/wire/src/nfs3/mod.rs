//! NFS version 3 for client and server: numbers and values (RFC 1813) over remote procedure calls
//! (RFC 5531) in XDR (RFC 4506).

pub mod rpc;
mod status;
pub mod xdr;

pub use status::Status;

use xdr::{Garbled, Reader, Writer};

/// Program and version of NFS, and its usual port.
pub const NFS: (u32, u32) = (100_003, 3);
pub const MOUNT: (u32, u32) = (100_005, 3);
/// Program and version of the portmapper (RFC 1833, section 3), and its port.
pub const PORTMAP: (u32, u32) = (100_000, 2);
pub const PORTMAP_PORT: u16 = 111;

/// Longest file handle, octets (section 2.4).
pub const MAX_HANDLE_OCTETS: usize = 64;
/// Longest path of an export (appendix I, section 5.1.4).
pub const MAX_EXPORT_OCTETS: usize = 1024;
/// Longest name accepted; a longer one is reported as too long.
pub const MAX_NAME_OCTETS: usize = 4096;

/// Procedures of NFS (section 3).
pub mod procedure {
    pub const NULL: u32 = 0;
    pub const GETATTR: u32 = 1;
    pub const SETATTR: u32 = 2;
    pub const LOOKUP: u32 = 3;
    pub const ACCESS: u32 = 4;
    pub const READLINK: u32 = 5;
    pub const READ: u32 = 6;
    pub const WRITE: u32 = 7;
    pub const CREATE: u32 = 8;
    pub const MKDIR: u32 = 9;
    pub const SYMLINK: u32 = 10;
    pub const MKNOD: u32 = 11;
    pub const REMOVE: u32 = 12;
    pub const RMDIR: u32 = 13;
    pub const RENAME: u32 = 14;
    pub const LINK: u32 = 15;
    pub const READDIR: u32 = 16;
    pub const READDIRPLUS: u32 = 17;
    pub const FSSTAT: u32 = 18;
    pub const FSINFO: u32 = 19;
    pub const PATHCONF: u32 = 20;
    pub const COMMIT: u32 = 21;
}

/// Procedures of MOUNT (appendix I, section 5.2).
pub mod mount {
    pub const NULL: u32 = 0;
    pub const MNT: u32 = 1;
    pub const DUMP: u32 = 2;
    pub const UMNT: u32 = 3;
    pub const UMNTALL: u32 = 4;
    pub const EXPORT: u32 = 5;
}

/// Procedures of the portmapper (RFC 1833, section 3.2), and the protocol number of mappings used
/// here.
pub mod portmap {
    pub const NULL: u32 = 0;
    pub const GETPORT: u32 = 3;
    pub const DUMP: u32 = 4;
    pub const TCP: u32 = 6;
}

/// `stable_how` (section 3.3.7): data may still be in memory when the call is answered.
pub const UNSTABLE: u32 = 0;
/// Data and all metadata are on disk when the call is answered.
pub const FILE_SYNC: u32 = 2;

/// `createmode3` (section 3.3.8).
pub const UNCHECKED: u32 = 0;
pub const GUARDED: u32 = 1;
pub const EXCLUSIVE: u32 = 2;

/// `ftype3` (section 2.5): a file.
pub const REGULAR: u32 = 1;
pub const DIRECTORY: u32 = 2;
pub const LINK: u32 = 5;

/// The fields of `fattr3` in use (section 2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes {
    /// `ftype3`.
    pub kind: u32,
    pub mode: u32,
    pub links: u32,
    pub owner: (u32, u32),
    pub size_bytes: u64,
    pub used_bytes: u64,
    pub file_system: u64,
    pub number: u64,
    pub times: [(u32, u32); 3],
}

impl Attributes {
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        let (kind, mode, links, owner) = reader.field()?;
        // The third number belongs to devices.
        let ([size_bytes, used_bytes, _, file_system, number], times) = reader.field()?;
        Ok(Self { kind, mode, links, owner, size_bytes, used_bytes, file_system, number, times })
    }

    pub fn read_optional(reader: &mut Reader<'_>) -> Result<Option<Self>, Garbled> {
        if reader.boolean()? { Self::read(reader).map(Some) } else { Ok(None) }
    }

    pub fn write(&self, writer: &mut Writer) {
        writer.field((self.kind, self.mode, self.links, self.owner));
        writer.field([self.size_bytes, self.used_bytes, 0, self.file_system, self.number]);
        writer.field(self.times);
    }

    pub fn write_optional(attributes: Option<&Self>, writer: &mut Writer) {
        writer.boolean(attributes.is_some());
        if let Some(attributes) = attributes {
            attributes.write(writer);
        }
    }
}

/// Skip `wcc_data` (section 2.6).
pub fn skip_wcc(reader: &mut Reader<'_>) -> Result<(), Garbled> {
    if reader.boolean()? {
        reader.fixed(24)?;
    }
    Attributes::read_optional(reader).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_have_the_specified_size_and_round_trip() {
        let attributes = Attributes {
            kind: REGULAR,
            mode: 0o644,
            links: 1,
            owner: (1000, 100),
            size_bytes: 5_000_000_000,
            used_bytes: 4096,
            file_system: 7,
            number: u64::MAX,
            times: [(1, 2), (3, 4), (5, 6)],
        };
        let mut writer = Writer::default();
        Attributes::write_optional(Some(&attributes), &mut writer);
        assert_eq!(writer.octets().len(), 4 + 84);
        let octets = writer.octets().to_vec();
        let mut reader = Reader::new(&octets);
        assert_eq!(Attributes::read_optional(&mut reader), Ok(Some(attributes)));
        assert!(reader.rest().is_empty());
        assert!(Attributes::read_optional(&mut Reader::new(&octets[..87])).is_err());
    }
}
