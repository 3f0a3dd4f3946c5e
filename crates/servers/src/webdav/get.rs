//! GET and HEAD, with conditions and ranges (RFC 9110, sections 13 and 14).

use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{SystemTime, UNIX_EPOCH};

use http_body_util::BodyExt;
use hyper::header::{
    ACCEPT_RANGES, AsHeaderName, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue,
    IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
    RANGE,
};
use hyper::{Response, StatusCode};
use lanlab_wire::calendar;

use super::super::http::{FileBody, octets_asked};
use super::{Body, plain};
use lanlab_served::Confined;

/// A file, or one requested range of it. Several ranges, and ranges of HEAD, are ignored (RFC 9110, section 14.2).
pub fn get(
    confined: &Confined,
    names: &str,
    asked: &HeaderMap,
    is_head: bool,
) -> io::Result<Response<Body>> {
    let names = Confined::plain_names(names)?;
    let file = match confined.open(&names) {
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            return Ok(plain(StatusCode::METHOD_NOT_ALLOWED));
        }
        opened => opened?,
    };
    let found = file.metadata()?;
    let state = State::of(&found);
    if let Some(status) = state.met(asked) {
        return Ok(state.named(plain(status)));
    }
    let size_bytes = found.len();
    let range = text(asked, RANGE).filter(|_| !is_head && state.is_that_of(asked));
    let (status, first, count) = match range.and_then(|range| octets_asked(range, size_bytes)) {
        None => (StatusCode::OK, 0, size_bytes),
        Some((first, last)) if first <= last => {
            (StatusCode::PARTIAL_CONTENT, first, last - first + 1)
        }
        Some(_) => {
            let mut answer = plain(StatusCode::RANGE_NOT_SATISFIABLE);
            if let Ok(value) = HeaderValue::from_str(&format!("bytes */{size_bytes}")) {
                answer.headers_mut().insert(CONTENT_RANGE, value);
            }
            return Ok(answer);
        }
    };
    let mut builder = Response::builder().status(status).header(ACCEPT_RANGES, "bytes");
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {first}-{}/{size_bytes}", first + count - 1);
        builder = builder.header(CONTENT_RANGE, range);
    }
    builder = builder.header(CONTENT_LENGTH, count);
    let body = if is_head { FileBody::empty() } else { FileBody::new(file, first, count)? };
    let answer = builder.body(body.boxed_unsync()).map_err(io::Error::other)?;
    Ok(state.named(answer))
}

fn text(asked: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    asked.get(name).and_then(|value| value.to_str().ok())
}

struct State {
    etag: Option<String>,
    modified_s: Option<u64>,
}

impl State {
    fn of(found: &std::fs::Metadata) -> Self {
        let since = found.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let etag = since.map(|since| {
            let micros = since.as_secs() * 1_000_000 + u64::from(since.subsec_micros());
            format!("\"{:x}-{:x}-{micros:x}\"", found.ino(), found.len())
        });
        Self { etag, modified_s: since.map(|since| since.as_secs()) }
    }

    fn named(&self, mut answer: Response<Body>) -> Response<Body> {
        let etag = self.etag.as_ref().and_then(|etag| HeaderValue::from_str(etag).ok());
        let modified = self.modified_s.map(calendar::http_date);
        let modified = modified.and_then(|date| HeaderValue::from_str(&date).ok());
        for (name, value) in [(ETAG, etag), (LAST_MODIFIED, modified)] {
            if let Some(value) = value {
                answer.headers_mut().insert(name, value);
            }
        }
        answer
    }

    /// The status to return instead of the file because of a condition (section 13.2.2).
    fn met(&self, asked: &HeaderMap) -> Option<StatusCode> {
        let date = |name| text(asked, name).and_then(calendar::parse_http_date);
        let later = |date: u64| self.modified_s.is_some_and(|modified_s| modified_s > date);
        let is_lost = match text(asked, IF_MATCH) {
            Some(etags) => !self.is_among(etags, false),
            None => date(IF_UNMODIFIED_SINCE).is_some_and(later),
        };
        if is_lost {
            return Some(StatusCode::PRECONDITION_FAILED);
        }
        let is_had = match text(asked, IF_NONE_MATCH) {
            Some(etags) => self.is_among(etags, true),
            None => date(IF_MODIFIED_SINCE).is_some_and(|date| !later(date)),
        };
        is_had.then_some(StatusCode::NOT_MODIFIED)
    }

    /// Whether one of these tags matches. Our tags are strong, so a weak one matches only where
    /// permitted (section 8.8.3.2).
    fn is_among(&self, etags: &str, weakly: bool) -> bool {
        etags.split(',').map(str::trim).any(|one| {
            let one = if weakly { one.strip_prefix("W/").unwrap_or(one) } else { one };
            one == "*" || self.etag.as_deref() == Some(one)
        })
    }

    fn is_that_of(&self, asked: &HeaderMap) -> bool {
        let Some(condition) = text(asked, IF_RANGE) else { return true };
        match calendar::parse_http_date(condition) {
            // A date identifies content only if no later change could fall within the same second.
            Some(date) => self.modified_s == Some(date) && is_long_ago(date),
            None => self.etag.as_deref() == Some(condition),
        }
    }
}

fn is_long_ago(date_s: u64) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs().saturating_sub(date_s) > 1
}
