//! SMB 1 without a carrier: the redirector of a client, and a file server.
//!
//! Source: [MS-CIFS] and [MS-SMB].

pub mod client;
mod ntlmssp;
mod ntlmssp_server;
mod plan;
pub mod responses;
pub mod server;
mod signing;
mod spnego;

use lanlab_wire::smb1::negotiate::dialect;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// The core protocol, IBM PC LAN Program and MS-NET: share passwords, 8.3 names.
    Core,
    /// LAN Manager 1.0: users, command chains, reads and writes of a larger buffer.
    LanMan1,
    /// LAN Manager 1.2 and 2.0: transactions, long names in listings.
    LanMan2,
    /// Windows NT: UTF-16LE, files above 4 GiB, large reads and writes.
    Nt,
}

impl Dialect {
    pub const ALL: [Self; 4] = [Self::Core, Self::LanMan1, Self::LanMan2, Self::Nt];

    /// Name on the wire ([MS-CIFS] 1.7).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Core => dialect::CORE,
            Self::LanMan1 => dialect::LANMAN1,
            Self::LanMan2 => dialect::LM12,
            Self::Nt => dialect::NT_LM,
        }
    }
}
