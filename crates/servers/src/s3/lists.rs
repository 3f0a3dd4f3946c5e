//! Paged listings of the bucket.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use lanlab_wire::percent;

use super::answers::{Answer, Document, document};
use super::keys::{self, Page};
use super::refusal::{Code, Refusal};
use super::request::Asked;
use super::{BUCKET, Served};

const MAX_KEYS: u64 = 1000;

struct Wanted {
    prefix: String,
    delimiter: Option<String>,
    max_keys: u64,
    by_number: bool,
}

impl Wanted {
    fn of(asked: &Asked) -> Result<Self, Refusal> {
        let delimiter = asked.parameter("delimiter").filter(|text| !text.is_empty());
        if delimiter.is_some_and(|delimiter| delimiter != "/") {
            return Err(Refusal::new(Code::NotImplemented, "the delimiter is `/` or none"));
        }
        let by_number = match asked.parameter("encoding-type") {
            None | Some("") => false,
            Some("url") => true,
            Some(_) => {
                let message = "`encoding-type`: allowed: `url`";
                return Err(Refusal::new(Code::InvalidArgument, message));
            }
        };
        Ok(Self {
            prefix: asked.parameter("prefix").unwrap_or_default().to_owned(),
            delimiter: delimiter.map(str::to_owned),
            max_keys: asked.number("max-keys")?.unwrap_or(MAX_KEYS).min(MAX_KEYS),
            by_number,
        })
    }

    /// A key, or part of one, in the encoding that the client requests.
    fn written(&self, key: &str) -> String {
        if self.by_number { percent::encode(key) } else { key.to_owned() }
    }

    fn fill(&self, answer: &mut Document, page: &Page) {
        answer.text("Name", BUCKET);
        answer.text("Prefix", &self.written(&self.prefix));
        if let Some(delimiter) = &self.delimiter {
            answer.text("Delimiter", &self.written(delimiter));
        }
        if self.by_number {
            answer.text("EncodingType", "url");
        }
        answer.value("MaxKeys", self.max_keys);
        answer.value("IsTruncated", page.next.is_some());
        for (key, found) in &page.objects {
            answer.open("Contents");
            answer.text("Key", &self.written(key));
            answer.moment("LastModified", found.modified);
            answer.etag(&found.etag());
            answer.value("Size", found.size_bytes);
            answer.text("StorageClass", "STANDARD");
            answer.close("Contents");
        }
        for prefix in &page.prefixes {
            answer.open("CommonPrefixes");
            answer.text("Prefix", &self.written(prefix));
            answer.close("CommonPrefixes");
        }
    }
}

impl Served {
    fn page(&self, wanted: &Wanted, after: Option<&str>) -> Result<Page, Refusal> {
        let (by_directory, max_keys) = (wanted.delimiter.is_some(), wanted.max_keys as usize);
        self.with(|store| Ok(keys::page(store, &wanted.prefix, by_directory, after, max_keys)?))
    }

    /// Version 1 of the listing, which programs still request.
    pub(super) fn list_objects(&self, asked: &Asked) -> Result<Answer, Refusal> {
        let wanted = Wanted::of(asked)?;
        let marker = asked.parameter("marker").filter(|text| !text.is_empty());
        let page = self.page(&wanted, marker)?;
        Ok(document("ListBucketResult", |answer| {
            wanted.fill(answer, &page);
            answer.text("Marker", &wanted.written(marker.unwrap_or_default()));
            if let Some(next) = &page.next {
                answer.text("NextMarker", &wanted.written(next));
            }
        }))
    }

    pub(super) fn list_objects_v2(&self, asked: &Asked) -> Result<Answer, Refusal> {
        let wanted = Wanted::of(asked)?;
        let start = asked.parameter("start-after").filter(|text| !text.is_empty());
        let token = asked.parameter("continuation-token").filter(|text| !text.is_empty());
        let after = token.map(read_token).transpose()?;
        let page = self.page(&wanted, after.as_deref().or(start))?;
        Ok(document("ListBucketResult", |answer| {
            wanted.fill(answer, &page);
            answer.value("KeyCount", page.objects.len() + page.prefixes.len());
            if let Some(start) = start {
                answer.text("StartAfter", &wanted.written(start));
            }
            if let Some(token) = token {
                answer.text("ContinuationToken", token);
            }
            if let Some(next) = &page.next {
                answer.text("NextContinuationToken", &BASE64_URL_SAFE_NO_PAD.encode(next));
            }
        }))
    }
}

/// The key in a continuation token, encoded so that any client returns it unchanged.
fn read_token(token: &str) -> Result<String, Refusal> {
    let octets = BASE64_URL_SAFE_NO_PAD.decode(token).ok();
    octets.and_then(|octets| String::from_utf8(octets).ok()).ok_or_else(|| {
        Refusal::new(Code::InvalidArgument, "`continuation-token`: none that was given out here")
    })
}
