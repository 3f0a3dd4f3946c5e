//! What a client of our NFS server sends.

use lanlab_connections::scripted::Feed;
use lanlab_wire::nfs3::rpc::{self, Accepted};
use lanlab_wire::nfs3::xdr::{Garbled, Reader};
use lanlab_wire::nfs3::{MOUNT, NFS, PORTMAP};

use super::ground::{Ground, tells_secret};
use crate::nfs::answer::answer;
use crate::nfs::files::Files;
use crate::nfs::{MAX_DATA_OCTETS, MAX_RECORD_OCTETS};

/// The server's life, fixed so that a handle can be guessed: no server is safer by keeping it secret.
const LIFE: [u8; 8] = [7; 8];

/// Calls of one run at most, so that a run stays short.
const MAX_CALLS: u32 = 200;

/// Reads the result of a procedure (of MOUNT or NFS) to its end; the last argument limits octets of data.
type ReadResult = fn((bool, u32), Accepted, &mut Reader<'_>, usize) -> Result<(), Garbled>;

/// Any calls of a client, in their order: each gets one well-formed answer of its own number, of
/// bounded length, and what is no call gets none; what is outside the served directory is neither
/// disclosed nor changed, and nothing is written to a read-only one.
///
/// # Panics
/// If that does not hold.
pub fn nfs_calls(octets: &[u8], read_result: ReadResult) {
    if tells_secret(octets) {
        return;
    }
    let mut feed = Feed::new(octets);
    let ground = Ground::new();
    let read_only = feed.u8() % 4 == 1;
    let before = read_only.then(|| ground.content());
    let mut files = Files::new(&ground.root(), read_only).expect("a directory to serve");
    files.life = LIFE;
    let mut memory = Vec::new();
    for xid in 0..MAX_CALLS {
        if feed.is_empty() {
            break;
        }
        let record = record(&mut feed, xid);
        let call = rpc::read_call(&record);
        let Some(reply) = answer(&files, &record, memory) else {
            assert!(call.is_err(), "a call has an answer");
            return;
        };
        let call = call.expect("only a call has an answer");
        let (length, last) = rpc::fragment([reply[0], reply[1], reply[2], reply[3]]);
        assert!(last && length == reply.len() - 4);
        assert!(length <= MAX_DATA_OCTETS as usize + 1024, "{length} octets");
        assert!(reply.capacity() <= 4 * MAX_RECORD_OCTETS, "{} held", reply.capacity());
        assert_eq!(rpc::xid(&reply[4..]), Some(call.xid));
        let (accepted, mut result) = rpc::read_reply(&reply[4..]).expect("an answer");
        assert!(!tells_secret(&reply));
        if call.program == PORTMAP {
            memory = reply;
            continue;
        }
        let procedure = (call.program == MOUNT, call.procedure);
        let read = read_result(procedure, accepted, &mut result, MAX_DATA_OCTETS as usize);
        assert_eq!((read, result.rest().len()), (Ok(()), 0), "{procedure:?}");
        memory = reply;
    }
    ground.assert_outside_untouched();
    if let Some(before) = before {
        assert_eq!(ground.content(), before);
    }
}

/// The next call: of a procedure with any arguments, or any octets in place of all.
fn record(feed: &mut Feed, xid: u32) -> Vec<u8> {
    let kind = feed.u8();
    let octets = feed.part();
    let (program, procedure) = match kind {
        255 => return octets.to_vec(),
        200.. => (MOUNT, u32::from(kind - 200)),
        _ => (NFS, u32::from(kind)),
    };
    let mut writer = rpc::begin_call(xid, program, procedure, &[]);
    writer.fixed(octets);
    rpc::finish(writer, 0).split_off(4)
}
