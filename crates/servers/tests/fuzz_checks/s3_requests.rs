//! What a client of our S3 server sends.

use std::path::{Component, Path};
use std::time::{Duration, SystemTime};

use http_body_util::BodyExt;
use hyper::Request;
use hyper::http::request::Parts;
use lanlab_connections::scripted::{Feed, at_once};
use lanlab_files::Credentials;
use lanlab_wire::{percent, sigv4};

use crate::http::octets_asked;
use crate::s3::answers::Document;
use crate::s3::authentication::{Payload, admit};
use crate::s3::operation::Operation;
use crate::s3::parts::listed;
use crate::s3::receive::Intake;
use crate::s3::refusal::{Code, Refusal};
use crate::s3::request::Asked;
use lanlab_served::Confined;

/// Fields of a head at most.
const MAX_FIELDS: usize = 32;

/// Octets that are taken in at most, fewer than some inputs have.
const LIMIT_BYTES: u64 = 2000;

/// When it is, for signatures: the time of the examples of S3's documentation.
const NOW_S: u64 = 1_369_353_600;

const USER: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

/// The code and the words of a refusal, as a client of ours shows them.
type ReadRefusal = fn(&[u8]) -> Option<(String, String)>;

/// Any request of a client: written again in its normal form it is the same; a key never leads out
/// of the bucket; octets are those that lie in the object; what follows the head is
/// taken in the same however it is cut, is as long as was said, and no more than is allowed. Who is
/// admitted by one secret is not by another. Our client understands each refusal.
///
/// # Panics
/// If that does not hold.
pub fn s3_requests(octets: &[u8], read_refusal: ReadRefusal) {
    let refused = |refusal: &Refusal| refused(refusal, read_refusal);
    let mut feed = Feed::new(octets);
    let (is_signed, size) = (feed.u8() % 2 == 1, 1 + usize::from(feed.u8()));
    documents(feed.rest(), &refused);
    let Some((head, body)) = parse(feed.rest()) else { return };
    documents(body, &refused);
    let asked = match Asked::of(head) {
        Ok(asked) => asked,
        Err(refusal) => return refused(&refusal),
    };
    request(&asked, &refused);

    let whole = taken(&asked, is_signed, [body]);
    assert_eq!(whole, taken(&asked, is_signed, body.chunks(size)), "in pieces of {size}");
    match whole {
        Ok(data) => assert!(data.len() <= body.len().min(LIMIT_BYTES as usize)),
        Err(refusal) => refused(&refusal),
    }
}

fn parse(octets: &[u8]) -> Option<(Parts, &[u8])> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut found = httparse::Request::new(&mut fields);
    let Ok(httparse::Status::Complete(length)) = found.parse(octets) else { return None };
    let mut request = Request::builder().method(found.method?).uri(found.path?);
    for field in found.headers.iter() {
        request = request.header(field.name, field.value);
    }
    let (head, ()) = request.body(()).ok()?.into_parts();
    Some((head, &octets[length..]))
}

/// What is asked for, and of which octets.
fn request(asked: &Asked, refused: &impl Fn(&Refusal)) {
    let pairs: Vec<(&str, &str)> =
        asked.query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let uri = format!("{}?{}", percent::encode(&asked.path), sigv4::query(&pairs));
    if asked.path.starts_with('/') {
        let head = Request::builder().uri(uri).body(()).expect("a URI").into_parts().0;
        let again = Asked::of(head).expect("what was written by us");
        assert_eq!((&again.bucket, &again.key), (&asked.bucket, &asked.key));
        let sorted = |query: &[(String, String)]| {
            let mut pairs: Vec<_> = query.to_vec();
            pairs.sort();
            pairs
        };
        assert_eq!(sorted(&again.query), sorted(&asked.query));
    }
    match Operation::of(asked) {
        Ok(operation) => drop(operation.writes()),
        Err(refusal) => refused(&refusal),
    }
    if let Ok(names) = Confined::plain_names(&asked.key) {
        let is_name = |name: &String| {
            let mut parts = Path::new(name).components();
            matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
        };
        assert!(names.iter().all(is_name), "{names:?}");
    }
    let _ = (asked.modified(), asked.number("max-keys"));
    for size_bytes in [0, 1, 1000, u64::MAX] {
        let range = asked.field("range").and_then(|range| octets_asked(range, size_bytes));
        if let Some((first, last)) = range.filter(|(first, last)| first <= last) {
            assert!(last < size_bytes, "{first} to {last} of {size_bytes}");
        }
    }
}

/// What comes of the octets after the head.
fn taken<'a>(
    asked: &Asked,
    is_signed: bool,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<u8>, Refusal> {
    let payload = admitted(asked, is_signed)?;
    let too_large = Code::EntityTooLarge;
    let mut intake = Intake::new(asked, payload, LIMIT_BYTES, too_large, Vec::new())?;
    pieces.into_iter().try_for_each(|piece| intake.take(piece))?;
    intake.finish()
}

fn admitted(asked: &Asked, is_signed: bool) -> Result<Payload, Refusal> {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW_S);
    if !is_signed {
        return admit(asked, None, now);
    }
    let by = |secret: &str| {
        let (user, secret) = (USER.to_owned(), secret.to_owned());
        admit(asked, Some(&Credentials { user, secret, domain: None, passphrase: None }), now)
    };
    let payload = by(SECRET)?;
    assert_eq!(by("another").map(|_| ()), Err(Code::SignatureDoesNotMatch.into()));
    Ok(payload)
}

/// Our client reads why not, as far as it shows what a server says.
fn refused(refusal: &Refusal, read_refusal: ReadRefusal) {
    let said = at_once(refusal.answer().into_body().collect()).expect("it is all there");
    let read = read_refusal(&said.to_bytes());
    let words: String = refusal.message.chars().filter(|c| !c.is_control()).take(200).collect();
    assert_eq!(read, Some((refusal.code.name().to_owned(), words)));
}

fn documents(document: &[u8], refused: &impl Fn(&Refusal)) {
    // XML has no way to write this one character.
    let is_written = |text: &String| !text.contains('\0');
    match listed(document) {
        Ok(parts) => {
            let mut again = Document::new();
            again.open("CompleteMultipartUpload");
            for part in &parts {
                again.open("Part");
                again.value("PartNumber", part.number);
                if let Some(etag) = &part.etag {
                    again.etag(etag);
                }
                again.close("Part");
            }
            again.close("CompleteMultipartUpload");
            if parts.iter().filter_map(|part| part.etag.as_ref()).all(is_written) {
                assert_eq!(listed(again.finish().as_bytes()), Ok(parts));
            }
        }
        Err(refusal) => refused(&refusal),
    }
}
