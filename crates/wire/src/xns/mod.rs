//! Xerox Network Systems: internet datagrams (IDP) and their payloads.
//!
//! Source: Xerox, Internet Transport Protocols (XSIS 028112); dissectors `idp`, `spp` and
//! `3com-xns` of Wireshark. All fields big-endian. Addresses are those of [IPX](crate::ipx), which
//! derives from XNS.

pub mod echo;
pub mod error_packet;
pub mod framing;
pub mod idp;
pub mod pep;
pub mod spp;

pub mod packet_type {
    pub const ECHO: u8 = 2;
    pub const ERROR: u8 = 3;
    pub const EXCHANGE: u8 = 4;
    pub const SEQUENCED: u8 = 5;
}

pub mod socket {
    pub const ECHO: u16 = 2;
    /// SMB of 3Com's 3+, as in Wireshark.
    pub const SMB: u16 = 0x0bbc;
}
