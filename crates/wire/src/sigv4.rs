//! Signatures of S3 requests, version 4, for client and server.
//!
//! Source: Amazon S3 API Reference, "Authenticating Requests (AWS Signature Version 4)". The signed
//! text consists of request, time and scope. The key derives from the secret and the scope, so no
//! request contains the secret.

use std::fmt::Write as _;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::percent;

pub const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Replaces the hash of an unsigned body.
pub const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

/// SHA-256 of an empty body, hexadecimal.
pub const OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope<'a> {
    /// Day, `20260101`.
    pub day: &'a str,
    pub region: &'a str,
}

impl<'a> Scope<'a> {
    /// Parse the output of [`Scope::text`]. `None` if it is not a scope of S3.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split('/');
        let scope = Self { day: parts.next()?, region: parts.next()? };
        let rest = (parts.next(), parts.next(), parts.next());
        (rest == (Some("s3"), Some("aws4_request"), None)).then_some(scope)
    }

    pub fn text(&self) -> String {
        format!("{}/{}/s3/aws4_request", self.day, self.region)
    }
}

#[derive(Debug)]
pub struct Signed<'a> {
    pub method: &'a str,
    pub path: &'a str,
    /// Decoded names and values of the query in any order, without the signature.
    pub query: &'a [(&'a str, &'a str)],
    /// Lower-case names and values of the signed fields, in the order of the names.
    pub fields: &'a [(&'a str, &'a str)],
    /// Hexadecimal SHA-256 of the body, or its substitute.
    pub payload: &'a str,
}

impl Signed<'_> {
    fn canonical(&self) -> String {
        let mut text =
            format!("{}\n{}\n{}\n", self.method, percent::encode(self.path), query(self.query));
        for (name, value) in self.fields {
            text.push_str(name);
            text.push(':');
            for (at, word) in value.split(' ').filter(|word| !word.is_empty()).enumerate() {
                text.push_str(if at > 0 { " " } else { "" });
                text.push_str(word);
            }
            text.push('\n');
        }
        let names: Vec<&str> = self.fields.iter().map(|(name, _)| *name).collect();
        let _ = write!(text, "\n{}\n{}", names.join(";"), self.payload);
        text
    }

    /// The text that is signed; `time` as in `20260101T000000Z`.
    pub fn text(&self, time: &str, scope: &Scope<'_>) -> String {
        let hash = hex::encode(Sha256::digest(self.canonical()));
        format!("{ALGORITHM}\n{time}\n{}\n{hash}", scope.text())
    }
}

/// The signed form of a query, which is also a valid query: sorted, with special characters
/// encoded.
pub fn query(pairs: &[(&str, &str)]) -> String {
    let encode = |text: &str| percent::encode(text).replace('/', "%2F");
    let mut pairs: Vec<(String, String)> =
        pairs.iter().map(|(name, value)| (encode(name), encode(value))).collect();
    pairs.sort_unstable();
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl Key {
    pub fn new(secret: &str, scope: &Scope<'_>) -> Self {
        let mut key = mac(format!("AWS4{secret}").as_bytes());
        for part in [scope.day, scope.region, "s3", "aws4_request"] {
            key.update(part.as_bytes());
            key = mac(&key.finalize().into_bytes());
        }
        Self(key)
    }

    pub fn sign(&self, text: &str) -> String {
        hex::encode(self.0.clone().chain_update(text).finalize().into_bytes())
    }

    /// Whether a text has this signature, compared in constant time.
    pub fn has_signed(&self, text: &str, signature: &str) -> bool {
        let Ok(signature) = hex::decode(signature) else { return false };
        self.0.clone().chain_update(text).verify_slice(&signature).is_ok()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Checks the signatures of a body in chunks, each of which covers the one before.
///
/// Source: Amazon S3 API Reference, "Transferring Payload in Multiple Chunks" and "Including Trailing
/// Headers".
#[derive(Debug, Clone)]
pub struct ChunkSignatures {
    key: Key,
    signed_at: String,
    last: String,
}

impl ChunkSignatures {
    pub fn new(key: Key, time: &str, scope: &Scope<'_>, head_signature: &str) -> Self {
        let signed_at = format!("{time}\n{}", scope.text());
        Self { key, signed_at, last: head_signature.to_owned() }
    }

    /// Whether the next chunk, whose data have this SHA-256, has this signature.
    pub fn has_signed_chunk(&mut self, sha256: &[u8], signature: &str) -> bool {
        self.next("PAYLOAD", &format!("{OF_NOTHING}\n{}", hex::encode(sha256)), signature)
    }

    /// Whether the fields after the last chunk have this signature: each field `name:value` with a final LF.
    pub fn has_signed_fields(&mut self, fields: &str, signature: &str) -> bool {
        self.next("TRAILER", &hex::encode(Sha256::digest(fields)), signature)
    }

    fn next(&mut self, kind: &str, hashes: &str, signature: &str) -> bool {
        let (signed_at, last) = (&self.signed_at, &self.last);
        let text = format!("{ALGORITHM}-{kind}\n{signed_at}\n{last}\n{hashes}");
        signature.clone_into(&mut self.last);
        self.key.has_signed(&text, signature)
    }
}

fn mac(key: &[u8]) -> Hmac<Sha256> {
    #[allow(clippy::expect_used, reason = "RFC 2104, section 3: a key has any length")]
    Hmac::new_from_slice(key).expect("a key of any length")
}

#[cfg(test)]
mod tests;
