//! Verifies the server's identity over SSH.

use std::path::PathBuf;
use std::sync::Arc;

use lanlab_connections::tls;
use lanlab_files::{Class, Fault, Result, Target, Trust};
use parking_lot::Mutex;
use russh::client::{self, DisconnectReason};
use russh::keys::{Algorithm, HashAlg, PublicKey, PublicKeyOrCertificate};
use russh::{Disconnect, Names};

use crate::{transport, trust, user_file};

#[derive(Debug, Clone, Default)]
pub struct Learnt {
    pub protection: Option<String>,
    pub server: Option<String>,
    pub refusal: Option<Fault>,
    /// The reason that the server gave when it disconnected.
    pub farewell: Option<String>,
}

#[derive(Debug)]
pub struct Verifier {
    wanted: Wanted,
    learnt: Arc<Mutex<Learnt>>,
}

#[derive(Debug)]
enum Wanted {
    /// The SHA-256 of the server key's public blob.
    Sha256(String),
    Known(Vec<PublicKey>, String),
}

impl Verifier {
    pub fn new(target: &Target, port: u16) -> Result<Self> {
        let wanted = match &target.trust {
            Trust::Sha256(hash) => Wanted::Sha256(hash.to_lowercase()),
            Trust::System => {
                let home = std::env::home_dir().ok_or_else(|| {
                    Fault::new(Class::Certificate, "this user has no home with known_hosts")
                        .hint("name the server's key by its SHA-256")
                })?;
                let path = home.join(".ssh").join("known_hosts");
                // Without such a file no server is known.
                if path.exists() {
                    known(target, port, &path)?
                } else {
                    Wanted::Known(Vec::new(), path.display().to_string())
                }
            }
            Trust::File(path) => known(target, port, &PathBuf::from(path))?,
        };
        Ok(Self { wanted, learnt: Arc::default() })
    }

    pub fn learnt(&self) -> Arc<Mutex<Learnt>> {
        Arc::clone(&self.learnt)
    }

    /// Key types in the order in which to request them: known types first, because otherwise the
    /// server would present an unknown key.
    pub fn algorithms(&self, usual: &[Algorithm]) -> Vec<Algorithm> {
        let Wanted::Known(keys, _) = &self.wanted else { return usual.to_vec() };
        let is_known = |of: &Algorithm| keys.iter().any(|key| same_kind(&key.algorithm(), of));
        let (mut first, rest): (Vec<_>, Vec<_>) = usual.iter().cloned().partition(is_known);
        first.extend(rest);
        first
    }

    fn check(&self, key: &PublicKey) -> Result<()> {
        let blob = key
            .to_bytes()
            .map_err(|error| Fault::new(Class::Protocol, format!("host key: {error}")))?;
        let found = key.fingerprint(HashAlg::Sha256);
        let message = match &self.wanted {
            Wanted::Sha256(wanted) if *wanted == tls::sha256_hex(&blob) => return Ok(()),
            Wanted::Sha256(wanted) => {
                format!("the host key is {found}; allowed: the one with SHA-256 {wanted}")
            }
            Wanted::Known(keys, _)
                if keys.iter().any(|known| known.key_data() == key.key_data()) =>
            {
                return Ok(());
            }
            Wanted::Known(keys, file) if keys.is_empty() => {
                format!("unknown host key {found}: {file} has no key of this server")
            }
            Wanted::Known(_, file) => {
                format!("wrong host key {found}: {file} has another key of this server")
            }
        };
        Err(Fault::new(Class::Certificate, message).hint(format!(
            "if it is the right server, add `--trust {found}`, or put its key in known_hosts"
        )))
    }
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}

fn same_kind(a: &Algorithm, b: &Algorithm) -> bool {
    matches!((a, b), (Algorithm::Rsa { .. }, Algorithm::Rsa { .. })) || a == b
}

fn known(target: &Target, port: u16, path: &std::path::Path) -> Result<Wanted> {
    // russh treats an unreadable file as empty, and reads any file to its end.
    let content = user_file::read(path, trust::MOST_FILE_BYTES)?;
    if user_file::without_mark(&content).len() < content.len() {
        // russh would read the mark as part of the first name.
        let message = format!("{}: begins with a byte order mark; allowed: none", path.display());
        return Err(Fault::new(Class::Certificate, message).hint("save it as UTF-8 without one"));
    }
    let name = transport::server_name(target)?;
    let file = path.display().to_string();
    let keys = russh::keys::known_hosts::known_host_keys_path(&name, port, path)
        .map_err(|error| Fault::new(Class::Certificate, format!("{file}: {error}")))?;
    Ok(Wanted::Known(keys.into_iter().map(|(_, key)| key).collect(), file))
}

impl client::Handler for Verifier {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        shown: &PublicKeyOrCertificate,
    ) -> std::result::Result<bool, russh::Error> {
        let checked = match shown {
            PublicKeyOrCertificate::PublicKey { key, .. } => self.check(key),
            PublicKeyOrCertificate::Certificate(_) => {
                Err(Fault::new(Class::Certificate, "found a host certificate; allowed: a key"))
            }
        };
        let Err(refusal) = checked else { return Ok(true) };
        self.learnt.lock().refusal = Some(refusal);
        Ok(false)
    }

    async fn disconnected(
        &mut self,
        reason: DisconnectReason<russh::Error>,
    ) -> std::result::Result<(), russh::Error> {
        match reason {
            DisconnectReason::Error(error) => Err(error),
            DisconnectReason::ReceivedDisconnect(info) => {
                if !matches!(info.reason_code, Disconnect::TooManyConnections) {
                    let said = shown(&info.message);
                    self.learnt.lock().farewell = Some(said);
                }
                Ok(())
            }
        }
    }

    async fn kex_done(
        &mut self,
        _shared_secret: Option<&[u8]>,
        names: &Names,
        session: &mut client::Session,
    ) -> std::result::Result<(), russh::Error> {
        let plain = |name: &str| name.split('@').next().unwrap_or_default().to_owned();
        let (cipher, exchange) = (plain(names.cipher.as_ref()), plain(names.kex.as_ref()));
        // A cipher with built-in authentication ignores the negotiated MAC.
        let whole = cipher.contains("gcm") || cipher.contains("poly1305");
        let mac =
            if whole { String::new() } else { format!(", {}", plain(names.server_mac.as_ref())) };
        let host_key = names.key.to_string();
        let weak = if host_key == "ssh-rsa" { ", host key signed with SHA-1" } else { "" };
        let server = String::from_utf8_lossy(session.remote_sshid());
        let server = server.trim().trim_start_matches("SSH-2.0-");
        let mut learnt = self.learnt.lock();
        learnt.protection = Some(format!("SSH 2, {cipher}{mac}, key exchange {exchange}{weak}"));
        learnt.server = Some(shown(server));
        Ok(())
    }
}
