//! What a server of HTTP, `WebDAV` or S3 says.

use std::fmt::Write as _;

use hyper::StatusCode;
use lanlab_connections::scripted::{Feed, Pieces};
use lanlab_files::{Entry, Fault, ServiceKind, Target, is_name};
use lanlab_wire::percent;

use crate::http::connection::Connection;
use crate::http::{Answer, Http};
use crate::s3::{listing as s3, refusal};
use crate::webdav::listing as webdav;

/// Octets of an answer that are taken at most, fewer than some inputs have.
const LIMIT_BYTES: usize = 2000;

/// The directory that was asked for.
const DIRECTORY: &str = "a b/";

/// How a server of S3 writes a page of a directory, with what the next one begins behind.
type BucketList = fn(&str, &[Entry], Option<&str>) -> String;

/// Any answer of a server: the same however it is cut, no more than came and than was allowed, and
/// as long as was said. Documents of listings give entries of which each has a name; what our own
/// servers would write of them is read as the same.
///
/// # Panics
/// If that does not hold.
pub fn http_answers(octets: &[u8], bucket_list: BucketList) {
    let mut feed = Feed::new(octets);
    let (form, size) = (feed.u8(), 1 + usize::from(feed.u8()));
    let said = feed.rest();
    if form % 2 == 0 {
        documents(said, bucket_list);
        return;
    }
    let to_head = form & 2 != 0;
    let whole = answered(said, usize::MAX, to_head);
    assert_eq!(whole, answered(said, size, to_head), "in pieces of {size}");
    if let Ok((_, length, body)) = whole {
        assert!(body.len() <= said.len().min(LIMIT_BYTES) && (!to_head || body.is_empty()));
        assert!(length.is_none_or(|length| length == body.len() as u64));
        documents(&body, bucket_list);
    }
}

/// Status, length as it was said, and body of an answer, or why there is none.
type Found = Result<(StatusCode, Option<u64>, Vec<u8>), Fault>;

fn answered(said: &[u8], size: usize, to_head: bool) -> Found {
    thread_local! {
        // Its clock is that of the patience with a server.
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
    }
    let mut connection = Connection::new(Box::new(Pieces::new(said, size)));
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            let http = http()?;
            connection.begin(to_head, |_| {});
            let head = connection.head().await.map_err(|broken| broken.fault("x"))?;
            let answer = Answer::new(connection, head);
            let (status, length) = (answer.status(), answer.said_bytes());
            if let Some((first, last)) = answer.said_range() {
                assert!(first <= last);
            }
            let body = answer.whole(&http, "x", LIMIT_BYTES).await?;
            Ok((status, length, body))
        })
    })
}

/// A client that is given its connections: it never connects to its target's address.
pub fn http() -> Result<Http, Fault> {
    let target = Target {
        address: Some([127, 0, 0, 1].into()),
        timeout_ns: 10_000_000_000,
        ..Target::new(ServiceKind::Webdav)
    };
    Http::new(&target, false)
}

/// Why a server of S3 has refused a request, as it is shown: its code and its words.
pub fn s3_refusal(document: &[u8]) -> Option<(String, String)> {
    refusal::code(document)
}

fn documents(document: &[u8], bucket_list: BucketList) {
    if let Ok(text) = std::str::from_utf8(document)
        && let Some(path) = percent::decode(text)
    {
        assert!(path.len() <= text.len());
        assert_eq!(percent::decode(&percent::encode(&path)), Some(path));
    }
    if let Some((code, words)) = refusal::code(document) {
        assert!(!format!("{code}{words}").contains(char::is_control), "it is shown");
        refusal::refusal("x", StatusCode::BAD_REQUEST, document);
    }
    if let Ok(entries) = webdav::parse(document, &percent::encode(&format!("/{DIRECTORY}"))) {
        assert!(entries.iter().all(|entry| is_name(&entry.name)), "{entries:?}");
        assert_eq!(webdav::parse(multistatus(&entries).as_bytes(), "/").as_ref(), Ok(&entries));
    }
    if let Ok(page) = s3::parse(document, DIRECTORY) {
        assert!(page.entries.iter().all(|entry| is_name(&entry.name)), "{page:?}");
        // XML has no way to write this one character.
        let is_written = |text: &str| !text.contains('\0');
        if page.entries.iter().all(|entry| is_written(&entry.name))
            && page.next.as_deref().is_none_or(is_written)
        {
            let again = bucket_list(DIRECTORY, &page.entries, page.next.as_deref());
            assert_eq!(s3::parse(again.as_bytes(), DIRECTORY).as_ref(), Ok(&page));
        }
    }
}

/// Entries as `WebDAV` lists them, after the directory itself.
fn multistatus(entries: &[Entry]) -> String {
    let mut text = "<D:multistatus xmlns:D=\"DAV:\">".to_owned();
    let itself = Entry { name: String::new(), size_bytes: 0, is_directory: true };
    for Entry { name, size_bytes, is_directory } in std::iter::once(&itself).chain(entries) {
        let kind = if *is_directory { "<D:collection/>" } else { "" };
        let _ = write!(
            text,
            "<D:response><D:href>/{}</D:href><D:propstat><D:prop><D:resourcetype>{kind}\
             </D:resourcetype><D:getcontentlength>{size_bytes}</D:getcontentlength></D:prop>\
             </D:propstat></D:response>",
            percent::encode(name),
        );
    }
    text + "</D:multistatus>"
}
