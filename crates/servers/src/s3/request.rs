//! Bucket, key and parameters of a request, each decoded once.

use std::time::{Duration, SystemTime};

use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};
use lanlab_wire::percent;

use super::refusal::{Code, Refusal};

#[derive(Debug)]
pub struct Asked {
    pub method: Method,
    pub path: String,
    pub raw_path: String,
    pub bucket: String,
    pub key: String,
    pub query: Vec<(String, String)>,
    pub headers: HeaderMap,
}

impl Asked {
    /// Parse a head.
    pub fn of(head: Parts) -> Result<Self, Refusal> {
        let unreadable =
            || Refusal::new(Code::InvalidURI, "the URI is not UTF-8 as RFC 3986 has it");
        let path = percent::decode(head.uri.path()).ok_or_else(unreadable)?;
        // Forms encode a space like this, and S3 accepts it.
        let decode = |text: &str| percent::decode(&text.replace('+', " "));
        let mut query = Vec::new();
        for pair in head.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty())
        {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let pair = decode(name).zip(decode(value));
            query.push(pair.ok_or_else(unreadable)?);
        }
        let names = path.strip_prefix('/').unwrap_or(&path);
        let (bucket, key) = names.split_once('/').unwrap_or((names, ""));
        let (bucket, key) = (bucket.to_owned(), key.to_owned());
        let raw_path = head.uri.path().to_owned();
        Ok(Self { method: head.method, path, raw_path, bucket, key, query, headers: head.headers })
    }

    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// A field of the head; for `x-amz-…` also from the query, where a signed URL may have it.
    pub fn field(&self, name: &str) -> Option<&str> {
        let header = self.headers.get(name).and_then(|value| value.to_str().ok());
        let in_query = || {
            let mut pairs = self.query.iter().filter(|_| name.starts_with("x-amz-"));
            pairs
                .find(|(found, _)| found.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str())
        };
        header.or_else(in_query)
    }

    pub fn number(&self, name: &'static str) -> Result<Option<u64>, Refusal> {
        let wrong = |_| {
            Refusal::new(Code::InvalidArgument, format!("`{name}`: allowed: a number from 0 on"))
        };
        self.parameter(name)
            .filter(|text| !text.is_empty())
            .map(str::parse)
            .transpose()
            .map_err(wrong)
    }

    /// The modification time set by the client, as rclone does: seconds since 1970, with decimals.
    pub fn modified(&self) -> Result<Option<SystemTime>, Refusal> {
        let Some(text) = self.field("x-amz-meta-mtime") else { return Ok(None) };
        let (is_before, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_digits =
            |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
        let time = || {
            let part_ns: u32 = format!("{part:0<9.9}").parse().ok()?;
            let since = Duration::new(whole.parse().ok()?, part_ns);
            if is_before {
                SystemTime::UNIX_EPOCH.checked_sub(since)
            } else {
                SystemTime::UNIX_EPOCH.checked_add(since)
            }
        };
        let time = if is_digits(whole) && is_digits(part) { time() } else { None };
        let wrong = || {
            Refusal::new(Code::InvalidArgument, "`x-amz-meta-mtime`: allowed: seconds since 1970")
        };
        time.ok_or_else(wrong).map(Some)
    }
}
