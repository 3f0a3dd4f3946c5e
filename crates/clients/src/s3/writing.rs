//! Writes an object by one PUT, or by consecutive parts.

use std::cell::RefCell;

use hyper::header::ETAG;
use hyper::{Method, StatusCode};
use lanlab_files::{Class, Fault, Result};
use lanlab_wire::xml;
use quick_xml::escape::escape;

use super::refusal::{code, refusal};
use super::{Session, create};
use crate::http::{Outgoing, REFUSAL_BYTES, Upload};

/// Largest object written by one PUT, bytes. S3 allows 5 GiB, but an interrupted PUT must start
/// again from the beginning.
pub const SINGLE_BYTES: u64 = 1 << 30;

/// Size of each part except the last, bytes. S3 allows parts of 5 MiB to 5 GiB, and 10 000 parts.
/// 10 000 of these make 640 GB; longer objects have larger parts. No part is held in memory.
pub const PART_BYTES: u64 = 1 << 26;

const MAX_PARTS: u64 = 10_000;

#[derive(Debug)]
pub struct Writing {
    what: String,
    key: String,
    size_bytes: u64,
    is_new: bool,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Busy,
    Single(Upload),
    Parts(Parts),
}

#[derive(Debug)]
struct Parts {
    upload_id: String,
    part_bytes: u64,
    etags: Vec<String>,
    current: Option<(Upload, u64)>,
    sent_bytes: u64,
}

impl Writing {
    /// Start to write an object; `is_new`: only if no object has that name.
    pub async fn begin(
        session: &Session,
        key: String,
        what: String,
        size_bytes: u64,
        is_new: bool,
    ) -> Result<Self> {
        let state = if size_bytes <= session.single_bytes {
            let request = create(session.bucket.request(Method::PUT, &key, &[]), is_new);
            State::Single(Upload::begin(&session.http, what.clone(), request, size_bytes).await?)
        } else {
            let upload_id = upload_id(session, &key, &what).await?;
            let part_bytes = session.part_bytes.max(size_bytes.div_ceil(MAX_PARTS));
            State::Parts(Parts {
                upload_id,
                part_bytes,
                etags: Vec::new(),
                current: None,
                sent_bytes: 0,
            })
        };
        Ok(Self { what, key, size_bytes, is_new, state: RefCell::new(state) })
    }

    pub async fn write_at(&self, session: &Session, offset: u64, data: &[u8]) -> Result<()> {
        let refused = |status, text: &[u8]| refusal(&self.what, status, text);
        match self.state.take() {
            State::Busy => Err(self.busy()),
            State::Single(upload) => {
                let done = upload.write_at(&session.http, offset, data, refused).await;
                self.state.replace(State::Single(upload));
                done
            }
            State::Parts(mut parts) => {
                let done = self.write_parts(session, &mut parts, offset, data).await;
                match done {
                    Ok(()) => {
                        self.state.replace(State::Parts(parts));
                        Ok(())
                    }
                    Err(fault) => {
                        self.abort(session, parts).await;
                        Err(fault)
                    }
                }
            }
        }
    }

    pub async fn finish(self, session: &Session) -> Result<()> {
        let what = &self.what;
        match self.state.take() {
            State::Busy => Err(self.busy()),
            State::Single(upload) => {
                let answer = upload.finish(&session.http).await?;
                session.text(what, answer, REFUSAL_BYTES).await.map(drop)
            }
            State::Parts(mut parts) => {
                let done = self.complete(session, &mut parts).await;
                if done.is_err() {
                    self.abort(session, parts).await;
                }
                done
            }
        }
    }

    fn busy(&self) -> Fault {
        let message = format!("{}: another call is under way, or has failed", self.what);
        Fault::new(Class::Unsupported, message)
    }

    async fn write_parts(
        &self,
        session: &Session,
        parts: &mut Parts,
        offset: u64,
        mut data: &[u8],
    ) -> Result<()> {
        let what = &self.what;
        if offset != parts.sent_bytes {
            let message =
                format!("{what}: found octet {offset} next; allowed: {}", parts.sent_bytes);
            return Err(Fault::new(Class::Unsupported, message));
        }
        if data.len() as u64 > self.size_bytes - offset {
            let message =
                format!("{what}: found octets beyond the {} that were said", self.size_bytes);
            return Err(Fault::new(Class::Length, message));
        }
        while !data.is_empty() {
            let (part, begins_at) = match parts.current.take() {
                Some(current) => current,
                None => (self.next_part(session, parts).await?, parts.sent_bytes),
            };
            let within = parts.sent_bytes - begins_at;
            let count = (parts.part_bytes - within).min(data.len() as u64) as usize;
            let refused = |status, text: &[u8]| refusal(what, status, text);
            part.write_at(&session.http, within, &data[..count], refused).await?;
            data = &data[count..];
            parts.sent_bytes += count as u64;
            let ends = within + count as u64 == parts.part_bytes;
            if ends || parts.sent_bytes == self.size_bytes {
                parts.etags.push(self.etag(session, part).await?);
            } else {
                parts.current = Some((part, begins_at));
            }
        }
        Ok(())
    }

    async fn next_part(&self, session: &Session, parts: &Parts) -> Result<Upload> {
        let left_bytes = self.size_bytes - parts.sent_bytes;
        let number = (parts.etags.len() + 1).to_string();
        let query = [("partNumber", number.as_str()), ("uploadId", &parts.upload_id)];
        let request = session.bucket.request(Method::PUT, &self.key, &query);
        let size_bytes = left_bytes.min(parts.part_bytes);
        Upload::begin(&session.http, self.what.clone(), request, size_bytes).await
    }

    async fn etag(&self, session: &Session, part: Upload) -> Result<String> {
        let what = &self.what;
        let answer = part.finish(&session.http).await?;
        let etag = answer.header(ETAG).map(str::to_owned);
        session.text(what, answer, REFUSAL_BYTES).await?;
        etag.ok_or_else(|| {
            Fault::new(Class::Protocol, format!("{what}: found a part without ETag"))
        })
    }

    async fn complete(&self, session: &Session, parts: &mut Parts) -> Result<()> {
        let what = &self.what;
        if parts.sent_bytes != self.size_bytes {
            let message = format!(
                "{what}: found the end after {} of the {} octets that were said",
                parts.sent_bytes, self.size_bytes
            );
            return Err(Fault::new(Class::Length, message));
        }
        let query = [("uploadId", parts.upload_id.as_str())];
        let request = create(session.bucket.request(Method::POST, &self.key, &query), self.is_new);
        let body = Outgoing::Whole(Some(whole_of(&parts.etags).into()));
        let answer = session.ask(what, request, body).await?;
        let text = session.text(what, answer, REFUSAL_BYTES).await?;
        // The server sent the status before it knew whether it would succeed.
        match code(&text) {
            Some(_) => Err(refusal(what, StatusCode::INTERNAL_SERVER_ERROR, &text)),
            None => Ok(()),
        }
    }

    /// Make the server discard the parts, which use space. Its answer does not matter.
    async fn abort(&self, session: &Session, parts: Parts) {
        let Parts { upload_id, current, .. } = parts;
        drop(current);
        let query = [("uploadId", upload_id.as_str())];
        let request = session.bucket.request(Method::DELETE, &self.key, &query);
        if let Ok(answer) = session.ask(&self.what, request, Outgoing::nothing()).await {
            let _ = session.text(&self.what, answer, REFUSAL_BYTES).await;
        }
    }
}

fn whole_of(etags: &[String]) -> String {
    let mut document = "<CompleteMultipartUpload>".to_owned();
    for (at, etag) in etags.iter().enumerate() {
        let (number, etag) = (at + 1, escape(etag));
        document
            .extend([format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>")]);
    }
    document + "</CompleteMultipartUpload>"
}

async fn upload_id(session: &Session, key: &str, what: &str) -> Result<String> {
    let request = session.bucket.request(Method::POST, key, &[("uploads", "")]);
    let answer = session.ask(what, request, Outgoing::nothing()).await?;
    let text = session.text(what, answer, REFUSAL_BYTES).await?;
    let mut upload_id = None;
    let read = xml::elements(&text, |names, text| {
        if names.last().is_some_and(|name| name == "UploadId") {
            upload_id = Some(text.to_owned());
        }
    });
    let found = match (read, upload_id) {
        (Ok(()), Some(upload_id)) => return Ok(upload_id),
        (Ok(()), None) => "no name of the upload".to_owned(),
        (Err(found), _) => found,
    };
    Err(Fault::new(Class::Protocol, format!("{what}: found {found}")))
}
