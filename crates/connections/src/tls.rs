//! What both ends of TLS share.

use std::sync::{Arc, OnceLock};

use rustls::crypto::CryptoProvider;
use sha2::{Digest, Sha256};

/// SHA-256 of octets, in hexadecimal: how a certificate or host key is named.
pub fn sha256_hex(octets: &[u8]) -> String {
    hex::encode(Sha256::digest(octets))
}

pub fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    Arc::clone(PROVIDER.get_or_init(|| Arc::new(rustls::crypto::ring::default_provider())))
}
