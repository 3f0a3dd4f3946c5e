//! Service, server and user of a session.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lanlab_stack::node::CarrierKind;
use lanlab_stack::smb::profile::{PC_LAN_PROGRAM, ServerProfile, THREE_PLUS};

use crate::{Carrier, HostAddress, IpxSegment, LinkPlace, OwnStack};

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ServiceKind {
    /// A directory of this host, local or mounted.
    Directory,
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

#[expect(clippy::struct_excessive_bools, reason = "four answers to as many questions, in any mix")]
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub service: ServiceKind,
    /// Address of the server; absent for a directory.
    #[serde(default)]
    pub address: Option<HostAddress>,
    /// Port of the server; absent: the default port.
    #[serde(default)]
    pub port: Option<u16>,
    /// Name of the server, for certificates, `Host` and SMB; absent: its address. For `NetWare` the
    /// server's name; absent: the nearest server.
    #[serde(default)]
    pub server_name: Option<String>,
    /// Address of this host to connect from; absent: chosen by the route to the server.
    #[serde(default)]
    pub bind: Option<HostAddress>,
    /// SMB share, `NetWare` volume, S3 bucket, or NFS export (`/export`).
    #[serde(default)]
    pub share: Option<String>,
    /// Working directory. For `directory`: an absolute path of this host. Otherwise: names joined
    /// by `/` below the start directory of the service; empty: the start directory. For FTP and
    /// SFTP that is the login directory; with a leading `/`, names are below the server's root. For
    /// `memory`: any name.
    #[serde(default)]
    pub directory: String,
    /// User name and password; absent: log in without (anonymous, guest, no signature).
    #[serde(default)]
    pub credentials: Option<Credentials>,
    /// The only SMB 1 dialect to use; absent: the newest that both ends support.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// Whether to use SMB 1's raw reads and writes, one call at a time.
    #[serde(default)]
    pub raw: bool,
    /// Whether an SMB 1 server must sign its messages. The client then signs, too.
    #[serde(default)]
    pub requires_signatures: bool,
    /// TCP settings; absent: the system's.
    #[serde(default)]
    pub tcp_profile: Option<TcpProfile>,
    /// The period system that both ends emulate over its carrier; absent: none.
    #[serde(default)]
    pub profile: Option<SystemProfile>,
    /// Carrier of SMB 1 or NCP. If the carrier has no IP addresses, `server_name` identifies the
    /// server.
    #[serde(default)]
    pub carrier: Carrier,
    /// The interface of this host for the server's station, for a carrier on Ethernet.
    #[serde(default)]
    pub link: Option<LinkPlace>,
    #[serde(default)]
    pub ipx: IpxSegment,
    /// Whether to use `NetWare` packet bursts if the server supports them; otherwise one packet
    /// each way.
    #[serde(default = "yes")]
    pub packet_burst: bool,
    #[serde(default)]
    pub trust: Trust,
    /// Reply timeout, nanoseconds.
    #[serde(default = "default_timeout_ns")]
    pub timeout_ns: u64,
    /// Whether to continue to wait for a late reply, and count it, like a period program that was
    /// set to retry. For historic services on simulated machines.
    #[serde(default)]
    pub waits_on: bool,
    /// Size of the send buffer of the socket; absent: the system's default.
    #[serde(default)]
    pub send_buffer_bytes: Option<u32>,
    #[serde(default)]
    pub receive_buffer_bytes: Option<u32>,
    /// The engine's own TCP stack, for FTP; absent: the system's.
    #[serde(default)]
    pub stack: Option<OwnStack>,
}

impl Target {
    pub fn system(&self) -> Option<SystemProfile> {
        match self.carrier {
            Carrier::Tcp => None,
            Carrier::Frames(carrier) => SystemProfile::over(carrier, self.profile),
        }
    }

    /// A target with default values, without address and user.
    pub fn new(service: ServiceKind) -> Self {
        Self {
            service,
            address: None,
            port: None,
            server_name: None,
            bind: None,
            share: None,
            directory: String::new(),
            credentials: None,
            dialect: None,
            raw: false,
            requires_signatures: false,
            tcp_profile: None,
            profile: None,
            carrier: Carrier::default(),
            link: None,
            ipx: IpxSegment::default(),
            packet_burst: true,
            trust: Trust::default(),
            timeout_ns: default_timeout_ns(),
            waits_on: false,
            send_buffer_bytes: None,
            receive_buffer_bytes: None,
            stack: None,
        }
    }
}

const fn yes() -> bool {
    true
}

fn default_timeout_ns() -> u64 {
    30_000_000_000
}

/// Name and secret of a user. They never appear in a record, log or error.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// Name; for S3 the access key.
    pub user: String,
    /// Password; for S3 the secret key.
    pub secret: String,
    /// SMB domain, or S3 region.
    #[serde(default)]
    pub domain: Option<String>,
    /// Passphrase of a private key in `secret`; absent: the key is not encrypted.
    #[serde(default)]
    pub passphrase: Option<String>,
}

impl Credentials {
    /// Beginnings of the first line of a private key: PEM, PKCS#8 and OpenSSH; RFC 4716; `PuTTY`.
    const KEY_MARKS: [&str; 3] = ["-----BEGIN", "---- BEGIN", "PuTTY-User-Key-File"];

    /// The secret as a private key, from its first line on; `None` for a password. A key only signs
    /// and is never sent.
    pub fn private_key(&self) -> Option<String> {
        let blank = |c: char| c == '\u{feff}' || c.is_whitespace();
        let lines = self.secret.split(['\n', '\r']).map(|line| line.trim_matches(blank));
        let key: Vec<&str> = lines
            .skip_while(|line| !Self::KEY_MARKS.iter().any(|mark| line.starts_with(mark)))
            .filter(|line| !line.is_empty())
            .collect();
        (!key.is_empty()).then(|| key.join("\n"))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials of {:?}", self.user)
    }
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Trust {
    /// TLS: the server has a certificate for its name from an authority that this system trusts.
    /// SSH: its key is in the user's `known_hosts`.
    #[default]
    System,
    /// The certificate (DER) or SSH host key (public blob) has this SHA-256, in hexadecimal.
    Sha256(String),
    /// TLS: the certificate is from an authority in this file (PEM). SSH: the key is in this file,
    /// in the format of `known_hosts`.
    File(String),
}
