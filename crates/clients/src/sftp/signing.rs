//! Hashes for signing a login with a user's key.

use russh::client::Handle;
use russh::keys::{Algorithm, HashAlg};

use super::trust::Verifier;

/// Hashes to sign with, in order of preference. RSA has several; a server that does not list its
/// hashes may be older than SHA-2 in SSH.
pub async fn hashes(ssh: &Handle<Verifier>, key: &Algorithm) -> Vec<Option<HashAlg>> {
    if !matches!(key, Algorithm::Rsa { .. }) {
        return vec![None];
    }
    match ssh.best_supported_rsa_hash().await {
        Ok(Some(hash)) => vec![hash],
        _ => vec![Some(HashAlg::Sha256), None],
    }
}
