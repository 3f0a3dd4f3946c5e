//! Messages of Novell's NetWare core protocol (NCP).
//!
//! Source: dissector `ncp` of Wireshark (`packet-ncp.c`, `ncp2222.py`); names of functions and
//! fields from Novell's programming documentation of the NetWare system calls. Carried in IPX
//! packets of type 0x11 to and from socket 0451. All numbers are big-endian, including dates and
//! times of file entries, except in [`name_space`] and in 32-bit volume calls.
//!
//! A packet is an [`envelope`] and the data of a function, which starts with the number of the
//! function and, for some, of a subfunction. Names are preceded by an octet with their length.

pub mod bindery;
pub mod burst;
pub mod completion;
pub mod directories;
pub mod envelope;
pub mod file_entry;
pub mod files;
pub mod function;
pub mod name_space;
pub mod negotiation;
pub mod records;
pub mod search;
pub mod text;
pub mod watchdog;
