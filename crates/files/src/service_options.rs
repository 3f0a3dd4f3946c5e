//! The services, and the options of a single one. An option is one field here, and one row of
//! `src/lanlab/service_options.py`.

use std::borrow::Cow;

use lanlab_stack::smb;
use lanlab_stack::systems::{self, System};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::carrier::named;
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

impl From<Dialect> for smb::Dialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Core => Self::Core,
            Dialect::Lanman1 => Self::LanMan1,
            Dialect::Lm12x002 => Self::LanMan2,
            Dialect::Nt1 => Self::Nt,
        }
    }
}

impl From<smb::Dialect> for Dialect {
    fn from(dialect: smb::Dialect) -> Self {
        match dialect {
            smb::Dialect::Core => Self::Core,
            smb::Dialect::LanMan1 => Self::Lanman1,
            smb::Dialect::LanMan2 => Self::Lm12x002,
            smb::Dialect::Nt => Self::Nt1,
        }
    }
}

/// A period system whose servers and stations the engine emulates, by its name in requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemProfile(pub &'static System);

impl<'de> Deserialize<'de> for SystemProfile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, systems::ALL.iter().map(|system| (system.name, Self(system))))
    }
}

impl JsonSchema for SystemProfile {
    fn schema_name() -> Cow<'static, str> {
        "SystemProfile".into()
    }

    /// Each row with all that the driver shows of it.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let row = |system: &System| {
            json_schema!({
                "type": "string",
                "const": system.name,
                "help": system.title,
                "years": [system.years.0, system.years.1],
                "carrier": system.carrier.name(),
                "dialect": Dialect::from(system.dialect),
                "message_bytes": system.buffer_bytes,
                "sessions": system.sessions(),
            })
        };
        json_schema!({ "oneOf": systems::ALL.iter().map(row).collect::<Vec<_>>() })
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

/// Defines options of one service, tagged by its name.
macro_rules! options_of {
    ($(#[$meta:meta])* pub enum $name:ident { $($service:ident($options:ty),)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            /// The defaults of any service.
            #[default]
            None,
            $($service($options),)+
        }

        impl $name {
            /// Whether a service has these options.
            pub fn are_of(&self, service: ServiceKind) -> bool {
                match self {
                    Self::None => true,
                    $(Self::$service(_) => service == ServiceKind::$service,)+
                }
            }
        }
    };
}

options_of! {
    pub enum ServiceOptions {
        Smb1(Smb1Options),
        Ncp(NcpOptions),
        Ftp(FtpOptions),
    }
}

options_of! {
    /// Options of an embedded server.
    pub enum ServerOptions {
        Smb(ShareOptions),
        Smb1(Smb1ServerOptions),
        Ncp(ShareOptions),
        Ftp(FtpOptions),
    }
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
    /// Whether to continue to wait for a late reply, and count it, like a period program that was
    /// set to retry. On simulated machines.
    pub waits_on: bool,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NcpOptions {
    pub packet_burst: PacketBurst,
    /// As in SMB 1.
    pub waits_on: bool,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FtpOptions {
    /// The engine's own TCP stack; absent: the system's.
    pub stack: Option<OwnStack>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ShareOptions {
    /// Name of the share or volume, 1 to 12 ASCII characters, the limit of old clients; absent:
    /// `lanlab`, or `SYS` for `NetWare`.
    pub share: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Smb1ServerOptions {
    /// Name that the server reports, 1 to 15 ASCII characters; absent: `lanlab`.
    pub server_name: Option<String>,
    /// Name of the share, 1 to 12 ASCII characters; absent: `lanlab`.
    pub share: Option<String>,
    /// Whether every client must sign its messages. Only with a user.
    pub requires_signatures: bool,
    pub oldest_dialect: Option<Dialect>,
    pub newest_dialect: Option<Dialect>,
    /// The period system to emulate over its carrier; absent: none.
    pub profile: Option<SystemProfile>,
}

impl Smb1ServerOptions {
    /// The oldest and the newest dialect to accept.
    pub fn dialects(&self) -> (Dialect, Dialect) {
        let (oldest, newest) = (self.oldest_dialect, self.newest_dialect);
        (oldest.unwrap_or(Dialect::Core), newest.unwrap_or(Dialect::Nt1))
    }
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

impl ServerOptions {
    pub fn smb1(&self) -> Smb1ServerOptions {
        if let Self::Smb1(options) = self { options.clone() } else { Smb1ServerOptions::default() }
    }

    pub fn stack(&self) -> Option<&OwnStack> {
        if let Self::Ftp(options) = self { options.stack.as_ref() } else { None }
    }

    pub fn share(&self) -> Option<&str> {
        match self {
            Self::Smb(options) | Self::Ncp(options) => options.share.as_deref(),
            Self::Smb1(options) => options.share.as_deref(),
            Self::None | Self::Ftp(_) => None,
        }
    }
}
