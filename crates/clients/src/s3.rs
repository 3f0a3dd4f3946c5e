//! Amazon S3's protocol with path-style addresses and version 4 signatures.
//!
//! A file is an object. It is read by one GET as a stream, and written by one PUT of known length
//! or, from [`SINGLE_BYTES`] on, in consecutive parts. Reads out of order request ranges, one
//! request each. There are no directories, only names with `/`.
//!
//! The signature is in the query and does not cover the file's bytes (`UNSIGNED-PAYLOAD`), with or
//! without TLS: otherwise they would have to be read twice, or signed chunk by chunk at the speed
//! of SHA-256. The workload verifies copies, so a checksum for S3 (`Content-MD5`, CRC) would be
//! redundant.

use hyper::header::{CONTENT_LENGTH, HeaderName, IF_NONE_MATCH};
use hyper::http::request::Builder;
use hyper::{Method, StatusCode};
use lanlab_files::{
    self as files, Access, Class, Entry, Facts, Fault, Result, ServiceKind, ServicePath, Target,
    TransferCapabilities,
};
use lanlab_stack::redirector::ListingLimits;

use crate::http::{
    self, Answer, BLOCK_BYTES, Download, Http, LISTING_BYTES, Outgoing, REFUSAL_BYTES,
};

mod bucket;
pub mod listing;
pub mod refusal;
mod writing;

use bucket::Bucket;
use refusal::refusal;
use writing::Writing;

const USUAL_REGION: &str = "us-east-1";

const PAGE_KEYS: usize = 1000;

#[derive(Debug)]
pub struct Session {
    http: Http,
    bucket: Bucket,
    base: String,
    single_bytes: u64,
    part_bytes: u64,
}

#[derive(Debug)]
pub enum File {
    Read(Download, String),
    Write(Box<Writing>),
}

/// Connect and check that the bucket exists and accepts the signature.
pub async fn connect(target: &Target) -> Result<Session> {
    let Some(name) = target.share.clone() else {
        let fault = Fault::new(Class::Missing, "S3: found no bucket");
        return Err(fault.hint("name the bucket as the share"));
    };
    let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || b"-._".contains(&octet);
    if !name.bytes().all(is_plain) || matches!(name.as_str(), "" | "." | "..") {
        let message = format!("bucket `{name}`: allowed: letters, digits, `-`, `.` and `_`");
        return Err(Fault::new(Class::Name, message));
    }
    let base = match target.directory.trim_matches('/') {
        "" => String::new(),
        directory => {
            let path =
                ServicePath::new(directory).map_err(|bad| Fault::new(Class::Name, bad.message))?;
            format!("{path}/")
        }
    };
    let mut session = session(target, name, base)?;
    let what = format!("list bucket `{}`", session.bucket.name);
    let mut listed = session.page(&what, "", None, 1).await;
    // If no region was given, the server may name its own, which is tried once.
    if listed.as_ref().is_err_and(|fault| !fault.class.is_passing() && fault.class != Class::Denied)
        && asked_region(target).is_none()
        && let Ok(Some(region)) = session.named_region(&what).await
    {
        session.bucket.region = region;
        listed = session.page(&what, "", None, 1).await;
    }
    match listed {
        // A user who may read or write objects may not be allowed to list them.
        Err(fault) if fault.class == Class::Denied && session.bucket.credentials.is_some() => {
            Ok(session)
        }
        Err(fault) => Err(fault),
        Ok(_) => Ok(session),
    }
}

fn asked_region(target: &Target) -> Option<String> {
    target.credentials.as_ref()?.domain.clone()
}

fn session(target: &Target, name: String, base: String) -> Result<Session> {
    let http = Http::new(target, target.service == ServiceKind::S3s)?;
    let bucket = Bucket {
        name,
        host: http.authority.clone(),
        region: asked_region(target).unwrap_or_else(|| USUAL_REGION.to_owned()),
        credentials: target.credentials.clone(),
    };
    let (single_bytes, part_bytes) = (writing::SINGLE_BYTES, writing::PART_BYTES);
    Ok(Session { http, bucket, base, single_bytes, part_bytes })
}

/// Names of the user's buckets (`ListBuckets`).
pub async fn buckets(target: &Target) -> Result<Vec<String>> {
    let what = "list of buckets";
    let session = session(target, String::new(), String::new())?;
    let answer = session.ask(what, session.get(""), Outgoing::nothing()).await?;
    let text = session.text(what, answer, LISTING_BYTES).await?;
    let names = listing::buckets(&text)
        .map_err(|found| Fault::new(Class::Protocol, format!("{what}: found {found}")))?;
    session.http.end().await?;
    Ok(names)
}

impl Session {
    fn key(&self, path: &ServicePath) -> String {
        format!("{}{path}", self.base)
    }

    async fn ask(&self, what: &str, request: Builder, body: Outgoing) -> Result<Answer> {
        self.http.ask(what, http::whole_request(what, request, body)?).await
    }

    async fn text(&self, what: &str, answer: Answer, limit_bytes: usize) -> Result<Vec<u8>> {
        let status = answer.status();
        if !status.is_success() {
            let text = answer.reason(&self.http, what).await?;
            return Err(refusal(what, status, &text));
        }
        answer.whole(&self.http, what, limit_bytes).await
    }

    fn get(&self, key: &str) -> Builder {
        self.bucket.request(Method::GET, key, &[])
    }

    /// The region that the server names when it refuses a request signed for another.
    async fn named_region(&self, what: &str) -> Result<Option<String>> {
        if self.bucket.credentials.is_none() {
            return Ok(None);
        }
        let request =
            self.bucket.request(Method::GET, "", &[("list-type", "2"), ("max-keys", "1")]);
        let answer = self.ask(what, request, Outgoing::nothing()).await?;
        if answer.status().is_success() {
            answer.whole(&self.http, what, LISTING_BYTES).await?;
            return Ok(None);
        }
        let header =
            answer.header(HeaderName::from_static("x-amz-bucket-region")).map(str::to_owned);
        let text = answer.reason(&self.http, what).await?;
        let named = header.or_else(|| refusal::element(&text, "Region"));
        Ok(named.filter(|region| is_region(region) && *region != self.bucket.region))
    }

    async fn page(
        &self,
        what: &str,
        prefix: &str,
        token: Option<&str>,
        max_keys: usize,
    ) -> Result<listing::Page> {
        let max_keys = max_keys.to_string();
        // Names are unencoded (no `encoding-type`), because servers differ in how they encode
        // spaces in a URL.
        let mut query = vec![
            ("list-type", "2"),
            ("delimiter", "/"),
            ("prefix", prefix),
            ("max-keys", max_keys.as_str()),
        ];
        query.extend(token.map(|token| ("continuation-token", token)));
        let request = self.bucket.request(Method::GET, "", &query);
        let answer = self.ask(what, request, Outgoing::nothing()).await?;
        let text = self.text(what, answer, LISTING_BYTES).await?;
        listing::parse(&text, prefix).map_err(|found| {
            Fault::new(Class::Protocol, format!("{what}: found {found}")).foreign()
        })
    }
}

impl files::Session for Session {
    type File = File;

    fn capabilities(&self) -> TransferCapabilities {
        TransferCapabilities::stream(BLOCK_BYTES, true)
    }

    fn facts(&self) -> Facts {
        let signature = match self.bucket.credentials {
            Some(_) => "S3 signature version 4, unsigned payload",
            None => "S3 unsigned",
        };
        let protocol = self.http.named(&format!("HTTP/1.1, {signature}"));
        let facts = Facts::new(&protocol, &self.http.protection(), Some(true));
        Facts { server: self.http.server(), ..facts }
    }

    fn has_directories(&self) -> bool {
        false
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        let key = self.key(path);
        match access {
            Access::Read => {
                let what = format!("GET {path}");
                let answer = self.ask(&what, self.get(&key), Outgoing::nothing()).await?;
                if answer.status() == StatusCode::OK {
                    return Ok(File::Read(Download::new(what, answer), key));
                }
                let status = answer.status();
                let text = answer.reason(&self.http, &what).await?;
                Err(refusal(&what, status, &text))
            }
            Access::Create { size_bytes } | Access::Replace { size_bytes } => {
                let is_new = matches!(access, Access::Create { .. });
                let what = format!("PUT {path}");
                let writing = Writing::begin(self, key, what, size_bytes, is_new).await?;
                Ok(File::Write(Box::new(writing)))
            }
            Access::Update => {
                let message = format!("{path}: S3 writes whole objects only");
                Err(Fault::new(Class::Unsupported, message))
            }
        }
    }

    async fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let File::Read(download, key) = file else {
            return Err(Fault::new(Class::Unsupported, "a file that is written cannot be read"));
        };
        let refused = |status, text: &[u8]| refusal(&download.what, status, text);
        download.read_at(&self.http, offset, buffer, || Ok(self.get(key)), refused).await
    }

    async fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> Result<()> {
        let File::Write(writing) = file else {
            return Err(Fault::new(Class::Unsupported, "a file that is read cannot be written"));
        };
        writing.write_at(self, offset, data).await
    }

    async fn sync(&self, _: &File) -> Result<()> {
        Err(Fault::new(Class::Unsupported, "S3 has no word for `sync`"))
    }

    async fn close(&self, file: File) -> Result<()> {
        match file {
            File::Read(download, _) => download.finish(&self.http).await,
            File::Write(writing) => writing.finish(self).await,
        }
    }

    /// S3 does not report whether an object with that name existed.
    async fn remove(&self, path: &ServicePath) -> Result<()> {
        let (what, key) = (format!("DELETE {path}"), self.key(path));
        let request = self.bucket.request(Method::DELETE, &key, &[]);
        let answer = self.ask(&what, request, Outgoing::nothing()).await?;
        self.text(&what, answer, REFUSAL_BYTES).await.map(drop)
    }

    /// A page of at most [`PAGE_KEYS`] names is one operation; all pages are read.
    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let what = format!("list {}", path.map_or("/", ServicePath::as_str));
        let prefix = path.map_or_else(|| self.base.clone(), |path| format!("{}/", self.key(path)));
        let (mut entries, mut limits, mut token) = (Vec::new(), ListingLimits::default(), None);
        loop {
            let page = self.page(&what, &prefix, token.as_deref(), PAGE_KEYS).await?;
            let count = match page.entries.len() {
                _ if page.next.is_some() && page.next == token => 0,
                // Such a page is allowed, and counts as a full one.
                0 => PAGE_KEYS,
                count => count,
            };
            let name_bytes = page.entries.iter().map(|entry| entry.name.len()).sum();
            limits.take(count, name_bytes).map_err(|endless| {
                Fault::new(Class::Protocol, format!("{what}: found {endless}"))
            })?;
            entries.extend(page.entries);
            if page.next.is_none() {
                return Ok(entries);
            }
            token = page.next;
        }
    }

    async fn make_directory(&self, _: &ServicePath) -> Result<()> {
        Ok(())
    }

    async fn remove_directory(&self, _: &ServicePath) -> Result<()> {
        Ok(())
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let (what, key) = (format!("HEAD {path}"), self.key(path));
        let request = self.bucket.request(Method::HEAD, &key, &[]);
        let answer = self.ask(&what, request, Outgoing::nothing()).await?;
        let length = answer.header(CONTENT_LENGTH).and_then(|text| text.parse().ok());
        self.text(&what, answer, REFUSAL_BYTES).await?;
        let size_bytes = length.ok_or_else(|| {
            Fault::new(Class::Protocol, format!("{what}: found no length of the object"))
        })?;
        Ok(Entry { name: path.name().to_owned(), size_bytes, is_directory: false })
    }

    async fn rename(&self, _from: &ServicePath, _to: &ServicePath) -> Result<()> {
        Err(Fault::new(Class::Unsupported, "S3 has no operation to rename an object"))
    }

    async fn end(self) -> Result<()> {
        self.http.end().await
    }
}

/// Whether text from the server can be the name of a region, which is signed and shown.
fn is_region(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"-_.".contains(&octet))
}

/// Make the server refuse if an object with that name exists, unless it may be replaced.
fn create(request: Builder, is_new: bool) -> Builder {
    if is_new { request.header(IF_NONE_MATCH, "*") } else { request }
}

#[cfg(test)]
mod tests;
