//! What either end of SFTP sends.

use std::sync::Arc;

use bytes::Bytes;
use lanlab_connections::scripted::Feed;
use lanlab_wire::sftp::{Attributes, Fields, Frames, MAX_MESSAGE_OCTETS, kind};

use super::ground::{Ground, tells_secret};
use crate::sftp::Shared;
use crate::sftp::requests::Requests;
use lanlab_served::Confined;

/// Requests of one run at most, so that a run stays short.
const MAX_REQUESTS: usize = 200;

/// How many extensions a message names, if it is one that does.
type Extensions = fn(&[u8]) -> Option<usize>;

/// Any octets over a channel: the same messages however they are cut. To a server each is a request
/// that gets one well-formed reply of its own number, or ends the channel; what is outside the served
/// directory is neither disclosed nor changed, and nothing is written to a read-only one. To a client
/// it is a reply, of which it takes no more than is there.
///
/// # Panics
/// If that does not hold.
pub fn sftp_messages(octets: &[u8], to_client: fn(&[u8]), extensions: Extensions) {
    if tells_secret(octets) {
        return;
    }
    let mut feed = Feed::new(octets);
    let (form, size) = (feed.u8(), 1 + usize::from(feed.u8()));
    // Either as it comes or with lengths that are right, which a fuzzer seldom keeps.
    let stream = if form & 1 == 0 { feed.rest().to_vec() } else { framed(&mut feed) };

    let whole = messages(&[&stream]);
    let pieces: Vec<&[u8]> = stream.chunks(size).collect();
    assert_eq!(whole, messages(&pieces), "in pieces of {size}");
    let (messages, _) = whole;
    for message in &messages {
        assert!(message.len() <= stream.len());
        to_client(message);
    }
    if !messages.is_empty() {
        to_server(&messages, form & 6 == 2, to_client, extensions);
    }
}

fn framed(feed: &mut Feed) -> Vec<u8> {
    let mut stream = Vec::new();
    while !feed.is_empty() {
        let part = feed.part();
        stream.extend_from_slice(&(part.len() as u32).to_be_bytes());
        stream.extend_from_slice(part);
    }
    stream
}

fn messages(pieces: &[&[u8]]) -> (Vec<Bytes>, Option<usize>) {
    let (mut frames, mut found) = (Frames::default(), Vec::new());
    for piece in pieces {
        frames.push(piece);
        loop {
            match frames.next_message() {
                Ok(Some(message)) => found.push(message),
                Ok(None) => break,
                Err(length) => return (found, Some(length)),
            }
        }
    }
    (found, None)
}

fn to_server(messages: &[Bytes], read_only: bool, to_client: fn(&[u8]), extensions: Extensions) {
    let ground = Ground::new();
    let before = read_only.then(|| ground.content());
    let confined = Confined::new(&ground.root(), read_only).expect("a directory to serve");
    let mut requests = Requests::new(Arc::new(Shared { confined, credentials: None }));
    for (at, message) in messages.iter().take(MAX_REQUESTS).enumerate() {
        let Some(reply) = requests.answer(message) else {
            assert!(at == 0 || message.len() < 5, "whole requests have a reply");
            break;
        };
        let (replies, wrong) = self::messages(&[&reply]);
        let [reply] = &replies[..] else { panic!("{} replies, {wrong:?}", replies.len()) };
        assert!(reply.len() <= MAX_MESSAGE_OCTETS);
        let number = if at == 0 { None } else { message.get(1..5) };
        assert_eq!(well_formed(reply, number, extensions), Some(()), "{reply:?}");
        assert!(!tells_secret(reply));
        to_client(reply);
    }
    drop(requests);
    ground.assert_outside_untouched();
    if let Some(before) = before {
        assert_eq!(ground.content(), before);
    }
}

/// A reply as section 7 of the draft has it: of the number, and nothing behind it.
fn well_formed(reply: &[u8], number: Option<&[u8]>, extensions: Extensions) -> Option<()> {
    let mut fields = Fields(reply);
    let kind = fields.u8()?;
    if kind != kind::VERSION {
        let found = fields.u32()?;
        assert_eq!(Some(&found.to_be_bytes()[..]), number);
    }
    match kind {
        kind::VERSION => {
            fields.u32()?;
            extensions(reply)?;
            return number.is_none().then_some(());
        }
        kind::STATUS => {
            fields.u32()?;
            fields.text()?;
            fields.text()?;
        }
        kind::HANDLE | kind::DATA => {
            fields.string()?;
        }
        kind::NAME => {
            for _ in 0..fields.u32()? {
                fields.text()?;
                fields.text()?;
                fields.attributes()?;
            }
        }
        kind::ATTRS => {
            fields.attributes()?.ne(&Attributes::default()).then_some(())?;
        }
        kind::EXTENDED_REPLY => fields = Fields(&[]),
        _ => return None,
    }
    fields.0.is_empty().then_some(())
}
