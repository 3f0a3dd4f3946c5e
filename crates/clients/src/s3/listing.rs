//! Responses to `ListObjectsV2`.

use lanlab_files::{Entry, is_name};
use lanlab_wire::xml;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub entries: Vec<Entry>,
    /// Token for the next page; absent: this is the last.
    pub next: Option<String>,
}

#[derive(Default)]
struct Object {
    key: String,
    size_bytes: Option<u64>,
}

/// Read a page of names that begin with `prefix` and have no further `/`.
pub fn parse(document: &[u8], prefix: &str) -> Result<Page, String> {
    let (mut page, mut object) = (Page::default(), Object::default());
    let (mut is_whole, mut token, mut wrong, mut is_listing) = (true, None, None, false);
    let mut directory = String::new();
    let name = |key: &str| -> Option<String> {
        let name = key.strip_prefix(prefix)?;
        let name = name.strip_suffix('/').unwrap_or(name);
        is_name(name).then(|| name.to_owned())
    };
    xml::elements(document, |names, text| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match names[..] {
            ["ListBucketResult", "Contents", "Key"] => text.clone_into(&mut object.key),
            ["ListBucketResult", "Contents", "Size"] => {
                object.size_bytes = text.trim().parse().ok();
            }
            ["ListBucketResult", "Contents"] => {
                let Object { key, size_bytes } = std::mem::take(&mut object);
                match (name(&key), size_bytes) {
                    // Some vendors' tools use such a key for a directory.
                    _ if key.ends_with('/') => {}
                    (Some(name), Some(size_bytes)) => {
                        page.entries.push(Entry { name, size_bytes, is_directory: false });
                    }
                    (None, _) => wrong = Some(format!("key `{}`", key.escape_debug())),
                    (_, None) => wrong = Some(format!("no size of `{}`", key.escape_debug())),
                }
            }
            ["ListBucketResult", "CommonPrefixes", "Prefix"] => text.clone_into(&mut directory),
            ["ListBucketResult", "CommonPrefixes"] => match name(&std::mem::take(&mut directory)) {
                Some(name) => page.entries.push(Entry { name, size_bytes: 0, is_directory: true }),
                None => wrong = Some("a prefix that is not below the one asked for".to_owned()),
            },
            ["ListBucketResult", "IsTruncated"] => is_whole = text.trim() != "true",
            ["ListBucketResult", "NextContinuationToken"] => token = Some(text.to_owned()),
            ["ListBucketResult"] => is_listing = true,
            _ => {}
        }
    })?;
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    if !is_listing {
        return Err("no list".to_owned());
    }
    match (is_whole, token) {
        (true, _) => {}
        (false, Some(token)) => page.next = Some(token),
        (false, None) => return Err("a list that goes on, but not where".to_owned()),
    }
    Ok(page)
}

pub fn buckets(document: &[u8]) -> Result<Vec<String>, String> {
    let (mut found, mut is_listing) = (Vec::new(), false);
    xml::elements(document, |names, text| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match names[..] {
            ["ListAllMyBucketsResult", "Buckets", "Bucket", "Name"] => found.push(text.to_owned()),
            ["ListAllMyBucketsResult"] => is_listing = true,
            _ => {}
        }
    })?;
    if is_listing { Ok(found) } else { Err("no list of buckets".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the documentation of `ListBuckets`, with our own names.
    #[test]
    fn buckets_are_listed_by_name() {
        let answer = br#"<?xml version="1.0" encoding="UTF-8"?>
<ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Buckets>
<Bucket><CreationDate>2019-12-11T23:32:47+00:00</CreationDate><Name>photos</Name></Bucket>
<Bucket><CreationDate>2019-11-10T23:32:13+00:00</CreationDate><Name>backup</Name></Bucket>
</Buckets><Owner><DisplayName>me</DisplayName><ID>AIDACKCEVSQ6C2EXAMPLE</ID></Owner>
</ListAllMyBucketsResult>"#;
        assert_eq!(buckets(answer).unwrap(), ["photos", "backup"]);
        assert!(buckets(b"<Error><Code>AccessDenied</Code></Error>").is_err());
    }

    /// From the documentation of `ListObjectsV2`, shortened and with our own names.
    const ANSWER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>lanlab</Name><Prefix>a b/</Prefix><KeyCount>3</KeyCount><MaxKeys>2</MaxKeys>
  <IsTruncated>true</IsTruncated><NextContinuationToken>1ueGcx==</NextContinuationToken>
  <Contents><Key>a b/</Key><Size>0</Size></Contents>
  <Contents><Key>a b/x&amp;y </Key><Size>17</Size><ETag>"70ee"</ETag></Contents>
  <CommonPrefixes><Prefix>a b/in/</Prefix></CommonPrefixes>
</ListBucketResult>"#;

    #[test]
    fn a_listing_page_is_parsed() {
        let page = parse(ANSWER.as_bytes(), "a b/").unwrap();
        let file = Entry { name: "x&y ".to_owned(), size_bytes: 17, is_directory: false };
        let directory = Entry { name: "in".to_owned(), size_bytes: 0, is_directory: true };
        assert_eq!(page.entries, [file, directory]);
        assert_eq!(page.next.as_deref(), Some("1ueGcx=="));
    }

    #[test]
    fn malformed_listings_are_errors() {
        let wrong = |from: &str, to: &str, prefix: &str| {
            parse(ANSWER.replace(from, to).as_bytes(), prefix).unwrap_err()
        };
        assert_eq!(wrong("<Size>17</Size>", "", "a b/"), "no size of `a b/x&y `");
        assert_eq!(wrong("<Size>17</Size>", "<Size>-1</Size>", "a b/"), "no size of `a b/x&y `");
        assert_eq!(wrong("x&amp;y ", "..", "a b/"), "key `a b/..`");
        assert_eq!(wrong("", "", "c/"), "a prefix that is not below the one asked for");
        let token = "<NextContinuationToken>1ueGcx==</NextContinuationToken>";
        assert_eq!(wrong(token, "", "a b/"), "a list that goes on, but not where");
        assert_eq!(wrong("ListBucketResult", "Other", "a b/"), "no list");
    }
}
