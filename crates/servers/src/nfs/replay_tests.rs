//! Calls of the Linux client, fed record by record to the server; each reply is checked against RFC 1813 and RFC 5531.

use std::collections::BTreeMap;

use lanlab_wire::nfs3::xdr::Reader;
use tempfile::TempDir;

use super::answer::answer;
use super::files::Files;

const FRAMES: &str = include_str!("../../tests/frames/nfs-linux.txt");
const README: &[u8] = b"README of 18 bytes";
/// Server run in the capture, with which each of its handles begins, and the numbers of its files.
const LIFE: &str = "1ff97a3f205560ed";
const ROOT: u64 = 3;
const README_TXT: u64 = 4;
const BIG_BIN: u64 = 8;
const MOUNT: u32 = 100_005;
const NFS: u32 = 100_003;
const NFS_ACL: u32 = 100_227;
/// `ftype3` (RFC 1813, section 2.6).
const REGULAR: u32 = 1;
const DIRECTORY: u32 = 2;

/// A server, and its handles by the numbers that the client used.
struct Replay {
    files: Files,
    handles: BTreeMap<u64, Vec<u8>>,
    records: std::vec::IntoIter<String>,
    /// Hexadecimal digits of the last call.
    last: String,
    _root: TempDir,
}

impl Replay {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        std::fs::write(root.path().join("README.TXT"), README).unwrap();
        let lines = FRAMES.lines().filter(|line| !line.starts_with('#'));
        let records: Vec<_> =
            lines.map(|line| line.split_once(' ').unwrap().1.to_owned()).collect();
        Self {
            files: Files::new(root.path(), false).unwrap(),
            handles: BTreeMap::new(),
            records: records.into_iter(),
            last: String::new(),
            _root: root,
        }
    }

    /// The results in the reply to the next call, which is to this procedure (RFC 5531, section 9).
    fn next(&mut self, program: u32, procedure: u32, accepted: u32) -> Vec<u8> {
        self.last = self.records.next().expect("another call");
        self.again(program, procedure, accepted)
    }

    fn again(&mut self, program: u32, procedure: u32, accepted: u32) -> Vec<u8> {
        let mut text = self.last.clone();
        for (number, handle) in &self.handles {
            text = text.replace(&format!("{LIFE}{number:016x}"), &hex::encode(handle));
        }
        assert!(!text.contains(LIFE), "a handle that no reply gave: {text}");
        let call = hex::decode(text).unwrap();
        let word = |at: usize| u32::from_be_bytes(call[at..at + 4].try_into().unwrap());
        assert_eq!(word(0), 1 << 31 | (call.len() as u32 - 4), "one last fragment");
        assert_eq!([word(12), word(16), word(20), word(24)], [2, program, 3, procedure]);
        let reply = answer(&self.files, &call[4..], vec![]).unwrap();
        let mut reader = Reader::new(&reply);
        // The fragment; then transaction, REPLY, MSG_ACCEPTED, an empty verifier, and the status.
        let length = 1 << 31 | (reply.len() as u32 - 4);
        for wanted in [length, word(4), 1, 0, 0, 0, accepted] {
            assert_eq!(reader.u32().unwrap(), wanted);
        }
        reader.rest().to_vec()
    }
}

/// `nfs_fh3`: at most 64 bytes (RFC 1813, section 2.4).
fn handle(reader: &mut Reader<'_>) -> Vec<u8> {
    reader.opaque(64).unwrap().to_vec()
}

/// `fattr3`: kind, mode and size of 84 bytes (section 2.6).
fn attributes(reader: &mut Reader<'_>) -> (u32, u32, u64) {
    let mut fields = Reader::new(reader.fixed(84).unwrap());
    let (kind, mode) = (fields.u32().unwrap(), fields.u32().unwrap());
    fields.fixed(12).unwrap();
    (kind, mode, fields.u64().unwrap())
}

/// `post_op_attr` of a file of this kind, which may be absent (section 2.6).
fn optional(reader: &mut Reader<'_>, kind: u32) {
    if reader.boolean().unwrap() {
        assert_eq!(attributes(reader).0, kind);
    }
}

/// `wcc_data` of a file of this kind (section 2.6).
fn changed(reader: &mut Reader<'_>, kind: u32) {
    if reader.boolean().unwrap() {
        reader.fixed(24).unwrap();
    }
    optional(reader, kind);
}

/// Read a whole result, whose first word is `NFS3_OK`.
fn good<T>(results: &[u8], read: impl FnOnce(&mut Reader<'_>) -> T) -> T {
    let mut reader = Reader::new(results);
    assert_eq!(reader.u32().unwrap(), 0, "NFS3_OK");
    let found = read(&mut reader);
    assert_eq!(reader.rest(), b"", "all of it is specified");
    found
}

#[test]
fn a_linux_client_mounts_lists_reads_and_creates() {
    let mut replay = Replay::new();
    // Appendix I: MNT gives a handle, and the flavors of authentication.
    assert_eq!(replay.next(MOUNT, 0, 0), b"");
    let root = good(&replay.next(MOUNT, 1, 0), |reader| {
        let root = handle(reader);
        let flavors: Vec<_> = (0..reader.u32().unwrap()).map(|_| reader.u32().unwrap()).collect();
        assert!(flavors.contains(&1), "AUTH_SYS");
        root
    });
    replay.handles.insert(ROOT, root);
    assert_eq!(replay.next(NFS, 0, 0), b"");

    // Section 3.3.19, and 3.3.20.
    let information = |reader: &mut Reader<'_>| {
        optional(reader, DIRECTORY);
        let [most, preferred, multiple, write_most, write_preferred, write_multiple, listing] =
            [(); 7].map(|()| reader.u32().unwrap());
        assert!(preferred <= most && write_preferred <= write_most && listing > 0);
        assert!(preferred % multiple == 0 && write_preferred % write_multiple == 0);
        assert!(reader.u64().unwrap() > 1 << 32, "largest file");
        reader.fixed(8).unwrap();
        reader.u32().unwrap()
    };
    let properties = good(&replay.next(NFS, 19, 0), information);
    assert_eq!(properties & !0x1b, 0, "FSF3_LINK, SYMLINK, HOMOGENEOUS, CANSETTIME");
    good(&replay.next(NFS, 20, 0), |reader| {
        optional(reader, DIRECTORY);
        reader.u32().unwrap();
        assert!(reader.u32().unwrap() >= 255, "longest name");
        [(); 4].map(|()| reader.boolean().unwrap())
    });
    let directory = |results: &[u8]| good(results, attributes).0 == DIRECTORY;
    assert!(directory(&replay.next(NFS, 1, 0)));
    // RFC 5531, section 9: PROG_UNAVAIL.
    assert_eq!(replay.next(NFS_ACL, 0, 1), b"");
    assert_eq!(good(&replay.next(NFS, 19, 0), information), properties);
    assert!(directory(&replay.next(NFS, 1, 0)));
    // Section 3.3.4: only requested rights are granted.
    let rights = |reader: &mut Reader<'_>, kind| {
        optional(reader, kind);
        reader.u32().unwrap()
    };
    assert_eq!(good(&replay.next(NFS, 4, 0), |reader| rights(reader, DIRECTORY)), 0x1f);
    assert!(directory(&replay.next(NFS, 1, 0)));

    let found = good(&replay.next(NFS, 17, 0), listed);
    let names: Vec<_> = found.keys().map(String::as_str).collect();
    assert_eq!(names, [".", "..", "README.TXT"]);
    replay.handles.insert(README_TXT, found["README.TXT"].clone());
    assert!(directory(&replay.next(NFS, 1, 0)));

    let (kind, _, size_bytes) = good(&replay.next(NFS, 1, 0), attributes);
    assert_eq!((kind, size_bytes), (REGULAR, 18));
    let allowed = good(&replay.next(NFS, 4, 0), |reader| rights(reader, REGULAR));
    assert_eq!((allowed & !0x2d, allowed & 0x0d), (0, 0x0d));
    // Section 3.3.6.
    good(&replay.next(NFS, 6, 0), |reader| {
        optional(reader, REGULAR);
        assert_eq!((reader.u32().unwrap(), reader.boolean().unwrap()), (18, true));
        assert_eq!(reader.opaque(18).unwrap(), README);
    });

    // Section 3.3.3: NFS3ERR_NOENT, and the directory's attributes.
    let missing = replay.next(NFS, 3, 0);
    let mut reader = Reader::new(&missing);
    assert_eq!(reader.u32().unwrap(), 2);
    optional(&mut reader, DIRECTORY);
    assert_eq!(reader.rest(), b"");
    let made = |reader: &mut Reader<'_>| {
        assert!(reader.boolean().unwrap());
        let made = handle(reader);
        optional(reader, REGULAR);
        changed(reader, DIRECTORY);
        made
    };
    let big = good(&replay.next(NFS, 8, 0), made);
    // Section 3.3.8: a repeated exclusive create returns the same file.
    assert_eq!(good(&replay.again(NFS, 8, 0), made), big);
    replay.handles.insert(BIG_BIN, big);
    good(&replay.next(NFS, 2, 0), |reader| changed(reader, REGULAR));
    assert_eq!(good(&replay.next(NFS, 1, 0), attributes), (REGULAR, 0o644, 0));
    assert_eq!(replay.records.next(), None);
}

/// Names and handles of READDIRPLUS (section 3.3.17).
fn listed(reader: &mut Reader<'_>) -> BTreeMap<String, Vec<u8>> {
    optional(reader, DIRECTORY);
    reader.fixed(8).unwrap();
    let mut found = BTreeMap::new();
    while reader.boolean().unwrap() {
        reader.u64().unwrap();
        let name = String::from_utf8(reader.opaque(255).unwrap().to_vec()).unwrap();
        reader.u64().unwrap();
        if reader.boolean().unwrap() {
            attributes(reader);
        }
        let handle = if reader.boolean().unwrap() { handle(reader) } else { vec![] };
        assert!(found.insert(name, handle).is_none(), "each name once");
    }
    assert!(reader.boolean().unwrap(), "the end of the listing");
    found
}
