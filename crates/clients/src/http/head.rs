//! The header of a response (RFC 9112, sections 2 to 6): its status, its fields, and how its body
//! ends.
//!
//! Anything ambiguous is refused: a client that mistakes the end of one response for the beginning
//! of the next would measure something else.

use hyper::StatusCode;
use hyper::header::{AsHeaderName, TRANSFER_ENCODING};
use hyper::header::{CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};

use super::inbox::{INBOX_BYTES, Inbox};

const MAX_FIELDS: usize = 100;

/// Maximum number of interim responses (RFC 9110, section 15.2) before the final one.
const MAX_INTERIM: u32 = 64;

const BEGINNING: &[u8] = b"HTTP/1.";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub status: StatusCode,
    pub fields: HeaderMap,
    pub framing: Framing,
    pub keeps_alive: bool,
}

/// How the body of an answer ends (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    Nothing,
    Length(u64),
    Chunked,
    UntilClose,
}

/// First byte of a TLS record (RFC 8446, section 5.1).
const TLS_ALERT: u8 = 21;
const TLS_HANDSHAKE: u8 = 22;
const TLS_MAJOR: u8 = 3;
pub const NEEDS_TLS: &str = "this port requires TLS: use `webdavs://`, or `s3s://` for S3";
pub const IN_TLS: &str = "an answer in TLS";
pub const NOT_HTTP: &str = "an answer that is not HTTP/1";

#[derive(Debug, Default)]
pub struct Heads {
    searched_bytes: usize,
    interim: u32,
}

impl Heads {
    /// Take the next header from `inbox` when it is complete, without interim ones. `to_head` says
    /// whether the request was HEAD, whose response has no body even if its fields describe one.
    pub fn take(&mut self, inbox: &mut Inbox, to_head: bool) -> Result<Option<Head>, String> {
        loop {
            let waiting = inbox.waiting();
            if matches!(waiting, [TLS_ALERT | TLS_HANDSHAKE, TLS_MAJOR, ..]) {
                return Err(IN_TLS.to_owned());
            }
            if !waiting.iter().zip(BEGINNING).all(|(found, expected)| found == expected) {
                return Err(NOT_HTTP.to_owned());
            }
            let Some(length) = end_of_head(waiting, self.searched_bytes) else {
                if waiting.len() == INBOX_BYTES {
                    return Err(format!("a head without an end; allowed: {INBOX_BYTES} octets"));
                }
                self.searched_bytes = waiting.len();
                return Ok(None);
            };
            let head = parse(&waiting[..length], to_head)?;
            inbox.take(length);
            self.searched_bytes = 0;
            if let Some(head) = head {
                self.interim = 0;
                return Ok(Some(head));
            }
            self.interim += 1;
            if self.interim > MAX_INTERIM {
                return Err(format!("more than {MAX_INTERIM} interim answers"));
            }
        }
    }
}

/// Length of a header including the empty line at its end. The first `searched` bytes are known to
/// contain no end.
fn end_of_head(octets: &[u8], searched: usize) -> Option<usize> {
    // The end may begin up to two bytes before the new data.
    let mut at = searched.saturating_sub(3);
    while let Some(found) = octets[at..].iter().position(|octet| *octet == b'\n') {
        at += found + 1;
        match &octets[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// Parse a complete header; `None` for an interim one.
fn parse(octets: &[u8], to_head: bool) -> Result<Option<Head>, String> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    // With these settings the parser refuses folded lines and spaces before a colon.
    match response.parse(octets) {
        Ok(httparse::Status::Complete(length)) if length == octets.len() => {}
        Ok(_) => return Err("a head that ends in its middle".to_owned()),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(format!("a head of more fields; allowed: {MAX_FIELDS}"));
        }
        Err(error) => return Err(format!("a head that is not HTTP/1: {error}")),
    }
    let status = response.code.and_then(|code| StatusCode::from_u16(code).ok());
    let status = status.ok_or("a status that is none")?;
    let mut map = HeaderMap::with_capacity(response.headers.len());
    for field in response.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes());
        let value = HeaderValue::from_bytes(field.value);
        let (Ok(name), Ok(value)) = (name, value) else {
            return Err("a field of a head that is not HTTP/1".to_owned());
        };
        map.append(name, value);
    }
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(format!("`{status}`, which was not requested"));
    }
    if status.is_informational() {
        return Ok(None);
    }
    let is_old = response.version == Some(0);
    let framing = framing(status, &map, is_old, to_head)?;
    // RFC 9112, section 9.3.
    let keeps_alive = framing != Framing::UntilClose
        && !has_word(&map, CONNECTION, "close")
        && (!is_old || has_word(&map, CONNECTION, "keep-alive"));
    Ok(Some(Head { status, fields: map, framing, keeps_alive }))
}

fn framing(
    status: StatusCode,
    fields: &HeaderMap,
    is_old: bool,
    to_head: bool,
) -> Result<Framing, String> {
    if to_head || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        return Ok(Framing::Nothing);
    }
    let length_bytes = length(fields)?;
    if fields.contains_key(TRANSFER_ENCODING) {
        if length_bytes.is_some() {
            return Err("both `Content-Length` and `Transfer-Encoding`; allowed: one".to_owned());
        }
        // RFC 9112, section 6.1: HTTP/1.0 has no chunks.
        if is_old {
            return Err("`Transfer-Encoding` of HTTP/1.0".to_owned());
        }
        let mut codings = fields.get_all(TRANSFER_ENCODING).iter();
        return match (codings.next().map(HeaderValue::as_bytes), codings.next()) {
            (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Framing::Chunked),
            _ => Err("a `Transfer-Encoding`; allowed: `chunked`".to_owned()),
        };
    }
    Ok(length_bytes.map_or(Framing::UntilClose, Framing::Length))
}

/// The value of `Content-Length`. Several fields must be equal (RFC 9112, section 6.3).
fn length(fields: &HeaderMap) -> Result<Option<u64>, String> {
    let mut said = None;
    for value in fields.get_all(CONTENT_LENGTH) {
        for digits in value.as_bytes().split(|octet| *octet == b',') {
            let digits = digits.trim_ascii();
            let length = std::str::from_utf8(digits).ok().filter(|digits| {
                !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
            });
            let length = length.and_then(|digits| digits.parse::<u64>().ok());
            let length = length.ok_or("a `Content-Length` that is no number of octets")?;
            if said.is_some_and(|said| said != length) {
                return Err("`Content-Length`s that differ".to_owned());
            }
            said = Some(length);
        }
    }
    Ok(said)
}

fn has_word(fields: &HeaderMap, name: impl AsHeaderName, word: &str) -> bool {
    fields.get_all(name).iter().any(|value| {
        let mut words = value.as_bytes().split(|octet| *octet == b',');
        words.any(|found| found.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    })
}

#[cfg(test)]
mod tests;
