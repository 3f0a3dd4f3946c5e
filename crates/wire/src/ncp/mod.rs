//! Messages of Novell's NetWare core protocol (NCP).
//!
//! Source: dissector `ncp` of Wireshark (`packet-ncp.c`, `ncp2222.py`); Novell's NetWare system calls, as their
//! documentation for programmers names fields and functions. In IPX packets of type 0x11 to and from socket 0451.
//! All numbers big-endian, dates and times in entries of files, too, but for [`name_space`] and volumes by 32 bits.
//!
//! A packet is an [`envelope`] and what a function says: for most a number of the function, for some with a
//! number of a part of it. Names have an octet with their length before them.

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
