//! What a server of NFS says.

use lanlab_connections::scripted::{Feed, Pieces, at_once};
use lanlab_files::{Class, Fault};
use lanlab_wire::nfs3::xdr::{Reader, Writer};
use lanlab_wire::nfs3::{Attributes, MAX_HANDLE_OCTETS, rpc};
use lanlab_wire::nfs4::operation;
use tokio::io::BufReader;

use crate::multiplex::{Waiting, Wire as _, read_one};
use crate::nfs::connection::{LONGEST, Records};
use crate::nfs::listing::read_page;
use crate::nfs::status::fault_of;
use crate::nfs::{mounting, read_data, read_limits};
use crate::nfs4;

/// Octets that a read asked for.
const WANTED: usize = 100;

/// Any answer of a server: the same however it is cut; a length is believed only as far as the
/// longest answer goes, and what is read of an answer was in it. A server of ours
/// reads the same `records`.
///
/// # Panics
/// If that does not hold.
pub fn nfs_answers(octets: &[u8], records: fn(&[u8], usize) -> Vec<Vec<u8>>) {
    let mut feed = Feed::new(octets);
    let (form, size) = (feed.u8(), 1 + usize::from(feed.u8()));
    // Either as it comes or with lengths that are right, which a fuzzer seldom keeps.
    let said = if form == 0 { feed.rest().to_vec() } else { framed(&mut feed) };

    let whole = answers(&said, usize::MAX);
    assert_eq!(whole, answers(&said, size), "in pieces of {size}");
    let (answers, end) = whole;
    assert!(answers.iter().map(Vec::len).sum::<usize>() <= said.len());
    if end.class == Class::Reset {
        // No answer was longer than is allowed: a server takes the same.
        assert_eq!(answers, records(&said, size));
    }
    for answer in &answers {
        assert!(answer.capacity() <= LONGEST, "{} octets held", answer.capacity());
        result(answer);
    }
}

/// Records of the parts, each of one or more fragments.
fn framed(feed: &mut Feed) -> Vec<u8> {
    let mut said = Vec::new();
    while !feed.is_empty() {
        let is_last = !feed.u8().is_multiple_of(4);
        let part = feed.part();
        let header = part.len() as u32 | u32::from(is_last) << 31;
        said.extend_from_slice(&header.to_be_bytes());
        said.extend_from_slice(part);
    }
    said
}

fn answers(said: &[u8], size: usize) -> (Vec<Vec<u8>>, Fault) {
    let mut half = BufReader::with_capacity(512, Pieces::new(said, size));
    let waiting = Waiting::default();
    let mut answers = Vec::new();
    loop {
        match at_once(read_one(&mut half, &Records, &waiting)) {
            Ok(answer) => answers.push(answer),
            Err(end) => return (answers, end),
        }
    }
}

/// The same of NFS 4.1: a compound, and what its operations give.
fn compound_result(mut reader: Reader<'_>) {
    let length = reader.rest().len();
    let _ = nfs4::session::read_client(&mut reader.clone());
    if let Ok((_, limits)) = nfs4::session::read_session(&mut reader.clone()) {
        let (write, read) = limits.data();
        assert!(write > 0 && read > 0 && limits.slots > 0 && limits.lookups() > 0);
        assert!(write.max(read) as usize <= LONGEST, "memory is kept for it");
    }
    if let Ok(page) = nfs4::listing::read_page(&mut reader.clone()) {
        assert!(page.entries.len() <= length / 24, "each takes six words");
        assert!(page.entries.iter().map(|(name, _)| name.len()).sum::<usize>() <= length);
    }
    if let Ok((data, _)) = nfs4::read_data(&mut reader.clone(), WANTED) {
        assert!(data.len() <= WANTED);
    }
    let _ = nfs4::skip_state(&mut reader.clone());
    let Ok(status) = nfs4::compound::read_status(&mut reader) else { return };
    assert!(fault_of(status, 4).message.len() < 100);
    let mut results = nfs4::compound::Results(reader);
    while results.of(operation::GETATTR).is_ok() {
        if let Ok(found) = lanlab_wire::nfs4::Attributes::read(&mut results.0) {
            let mut writer = Writer::default();
            lanlab_wire::nfs4::write_attributes(&mut writer, &found.0);
            let again = lanlab_wire::nfs4::Attributes::read(&mut Reader::new(writer.octets()));
            assert_eq!(again, Ok(found));
        }
    }
}

/// An answer, with its result taken for that of each procedure in turn.
fn result(answer: &[u8]) {
    let mut accepted = answer.to_vec();
    let xid = Records.accept(&mut accepted).ok().flatten();
    assert_eq!(xid, rpc::xid(answer).map(u64::from));
    let Ok((_, result)) = rpc::read_reply(answer) else { return };
    assert!(result.rest().len() < answer.len());

    if let Ok(found) = Attributes::read(&mut result.clone()) {
        let mut writer = Writer::default();
        found.write(&mut writer);
        assert_eq!(Attributes::read(&mut Reader::new(writer.octets())), Ok(found));
    }
    if let Ok(page) = read_page(&mut result.clone()) {
        assert!(page.entries.len() <= result.rest().len() / 24, "each takes six words");
        let names = page.entries.iter().map(|(name, _)| name.len()).sum::<usize>();
        assert!(names <= result.rest().len());
        assert!(!page.entries.is_empty() || page.next.is_none_or(|next| next.cookie == 0));
    }
    if let Ok((data, _)) = read_data(&mut result.clone(), WANTED) {
        assert!(data.len() <= WANTED);
    }
    if let Ok(limits) = read_limits(&mut result.clone()) {
        assert!(limits.read > 0 && limits.write > 0 && limits.file > 0);
        assert!(limits.read.max(limits.write) as usize <= LONGEST, "memory is kept for it");
    }
    compound_result(result);
    if let Ok(paths) = mounting::read_exported(&mut result.clone()) {
        assert!(paths.iter().map(String::len).sum::<usize>() <= result.rest().len());
    }
    if let Ok(root) = mounting::read_root(&mut result.clone(), true) {
        assert!(root.len() <= MAX_HANDLE_OCTETS);
    }
}
