//! SMB 1: dialects `PC NETWORK PROGRAM 1.0` to `NT LM 0.12`, client and server.
//!
//! Source: [MS-CIFS] with the additions of [MS-SMB]. All fields little-endian. A message is a
//! header and one block or a chain of blocks. Each module reads and writes the blocks of its
//! commands:
//!
//! ```
//! use lanlab_wire::smb1::{andx::Chain, close, command, header::Header, writer::Writer};
//!
//! let mut out = Vec::new();
//! let header = Header { tid: 1, ..Header::request(command::CLOSE, 0, 0) };
//! let request = close::Request { fid: 7, last_write_time: close::KEEP_TIME };
//! request.emit(&mut Writer::begin(&mut out, &header));
//!
//! let header = Header::parse(&out)?;
//! let block = Chain::new(&header, &out).next().unwrap()?;
//! assert_eq!(block.command(), command::CLOSE);
//! assert_eq!(close::Request::parse(&block)?, request);
//! # Ok::<(), lanlab_wire::Error>(())
//! ```
//!
//! Values borrow from the message; nothing here copies data or grows with input from a peer.

pub mod andx;
mod blocks;
pub mod close;
pub mod command;
pub mod echo;
pub mod file_information;
pub mod file_system_information;
pub mod find;
mod find_entries;
pub mod header;
mod header_flags;
pub mod locking_andx;
pub mod logoff_andx;
pub mod multiplexed;
pub mod negotiate;
pub mod nt_create_andx;
pub mod open;
pub mod open_andx;
pub mod path;
pub mod query_information;
pub mod query_information2;
pub mod query_information_disk;
pub mod rap;
pub mod read;
pub mod read_andx;
pub mod read_raw;
pub mod reader;
pub mod rename;
pub mod search;
pub mod seek;
pub mod session_setup_andx;
pub mod status;
pub mod strings;
pub mod time;
pub mod transaction;
pub mod transaction2;
pub mod tree_connect;
pub mod tree_connect_andx;
pub mod wildcard;
pub mod wildcard_rename;
pub mod write;
pub mod write_andx;
pub mod write_raw;
pub mod writer;

const DATA: u8 = 0x01;
const DIALECT: u8 = 0x02;
const ASCII: u8 = 0x04;
const VARIABLE: u8 = 0x05;

/// DOS attributes of a file ([MS-CIFS] 2.2.1.2.4).
pub mod attributes {
    pub const READ_ONLY: u16 = 0x01;
    pub const HIDDEN: u16 = 0x02;
    pub const SYSTEM: u16 = 0x04;
    pub const VOLUME: u16 = 0x08;
    pub const DIRECTORY: u16 = 0x10;
    pub const ARCHIVE: u16 = 0x20;
    /// No other attribute. Only in the wide form of Windows NT.
    pub const NORMAL: u32 = 0x80;
}

/// Maximum bytes of a message without the data of a read or write.
pub const AROUND_DATA: u32 = 64;
