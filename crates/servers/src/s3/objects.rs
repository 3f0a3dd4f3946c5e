//! Requests for one object, and deletion of many.

use std::time::SystemTime;

use http_body_util::BodyExt;
use hyper::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderValue, IF_MATCH,
    IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LAST_MODIFIED, RANGE,
};
use hyper::http::response::Builder;
use hyper::{Response, StatusCode};
use lanlab_wire::{calendar, percent, xml};

use super::super::http::{FileBody, Lingering, octets_asked};
use super::answers::{Answer, built, document, empty, with_body};
use super::authentication::Payload;
use super::receive::Intake;
use super::refusal::{Code, Refusal};
use super::request::Asked;
use super::store::{Found, Store};
use super::{BUCKET, Served};

/// Maximum bytes in one upload, as in S3.
pub const MAX_BYTES: u64 = 5 << 30;

/// Maximum keys in a `Delete` document, as in S3.
const MAX_DELETED: usize = 1000;

impl Served {
    pub(super) fn head_object(&self, asked: &Asked) -> Result<Answer, Refusal> {
        let found = self.with(|store| Ok(store.look_at(&asked.key)?))?;
        if let Some(answer) = conditions(asked, &found)? {
            return Ok(answer);
        }
        let head = of_octets(StatusCode::OK, &found, found.size_bytes);
        Ok(built(head, FileBody::empty().boxed_unsync()))
    }

    pub(super) fn get_object(&self, asked: &Asked) -> Result<Answer, Refusal> {
        let range = asked.field(RANGE.as_str());
        let (found, wanted) = self.with(|store| {
            let (file, found) = store.open(&asked.key)?;
            let size_bytes = found.size_bytes;
            let range = range.and_then(|range| octets_asked(range, size_bytes));
            let (first, count) = match range {
                None => (0, size_bytes),
                Some((first, last)) if first <= last => (first, last - first + 1),
                Some(_) => return Ok((found, None)),
            };
            let body = FileBody::new(file, first, count)?;
            Ok((found, Some((range.is_some(), first, count, body))))
        })?;
        if let Some(answer) = conditions(asked, &found)? {
            return Ok(answer);
        }
        let size_bytes = found.size_bytes;
        let Some((is_part, first, count, body)) = wanted else {
            let message = format!("the object has {size_bytes} octets");
            let mut answer = Refusal::new(Code::InvalidRange, message).answer();
            if let Ok(value) = HeaderValue::from_str(&format!("bytes */{size_bytes}")) {
                answer.headers_mut().insert(CONTENT_RANGE, value);
            }
            return Ok(answer);
        };
        let status = if is_part { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
        let mut head = of_octets(status, &found, count);
        if is_part {
            let range = format!("bytes {first}-{}/{size_bytes}", first + count - 1);
            head = head.header(CONTENT_RANGE, range);
        }
        Ok(built(head, body.boxed_unsync()))
    }

    pub(super) async fn put_object(
        &self,
        asked: &Asked,
        payload: Payload,
        body: Lingering,
    ) -> Result<Answer, Refusal> {
        let (only_new, modified) = (only_new(asked)?, asked.modified()?);
        let unseen = self.with(|store| {
            // Refuse at once what would be refused after the upload.
            if only_new && store.look_at(&asked.key).is_ok() {
                return Err(Refusal::new(Code::PreconditionFailed, "the object is there"));
            }
            Ok(store.unseen(&asked.key)?)
        })?;
        let intake = Intake::new(asked, payload, MAX_BYTES, Code::EntityTooLarge, unseen)?;
        let shown = intake.receive(body, self.patience, move |mut unseen| {
            unseen.close(modified)?;
            Ok(unseen.show(only_new)?)
        });
        let etag = format!("\"{}\"", shown.await?.etag());
        Ok(with_body(Response::builder().header(ETAG, etag), ""))
    }

    pub(super) fn copy_object(&self, asked: &Asked) -> Result<Answer, Refusal> {
        let from = asked.field("x-amz-copy-source").unwrap_or_default();
        // A version follows a `?` that is not encoded.
        let decoded = percent::decode(from.strip_prefix('/').unwrap_or(from));
        let decoded = decoded.as_deref().filter(|_| !from.contains('?'));
        let Some((bucket, from)) = decoded.and_then(|from| from.split_once('/')) else {
            let message = "`x-amz-copy-source`: allowed: a bucket, `/` and a key, without version";
            return Err(Refusal::new(Code::InvalidArgument, message));
        };
        if bucket != BUCKET {
            return Err(Refusal::new(Code::NoSuchBucket, "the bucket is `lanlab`"));
        }
        let conditions = |name: &str| name.starts_with("x-amz-copy-source-");
        if asked.headers.keys().any(|name| conditions(name.as_str())) {
            return Err(Refusal::new(Code::NotImplemented, "a copy has no conditions here"));
        }
        let replaces = match asked.field("x-amz-metadata-directive") {
            None | Some("COPY") => false,
            Some("REPLACE") => true,
            Some(_) => {
                let message = "`x-amz-metadata-directive`: allowed: COPY, REPLACE";
                return Err(Refusal::new(Code::InvalidArgument, message));
            }
        };
        let only_new = only_new(asked)?;
        let modified = if replaces { asked.modified()? } else { None };
        if from == asked.key && !replaces {
            let message = "an object is copied to itself only to replace what is kept with it";
            return Err(Refusal::new(Code::InvalidRequest, message));
        }
        let found =
            self.with(|store| Ok(store.copy(from, &asked.key, modified)?.show(only_new)?))?;
        Ok(document("CopyObjectResult", |answer| {
            answer.moment("LastModified", found.modified);
            answer.etag(&found.etag());
        }))
    }

    pub(super) fn delete_object(&self, key: &str) -> Result<Answer, Refusal> {
        self.with(|store| Ok(store.remove(key)?))?;
        Ok(empty(StatusCode::NO_CONTENT))
    }

    pub(super) async fn delete_objects(
        &self,
        asked: &Asked,
        payload: Payload,
        body: Lingering,
    ) -> Result<Answer, Refusal> {
        let (keys, is_quiet) = to_delete(&self.document(asked, payload, body).await?)?;
        let remove = |store: &Store, key: String| (store.remove(&key), key);
        let removed = self
            .with(|store| Ok(keys.into_iter().map(|key| remove(store, key)).collect::<Vec<_>>()))?;
        Ok(document("DeleteResult", |answer| {
            for (removed, key) in removed {
                let name = if removed.is_ok() { "Deleted" } else { "Error" };
                if is_quiet && removed.is_ok() {
                    continue;
                }
                answer.open(name);
                answer.text("Key", &key);
                if let Err(error) = removed {
                    Refusal::from(error).describe(answer);
                }
                answer.close(name);
            }
        }))
    }
}

/// The keys in a `Delete` document, and whether only errors are reported.
fn to_delete(document: &[u8]) -> Result<(Vec<String>, bool), Refusal> {
    let (mut keys, mut is_quiet, mut is_right) = (Vec::new(), false, true);
    let read = xml::elements(document, |names, text| {
        match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["Delete", "Object", "Key"] => keys.push(text.to_owned()),
            ["Delete", "Quiet"] => is_quiet = text.trim() == "true",
            ["Delete"] | ["Delete", "Object"] => {}
            _ => is_right = false,
        }
    });
    if read.is_err() || !is_right || !(1..=MAX_DELETED).contains(&keys.len()) {
        let message = "allowed: `Delete` with 1 to 1000 `Object`s of `Key`, and `Quiet`";
        return Err(Refusal::new(Code::MalformedXML, message));
    }
    Ok((keys, is_quiet))
}

/// The head of a response with `count` bytes of an object, or of a HEAD request.
fn of_octets(status: StatusCode, found: &Found, count: u64) -> Builder {
    of_object(status, found)
        .header(ACCEPT_RANGES, "bytes")
        .header(CONTENT_TYPE, "application/octet-stream")
        .header(CONTENT_LENGTH, count)
}

/// The response if conditions of the request exclude the object.
fn conditions(asked: &Asked, found: &Found) -> Result<Option<Answer>, Refusal> {
    let is_named = |text: &str| {
        let mut names = text.split(',').map(|name| name.trim().trim_matches('"'));
        let etag = found.etag();
        names.any(|name| name == "*" || name == etag)
    };
    if asked.field(IF_MATCH.as_str()).is_some_and(|text| !is_named(text)) {
        return Err(Refusal::new(Code::PreconditionFailed, "the object is another by now"));
    }
    if asked.headers.contains_key(IF_UNMODIFIED_SINCE) {
        return Err(Refusal::new(Code::NotImplemented, "allowed: `If-Match`, `If-None-Match`"));
    }
    let is_same = asked.field(IF_NONE_MATCH.as_str()).is_some_and(is_named);
    let head = || of_object(StatusCode::NOT_MODIFIED, found);
    Ok(is_same.then(|| built(head(), FileBody::empty().boxed_unsync())))
}

/// Whether an object may only be created, not replaced.
///
/// # Errors Any other condition, because conditions must not be ignored.
pub fn only_new(asked: &Asked) -> Result<bool, Refusal> {
    let if_none = asked.headers.get(IF_NONE_MATCH);
    if asked.headers.contains_key(IF_MATCH) || if_none.is_some_and(|value| value != "*") {
        let message = "what is written has no condition but `If-None-Match: *`";
        return Err(Refusal::new(Code::NotImplemented, message));
    }
    Ok(if_none.is_some())
}

/// The head of a response about an object: `ETag`, modification time, and the same with nanoseconds in rclone's
/// field.
fn of_object(status: StatusCode, found: &Found) -> Builder {
    let (sign, since) = match found.modified.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => ("", since),
        Err(before) => ("-", before.duration()),
    };
    let whole_s = if sign.is_empty() { since.as_secs() } else { 0 };
    Response::builder()
        .status(status)
        .header(ETAG, format!("\"{}\"", found.etag()))
        .header(LAST_MODIFIED, calendar::http_date(whole_s))
        .header(
            "x-amz-meta-mtime",
            format!("{sign}{}.{:09}", since.as_secs(), since.subsec_nanos()),
        )
}
