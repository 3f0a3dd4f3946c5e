//! The services, and the options of a single one. An option is one field here, and one row of
//! `src/lanlab/service_options.py`.

use lanlab_stack::node::CarrierKind;
use lanlab_stack::smb::profile::{PC_LAN_PROGRAM, ServerProfile, THREE_PLUS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Carrier, OwnStack};

#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ServiceKind {
    /// A directory of this host, local or mounted.
    Directory,
    #[default]
    Memory,
    /// FTP (RFC 959).
    Ftp,
    /// FTP with explicit TLS on both connections (RFC 4217).
    Ftps,
    /// The SSH file transfer protocol, version 3 (draft-ietf-secsh-filexfer-02).
    Sftp,
    /// HTTP/1.1 with `WebDAV` methods (RFC 9112, RFC 4918).
    Webdav,
    Webdavs,
    /// NFS version 3 (RFC 1813).
    Nfs,
    /// NFS version 4.1 (RFC 8881).
    Nfs4,
    /// SMB 2 and 3 ([MS-SMB2]).
    Smb,
    /// SMB 1 ([MS-CIFS]) over `NetBIOS` over TCP, or directly over TCP.
    Smb1,
    Ncp,
    /// Amazon S3's protocol over HTTP/1.1 with path-style addresses.
    S3,
    S3s,
}

impl ServiceKind {
    pub fn goes_over(self, carrier: Carrier) -> bool {
        let is_netware = carrier == Carrier::NCP;
        match self {
            Self::Ncp => is_netware,
            Self::Smb1 => !is_netware,
            _ => carrier == Carrier::Tcp,
        }
    }
}

/// Dialects of SMB 1, oldest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// `PC NETWORK PROGRAM 1.0`.
    Core,
    /// `LANMAN1.0`.
    Lanman1,
    /// `LM1.2X002`.
    Lm12x002,
    /// `NT LM 0.12`.
    Nt1,
}

impl Dialect {
    pub const ALL: (Self, Self) = (Self::Core, Self::Nt1);
}

impl From<Dialect> for lanlab_stack::smb::Dialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Core => Self::Core,
            Dialect::Lanman1 => Self::LanMan1,
            Dialect::Lm12x002 => Self::LanMan2,
            Dialect::Nt1 => Self::Nt,
        }
    }
}

/// A period system whose servers and stations the engine emulates, with SMB 1 in its core dialect
/// only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SystemProfile {
    PcLanProgram,
    /// 3Com's 3+, the only system over XNS.
    ThreePlus,
}

impl SystemProfile {
    pub const fn carrier(self) -> CarrierKind {
        match self {
            Self::PcLanProgram => CarrierKind::Nbf,
            Self::ThreePlus => CarrierKind::Spp,
        }
    }

    pub const fn numbers(self) -> &'static ServerProfile {
        match self {
            Self::PcLanProgram => &PC_LAN_PROGRAM,
            Self::ThreePlus => &THREE_PLUS,
        }
    }

    /// The profile for SMB 1 over a carrier: the requested one, or the only one of that carrier.
    pub fn over(carrier: CarrierKind, asked: Option<Self>) -> Option<Self> {
        asked.or_else(|| (carrier == CarrierKind::Spp).then_some(Self::ThreePlus))
    }
}

/// TCP settings of a period system, as far as today's sockets allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TcpProfile {
    /// Windows NT 4 and 9x on Ethernet: segments of 1460 bytes, a window of six segments, delayed
    /// acknowledgements.
    Nt4,
}

/// Options of one service, tagged by its name.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceOptions {
    /// The defaults of any service.
    #[default]
    None,
    Smb1(Smb1Options),
    Ncp(NcpOptions),
    Ftp(FtpOptions),
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Smb1Options {
    /// The only dialect to use; absent: the newest that both ends support.
    pub dialect: Option<Dialect>,
    /// Whether to use raw reads and writes, one call at a time.
    pub raw: bool,
    pub signing: Signing,
    /// TCP settings; absent: the system's.
    pub tcp_profile: Option<TcpProfile>,
    /// The period system that both ends emulate over its carrier; absent: none.
    pub profile: Option<SystemProfile>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NcpOptions {
    pub packet_burst: PacketBurst,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FtpOptions {
    /// The engine's own TCP stack; absent: the system's.
    pub stack: Option<OwnStack>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Signing {
    /// The client signs if the server requires it.
    #[default]
    Auto,
    /// A server that does not sign is refused.
    Required,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacketBurst {
    /// If the server supports it.
    #[default]
    On,
    /// One packet each way.
    Off,
}

impl ServiceOptions {
    /// Whether a service has these options.
    pub fn are_of(&self, service: ServiceKind) -> bool {
        match self {
            Self::None => true,
            Self::Smb1(_) => service == ServiceKind::Smb1,
            Self::Ncp(_) => service == ServiceKind::Ncp,
            Self::Ftp(_) => service == ServiceKind::Ftp,
        }
    }

    pub fn smb1(&self) -> Smb1Options {
        if let Self::Smb1(options) = self { *options } else { Smb1Options::default() }
    }

    pub fn ncp(&self) -> NcpOptions {
        if let Self::Ncp(options) = self { *options } else { NcpOptions::default() }
    }

    pub fn stack(&self) -> Option<&OwnStack> {
        if let Self::Ftp(options) = self { options.stack.as_ref() } else { None }
    }
}
