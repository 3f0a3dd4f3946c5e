//! Signatures of the chunks of a body, and of the fields after the last.

use lanlab_wire::sigv4::ChunkSignatures;
use sha2::{Digest, Sha256};

use super::refusal::{Code, Refusal};

const OF_FIELDS: &str = "x-amz-trailer-signature";

#[derive(Debug)]
pub struct ChunkSigning {
    signatures: ChunkSignatures,
    signs_fields: bool,
    hash: Sha256,
}

impl ChunkSigning {
    pub fn new(signatures: ChunkSignatures, signs_fields: bool) -> Self {
        Self { signatures, signs_fields, hash: Sha256::new() }
    }

    pub fn take(&mut self, data: &[u8]) {
        self.hash.update(data);
    }

    pub fn check(&mut self, extension: &[u8]) -> Result<(), Refusal> {
        let extension = std::str::from_utf8(extension).unwrap_or_default();
        let signature = extension.strip_prefix(";chunk-signature=").unwrap_or_default();
        let sha256 = self.hash.finalize_reset();
        signed(self.signatures.has_signed_chunk(&sha256, signature), "a chunk")
    }

    pub fn check_fields(&mut self, fields: &[(String, String)]) -> Result<(), Refusal> {
        if !self.signs_fields {
            return signed(fields.is_empty(), "what follows the last chunk");
        }
        let is_signature = |(name, _): &&(String, String)| name == OF_FIELDS;
        let signature = fields.iter().find(is_signature).map_or("", |(_, value)| value);
        let fields = fields.iter().filter(|field| !is_signature(field));
        let lines: Vec<String> = fields.map(|(name, value)| format!("{name}:{value}\n")).collect();
        signed(
            self.signatures.has_signed_fields(&lines.concat(), signature),
            "what follows the last chunk",
        )
    }
}

fn signed(is_signed: bool, what: &str) -> Result<(), Refusal> {
    let refused = || {
        let message = format!("`aws-chunked`: {what} is not signed by the secret");
        Refusal::new(Code::SignatureDoesNotMatch, message)
    };
    is_signed.then_some(()).ok_or_else(refused)
}
