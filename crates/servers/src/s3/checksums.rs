//! Checksums sent by clients. Only those are computed, as a checksum costs more than everything else.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use crc_fast::CrcAlgorithm;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::refusal::{Code, Refusal};
use super::request::Asked;

const NAMES: [&str; 6] = [
    "content-md5",
    "x-amz-checksum-crc32",
    "x-amz-checksum-crc32c",
    "x-amz-checksum-crc64nvme",
    "x-amz-checksum-sha1",
    "x-amz-checksum-sha256",
];

#[derive(Debug)]
enum Sum {
    Crc(crc_fast::Digest, usize),
    Md5(md5::Md5),
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Sum {
    fn of(name: &str) -> Option<Self> {
        let crc = |kind, bytes| Self::Crc(crc_fast::Digest::new(kind), bytes);
        Some(match name {
            "content-md5" => Self::Md5(md5::Md5::new()),
            "x-amz-checksum-crc32" => crc(CrcAlgorithm::Crc32IsoHdlc, 4),
            "x-amz-checksum-crc32c" => crc(CrcAlgorithm::Crc32Iscsi, 4),
            "x-amz-checksum-crc64nvme" => crc(CrcAlgorithm::Crc64Nvme, 8),
            "x-amz-checksum-sha1" => Self::Sha1(Sha1::new()),
            "x-amz-checksum-sha256" => Self::Sha256(Sha256::new()),
            _ => return None,
        })
    }

    fn update(&mut self, data: &[u8]) {
        match self {
            Self::Crc(sum, _) => sum.update(data),
            Self::Md5(sum) => sum.update(data),
            Self::Sha1(sum) => sum.update(data),
            Self::Sha256(sum) => sum.update(data),
        }
    }

    fn finish(self) -> String {
        match self {
            Self::Crc(sum, bytes) => {
                BASE64_STANDARD.encode(&sum.finalize().to_be_bytes()[8 - bytes..])
            }
            Self::Md5(sum) => BASE64_STANDARD.encode(sum.finalize()),
            Self::Sha1(sum) => BASE64_STANDARD.encode(sum.finalize()),
            Self::Sha256(sum) => BASE64_STANDARD.encode(sum.finalize()),
        }
    }
}

#[derive(Debug, Default)]
pub struct Checksums {
    sums: Vec<(String, Sum, Option<String>)>,
    payload: Option<(Sha256, [u8; 32])>,
}

impl Checksums {
    /// The checksums of a request: in its head, or announced there for the trailer.
    pub fn of(asked: &Asked, payload: Option<[u8; 32]>) -> Result<Self, Refusal> {
        let given = NAMES.iter().filter_map(|name| {
            let value = asked.field(name)?.to_owned();
            Some(((*name).to_owned(), Sum::of(name)?, Some(value)))
        });
        let mut sums: Vec<_> = given.collect();
        let announced = asked.field("x-amz-trailer").unwrap_or_default().split(',');
        for name in announced.map(str::trim).filter(|name| !name.is_empty()) {
            let name = name.to_ascii_lowercase();
            let Some(sum) = Sum::of(&name).filter(|_| sums.len() < NAMES.len()) else {
                let message = format!("`x-amz-trailer`: allowed: {}", NAMES[1..].join(", "));
                return Err(Refusal::new(Code::InvalidRequest, message));
            };
            sums.push((name, sum, None));
        }
        Ok(Self { sums, payload: payload.map(|wanted| (Sha256::new(), wanted)) })
    }

    pub fn update(&mut self, data: &[u8]) {
        for (_, sum, _) in &mut self.sums {
            sum.update(data);
        }
        if let Some((hash, _)) = &mut self.payload {
            hash.update(data);
        }
    }

    /// Compare them with the given values, including those in `trailer`.
    pub fn agree(self, trailer: &[(String, String)]) -> Result<(), Refusal> {
        if let Some((hash, wanted)) = self.payload
            && hash.finalize()[..] != wanted
        {
            let message = "what came has not the SHA-256 that was signed";
            return Err(Refusal::new(Code::XAmzContentSHA256Mismatch, message));
        }
        for (name, sum, given) in self.sums {
            let later = || trailer.iter().find(|(found, _)| *found == name);
            let given =
                given.or_else(|| later().map(|(_, value)| value.clone())).ok_or_else(|| {
                    let message = format!("`{name}` was announced and did not come");
                    Refusal::new(Code::MalformedTrailerError, message)
                })?;
            let found = sum.finish();
            if found != given {
                let is_sum = BASE64_STANDARD.decode(&given).is_ok_and(|octets| {
                    BASE64_STANDARD.decode(&found).is_ok_and(|other| octets.len() == other.len())
                });
                let code = if is_sum { Code::BadDigest } else { Code::InvalidDigest };
                let message = format!("`{name}` is not that of what came: {found}");
                return Err(Refusal::new(code, message));
            }
        }
        Ok(())
    }
}
