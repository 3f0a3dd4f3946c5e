//! Which service, where, as whom.

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
    /// A directory of this host: local, or a file system that is mounted there.
    Directory,
    Memory,
    /// FTP (RFC 959).
    Ftp,
    /// FTP with explicit TLS for both connections (RFC 4217).
    Ftps,
    /// The SSH file transfer protocol, version 3 (draft-ietf-secsh-filexfer-02).
    Sftp,
    /// HTTP/1.1 with the verbs of `WebDAV` (RFC 9112, RFC 4918).
    Webdav,
    Webdavs,
    /// NFS version 3 (RFC 1813).
    Nfs,
    /// SMB 2 and 3 ([MS-SMB2]).
    Smb,
    /// SMB 1 ([MS-CIFS]) over `NetBIOS` over TCP, or directly over TCP.
    Smb1,
    Ncp,
    /// The protocol of Amazon S3, over HTTP/1.1, addressed by path.
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

/// Dialects of SMB 1, from the oldest to the newest.
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

/// A system of the time whose servers and stations there are, with SMB 1 in its core dialect alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SystemProfile {
    PcLanProgram,
    /// 3Com's 3+, which is all that there is over XNS.
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

    /// That of SMB 1 over a carrier: the one that is asked for, or the only one that goes over it.
    pub fn over(carrier: CarrierKind, asked: Option<Self>) -> Option<Self> {
        asked.or_else(|| (carrier == CarrierKind::Spp).then_some(Self::ThreePlus))
    }
}

/// How TCP of a system of the time is set, as far as a socket of today can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TcpProfile {
    /// Windows NT 4 and 9x on Ethernet: segments of 1460 bytes, a window of six of them,
    /// acknowledgements delayed.
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
    /// Port of the server; absent: the usual one.
    #[serde(default)]
    pub port: Option<u16>,
    /// Name of the server, for certificates, `Host` and SMB; absent: its address. Of `NetWare` its name; absent: the
    /// nearest server.
    #[serde(default)]
    pub server_name: Option<String>,
    /// Address of this host to connect from; absent: that of the way to the server.
    #[serde(default)]
    pub bind: Option<HostAddress>,
    /// Share of SMB, volume of `NetWare`, bucket of S3, export of NFS (`/export`).
    #[serde(default)]
    pub share: Option<String>,
    /// Directory to work in: of this host (absolute) for a directory, else names joined by `/`
    /// below where the service begins; empty: there. Over FTP and SFTP that is the directory of the
    /// login, and with `/` before them they lie below where all files of the server do. Of memory:
    /// any name.
    #[serde(default)]
    pub directory: String,
    /// User name and password; absent: log in without (anonymous, guest, no signature).
    #[serde(default)]
    pub credentials: Option<Credentials>,
    /// The only dialect of SMB 1 to speak; absent: the newest that both ends have.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// Whether to read and write by raw messages, one call at a time, as SMB 1 has them.
    #[serde(default)]
    pub raw: bool,
    /// Whether a server of SMB 1 has to sign its messages, as this client then does.
    #[serde(default)]
    pub requires_signatures: bool,
    /// How TCP is set; absent: as the system has it.
    #[serde(default)]
    pub tcp_profile: Option<TcpProfile>,
    /// The system of the time that both ends are, over its carrier; absent: none.
    #[serde(default)]
    pub profile: Option<SystemProfile>,
    /// What carries SMB 1 or NCP; the server is then called by `server_name` where that is no address.
    #[serde(default)]
    pub carrier: Carrier,
    /// Link of this host to which the server's station is joined, of a carrier on Ethernet.
    #[serde(default)]
    pub link: Option<LinkPlace>,
    #[serde(default)]
    pub ipx: IpxSegment,
    /// Whether reads and writes of `NetWare` are bursts of packets where the server has them; else one packet each way.
    #[serde(default = "yes")]
    pub packet_burst: bool,
    #[serde(default)]
    pub trust: Trust,
    /// An answer must come within this time, nanoseconds.
    #[serde(default = "default_timeout_ns")]
    pub timeout_ns: u64,
    /// Whether an answer that is late is waited for further, and counted: as by a program of the time that was set
    /// to retry. On simulated machines, of historic services.
    #[serde(default)]
    pub waits_on: bool,
    /// Size of the sending socket buffer; absent: as the system has it.
    #[serde(default)]
    pub send_buffer_bytes: Option<u32>,
    #[serde(default)]
    pub receive_buffer_bytes: Option<u32>,
    /// The engine's own TCP, in place of the system's, to a server of FTP; absent: the system's.
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

    /// Where the service begins, with nothing else said: no address, no user, everything else as usual.
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

/// Name and secret of a user. Never in a record, a log or an error.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// Name; of S3 the access key.
    pub user: String,
    /// Password; of S3 the secret key.
    pub secret: String,
    /// Domain of SMB, region of S3.
    #[serde(default)]
    pub domain: Option<String>,
    /// Passphrase of the private key that is the secret; absent: it has none.
    #[serde(default)]
    pub passphrase: Option<String>,
}

impl Credentials {
    /// How a line begins above a private key: PEM, PKCS#8 and OpenSSH; RFC 4716; `PuTTY`.
    const KEY_MARKS: [&str; 3] = ["-----BEGIN", "---- BEGIN", "PuTTY-User-Key-File"];

    /// The private key that the secret is, from its first line on; `None` of a password. A key is
    /// signed with, and never sent.
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
    /// Over TLS a server with a certificate for its name from an authority that this system trusts;
    /// over SSH a server whose key is in `known_hosts` of the user.
    #[default]
    System,
    /// Whose certificate (DER) or SSH host key (its public blob) has this SHA-256, in hexadecimal.
    Sha256(String),
    /// Over TLS a server with a certificate from an authority in this file (PEM); over SSH a server
    /// whose key is in this file, in the format of `known_hosts`.
    File(String),
}
