//! What a server of SFTP says.

use lanlab_files::is_name;
use lanlab_wire::sftp::{Fields, Message, kind};

use crate::sftp::exchange::extensions;
use crate::sftp::names;

/// How many extensions a server names, if this is such a message.
pub fn sftp_extensions(message: &[u8]) -> Option<usize> {
    extensions(message).map(|named| named.len())
}

/// A message, taken for each reply in turn: no more is taken than is there.
///
/// # Panics
/// If that does not hold.
pub fn sftp_reply(message: &[u8]) {
    if let Some(named) = extensions(message) {
        assert!(named.len() <= message.len() / 8, "each takes two lengths");
    }
    let Some(body) = message.get(5..) else { return };
    let mut entries = Vec::new();
    let read = names(Fields(body), &mut entries);
    assert!(entries.len() <= body.len() / 12, "each takes three numbers");
    assert!(entries.iter().all(|entry| is_name(&entry.name)), "{entries:?}");
    assert!(read.is_none_or(|(count, bytes)| entries.len() <= count && bytes <= body.len()));
    let _ = (Fields(body).string(), Fields(body).text());
    if let Some(found) = Fields(body).attributes() {
        let again = found.write(Message::new(kind::ATTRS, 0)).finish();
        assert_eq!(Fields(&again[5..]).attributes(), Some(found));
    }
}
