//! What a client sends, into a file; checked only by what the client asked for.

use std::io::{self, Write};

use http_body_util::BodyExt;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::{Checksum, PutObjectInput, StreamingBlob, UploadPartInput};
use s3s::{Body, S3Result, s3_error};

use super::store::{Unseen, fault};

/// Octets that are gathered before they are written.
const BLOCK_BYTES: usize = 1 << 18;

/// Checksums that the client gave, base64.
#[derive(Debug, Default)]
pub struct Checks {
    md5: Option<String>,
    given: Checksum,
}

macro_rules! checks_of {
    ($input:expr) => {{
        let input = $input;
        let given = Checksum {
            checksum_crc32: input.checksum_crc32.clone(),
            checksum_crc32c: input.checksum_crc32c.clone(),
            checksum_crc64nvme: input.checksum_crc64nvme.clone(),
            checksum_sha1: input.checksum_sha1.clone(),
            checksum_sha256: input.checksum_sha256.clone(),
            ..Checksum::default()
        };
        Self { md5: input.content_md5.clone(), given }
    }};
}

impl Checks {
    /// Of an object.
    pub fn of_object(input: &PutObjectInput) -> Self {
        checks_of!(input)
    }

    /// Of a part.
    pub fn of_part(input: &UploadPartInput) -> Self {
        checks_of!(input)
    }
}

/// Computes what was given, and nothing else: a checksum costs more than the rest.
struct Hashing {
    checks: Checks,
    md5: Option<Md5>,
    hasher: ChecksumHasher,
}

impl Hashing {
    fn new(checks: Checks) -> Self {
        let given = &checks.given;
        let hasher = ChecksumHasher {
            crc32: given.checksum_crc32.is_some().then(Default::default),
            crc32c: given.checksum_crc32c.is_some().then(Default::default),
            sha1: given.checksum_sha1.is_some().then(Default::default),
            sha256: given.checksum_sha256.is_some().then(Default::default),
            crc64nvme: given.checksum_crc64nvme.is_some().then(Default::default),
        };
        let md5 = checks.md5.is_some().then(Md5::new);
        Self { checks, md5, hasher }
    }

    fn update(&mut self, data: &[u8]) {
        self.hasher.update(data);
        if let Some(md5) = &mut self.md5 {
            md5.update(data);
        }
    }

    fn agrees(self) -> bool {
        use base64::Engine;
        let md5 = self.md5.map(|md5| base64::prelude::BASE64_STANDARD.encode(md5.finalize()));
        let (found, given) = (self.hasher.finalize(), self.checks.given);
        md5 == self.checks.md5
            && found.checksum_crc32 == given.checksum_crc32
            && found.checksum_crc32c == given.checksum_crc32c
            && found.checksum_crc64nvme == given.checksum_crc64nvme
            && found.checksum_sha1 == given.checksum_sha1
            && found.checksum_sha256 == given.checksum_sha256
    }
}

/// Take in all of a body.
pub async fn receive(
    mut unseen: Unseen,
    body: Option<StreamingBlob>,
    checks: Checks,
) -> S3Result<Unseen> {
    let mut hashing = Hashing::new(checks);
    let mut block: Vec<bytes::Bytes> = Vec::new();
    let mut gathered = 0;
    if let Some(body) = body {
        let mut body = Body::from(body);
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                return Err(s3_error!(IncompleteBody, "the end came before it was said to"));
            };
            let Ok(data) = frame.into_data() else { continue };
            hashing.update(&data);
            gathered += data.len();
            block.push(data);
            if gathered >= BLOCK_BYTES {
                unseen = write(unseen, std::mem::take(&mut block)).await?;
                gathered = 0;
            }
        }
    }
    if gathered > 0 {
        unseen = write(unseen, block).await?;
    }
    if !hashing.agrees() {
        return Err(s3_error!(BadDigest, "not the checksum that was sent"));
    }
    Ok(unseen)
}

async fn write(mut unseen: Unseen, block: Vec<bytes::Bytes>) -> S3Result<Unseen> {
    let written = tokio::task::spawn_blocking(move || -> io::Result<Unseen> {
        let mut file = unseen.take().ok_or(io::ErrorKind::NotFound)?;
        for data in block {
            file.write_all(&data)?;
        }
        unseen.put(file);
        Ok(unseen)
    });
    match written.await {
        Ok(written) => written.map_err(|error| fault(&error)),
        Err(_) => Err(s3_error!(InternalError)),
    }
}
