//! Code shared by TLS clients and servers.

use std::sync::{Arc, OnceLock};

use rustls::crypto::CryptoProvider;
use sha2::{Digest, Sha256};

/// SHA-256 in hexadecimal, which identifies a certificate or host key.
pub fn sha256_hex(octets: &[u8]) -> String {
    hex::encode(Sha256::digest(octets))
}

pub fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    Arc::clone(PROVIDER.get_or_init(|| Arc::new(rustls::crypto::ring::default_provider())))
}
