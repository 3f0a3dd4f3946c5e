//! Receives a request body into a file or memory, and verifies its length, checksums and signatures.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use lanlab_wire::http_chunks::{Chunks, Step};

use super::super::http::Lingering;
use super::authentication::Payload;
use super::checksums::Checksums;
use super::chunk_signing::ChunkSigning;
use super::refusal::{Code, Refusal};
use super::request::Asked;
use crate::file_sessions::while_others_run;

const BLOCK_BYTES: usize = 1 << 18;

/// Maximum pieces collected into a block, so that tiny ones do not use much memory.
const BLOCK_PIECES: usize = 4096;

pub trait Sink: Send + 'static {
    fn put(&mut self, data: &[u8]) -> Result<(), Refusal>;
}

impl Sink for Vec<u8> {
    fn put(&mut self, data: &[u8]) -> Result<(), Refusal> {
        self.extend_from_slice(data);
        Ok(())
    }
}

#[derive(Debug)]
pub struct Intake<S> {
    chunks: Option<Chunks>,
    signing: Option<ChunkSigning>,
    checksums: Checksums,
    size_bytes: Option<u64>,
    limit_bytes: u64,
    taken_bytes: u64,
    too_large: Code,
    sink: S,
}

impl<S: Sink> Intake<S> {
    /// Receive into `sink`, up to `limit_bytes`; beyond it the error is `too_large`.
    pub fn new(
        asked: &Asked,
        payload: Payload,
        limit_bytes: u64,
        too_large: Code,
        sink: S,
    ) -> Result<Self, Refusal> {
        let said = |name: &str| asked.field(name).map(str::parse::<u64>).transpose();
        let unsaid =
            |what: &str| Refusal::new(Code::MissingContentLength, format!("found no {what}"));
        let whole = said(CONTENT_LENGTH.as_str()).map_err(|_| unsaid("length"))?;
        if whole.is_none() && !asked.headers.contains_key(TRANSFER_ENCODING) {
            return Err(unsaid("`Content-Length`"));
        }
        let (is_chunked, hash, signing) = match payload {
            Payload::Unsigned => (false, None, None),
            Payload::Hash(hash) => (false, Some(hash), None),
            Payload::Chunks => (true, None, None),
            Payload::SignedChunks(signatures, signs_fields) => {
                (true, None, Some(ChunkSigning::new(*signatures, signs_fields)))
            }
        };
        let size_bytes = if is_chunked {
            let name = "x-amz-decoded-content-length";
            Some(said(name).ok().flatten().ok_or_else(|| unsaid(name))?)
        } else {
            whole
        };
        let intake = Self {
            chunks: is_chunked.then(Chunks::with_loose_fields),
            signing,
            checksums: Checksums::of(asked, hash)?,
            size_bytes,
            limit_bytes,
            taken_bytes: 0,
            too_large,
            sink,
        };
        intake.within(size_bytes.unwrap_or(0))?;
        Ok(intake)
    }

    fn within(&self, size_bytes: u64) -> Result<(), Refusal> {
        if size_bytes <= self.limit_bytes {
            return Ok(());
        }
        let message = format!("allowed: {} octets at most", self.limit_bytes);
        Err(Refusal::new(self.too_large, message))
    }

    /// Append the next bytes. May block.
    pub fn take(&mut self, mut data: &[u8]) -> Result<(), Refusal> {
        let Some(mut chunks) = self.chunks.take() else { return self.keep(data) };
        while !data.is_empty() {
            let (before, step) = chunks.step(data).map_err(|found| wrong(&found))?;
            data = &data[before..];
            match step {
                Step::Data(size_bytes) => {
                    let count = size_bytes.min(data.len() as u64) as usize;
                    self.keep(&data[..count])?;
                    chunks.took(count as u64);
                    if let Some(signing) = &mut self.signing {
                        signing.take(&data[..count]);
                        if chunks.is_between() {
                            signing.check(chunks.extension())?;
                        }
                    }
                    data = &data[count..];
                }
                Step::More | Step::End => break,
            }
        }
        self.chunks = Some(chunks);
        Ok(())
    }

    fn keep(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let taken_bytes = self.taken_bytes + data.len() as u64;
        // Checked first, so that the reason does not depend on how much arrives at once.
        if let Some(size_bytes) = self.size_bytes.filter(|size_bytes| taken_bytes > *size_bytes) {
            let message = format!("found more than the {size_bytes} octets that were said");
            return Err(Refusal::new(Code::InvalidRequest, message));
        }
        self.within(taken_bytes)?;
        self.taken_bytes = taken_bytes;
        self.checksums.update(data);
        self.sink.put(data)
    }

    /// Finish a complete body.
    pub fn finish(mut self) -> Result<S, Refusal> {
        let trailer = self.chunks.as_ref().map_or(Ok(Vec::new()), fields)?;
        if let (Some(signing), Some(chunks)) = (&mut self.signing, &self.chunks) {
            signing.check(chunks.extension())?; // Of the last chunk, which is empty.
            signing.check_fields(&trailer)?;
        }
        if let Some(size_bytes) = self.size_bytes.filter(|size| *size != self.taken_bytes) {
            let message =
                format!("found {} of the {size_bytes} octets that were said", self.taken_bytes);
            return Err(Refusal::new(Code::IncompleteBody, message));
        }
        self.checksums.agree(&trailer)?;
        Ok(self.sink)
    }

    /// Receive a whole body, and call `last` with it, where blocking is allowed. While one block is written the
    /// next is received. A client that sends nothing for `patience` is dropped.
    pub async fn receive<T>(
        self,
        mut body: Lingering,
        patience: Duration,
        last: impl FnOnce(S) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut intake = self;
        let (mut block, mut is_last) = gather(&mut body, patience).await?;
        while !is_last {
            let writing = tokio::task::spawn_blocking(move || {
                intake.take_all(&block)?;
                Ok::<_, Refusal>(intake)
            });
            let writing =
                async { writing.await.unwrap_or_else(|_| Err(Code::InternalError.into())) };
            (intake, (block, is_last)) = tokio::try_join!(writing, gather(&mut body, patience))?;
        }
        while_others_run(|| {
            intake.take_all(&block)?;
            last(intake.finish()?)
        })
    }

    fn take_all(&mut self, block: &[Bytes]) -> Result<(), Refusal> {
        block.iter().try_for_each(|data| self.take(data))
    }
}

fn fields(chunks: &Chunks) -> Result<Vec<(String, String)>, Refusal> {
    let Some(trailer) = chunks.trailer() else {
        return Err(Refusal::new(Code::IncompleteBody, "the end came before the last chunk"));
    };
    let lines = trailer.split(|octet| *octet == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let field = |line: &[u8]| {
        let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
        Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
    };
    lines.map(|line| field(line).ok_or_else(|| wrong("no field after the last"))).collect()
}

fn wrong(found: &str) -> Refusal {
    Refusal::new(Code::InvalidRequest, format!("`aws-chunked`: found {found}"))
}

/// The next [`BLOCK_BYTES`] or so; the last block may be shorter.
async fn gather(body: &mut Lingering, patience: Duration) -> Result<(Vec<Bytes>, bool), Refusal> {
    let (mut block, mut gathered_bytes) = (Vec::new(), 0);
    while gathered_bytes < BLOCK_BYTES && block.len() < BLOCK_PIECES {
        let Ok(frame) = tokio::time::timeout(patience, body.frame()).await else {
            return Err(Refusal::new(Code::RequestTimeout, "nothing came for too long"));
        };
        let Some(frame) = frame else { return Ok((block, true)) };
        let Ok(frame) = frame else {
            return Err(Refusal::new(Code::IncompleteBody, "the end came before it was said to"));
        };
        if let Ok(data) = frame.into_data() {
            gathered_bytes += data.len();
            block.push(data);
        }
    }
    Ok((block, false))
}

#[cfg(test)]
mod tests;
