//! Server and user of a session.

use std::fmt;

use lanlab_stack::systems::System;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Carrier, HostAddress, IpxSegment, LinkPlace, ServiceKind, ServiceOptions};

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
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
    /// Carrier of SMB 1 or NCP. If the carrier has no IP addresses, `server_name` identifies the
    /// server.
    #[serde(default)]
    pub carrier: Carrier,
    /// The interface of this host for the server's station, for a carrier on Ethernet.
    #[serde(default)]
    pub link: Option<LinkPlace>,
    #[serde(default)]
    pub ipx: IpxSegment,
    #[serde(default)]
    pub trust: Trust,
    /// Reply timeout, nanoseconds.
    #[serde(default = "default_timeout_ns")]
    pub timeout_ns: u64,
    /// Size of the send buffer of the socket; absent: the system's default.
    #[serde(default)]
    pub send_buffer_bytes: Option<u32>,
    #[serde(default)]
    pub receive_buffer_bytes: Option<u32>,
    #[serde(default)]
    pub options: ServiceOptions,
}

impl Target {
    pub fn system(&self) -> Option<&'static System> {
        self.options.smb1().profile.map(|asked| asked.0)
    }

    /// Whether both targets log in to the same server with the same credentials.
    pub fn has_login_of(&self, other: &Self) -> bool {
        let server = |one: &Self| (one.service, one.address, one.port, one.server_name.clone());
        server(self) == server(other) && self.credentials == other.credentials
    }

    /// A target with default values, without address and user.
    pub fn new(service: ServiceKind) -> Self {
        Self { service, timeout_ns: default_timeout_ns(), ..Self::default() }
    }
}

fn default_timeout_ns() -> u64 {
    30_000_000_000
}

/// Name and secret of a user. They never appear in a record, log or error.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
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
