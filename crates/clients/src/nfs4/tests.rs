//! Answers of NFS-Ganesha 4.3, and one of our calls. tshark dissects all of them without errors.

use super::session::{read_client, read_session, write_session};
use super::*;
use compound::read_status;

const CLIENT: &[&str] = &[
    "0000000000000000000000010000002a000000006b0c390a0000000100000001000100010000000000000000",
    "0000000000000002766d00000000000f766d5f4e46532d47616e65736861000000000000",
];
const SESSION: &[&str] = &[
    "0000000000000000000000010000002b00000000010000000a390c6b01000000000000000000000100000000",
    "0000000000101000001010000000100000000040000000100000000000000000000010000000100000000000",
    "000000020000000100000000",
];
/// SEQUENCE, PUTFH, LOOKUP, OPEN, GETFH, GETATTR and READ; the data is cut to four octets.
const OPENED: &[&str] = &[
    "0000000000000000000000090000003500000000030000000a390c6b03000000000000000000000400000000",
    "0000000f0000000f0000000100000016000000000000000f000000000000000f000000000000001200000000",
    "00000001030000000a390c6b010000000000000018ec8af8ccdc224618ec8af8ccdc22460000000400000000",
    "00000003000000000000000a0000000000000017430000011244abee83d98db007e401694061002cbdc05c00",
    "00000009000000000000000100000010000000080000000000003e8000000019000000000000000100000004",
    "92a9a64f",
];
/// SEQUENCE, PUTFH, LOOKUP, GETFH and READDIR.
const LISTED: &[&str] = &[
    "0000000000000000000000050000003500000000040000000a390c6b04000000000000000000000500000000",
    "0000000f0000000f0000000100000016000000000000000f000000000000000a000000000000001743000001",
    "1244abee83d98db007e401654061009700ea2c000000001a00000000000000000000000000000001583a64d7",
    "3040ba1e0000000566696c657300000000000001000008120000001000000002000000000000100000000000",
    "000000017fffffffffffffff0000000b6c616e6c61622d6d61726b0000000001000008120000001000000001",
    "0000000000000043000000000000000000000001",
];
/// `CREATE_SESSION4args`.
const ASKED: &[&str] = &[
    "6b0c390a00000001000000010000000000000000001010000010100000001000000000400000001000000000",
    "00000000000010000000100000000000000000020000000100000000400000000000000100000000",
];

fn octets(digits: &[&str]) -> Vec<u8> {
    let digits = digits.concat();
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

fn results(octets: &[u8]) -> Results<'_> {
    let mut reader = Reader::new(octets);
    assert_eq!(read_status(&mut reader).unwrap(), Status::OK);
    Results(reader)
}

fn after_sequence(octets: &[u8]) -> Results<'_> {
    let mut results = results(octets);
    results.of(op::SEQUENCE).unwrap().fixed(36).unwrap();
    results
}

#[test]
fn a_session_is_read_as_the_server_gave_it() {
    let client = octets(CLIENT);
    let found = read_client(results(&client).of(op::EXCHANGE_ID).unwrap()).unwrap();
    assert_eq!(found, (0x6b0c_390a_0000_0001, 1, None));
    let session = octets(SESSION);
    let (id, limits) = read_session(results(&session).of(op::CREATE_SESSION).unwrap()).unwrap();
    assert_eq!(id[..8], [1, 0, 0, 0, 0x0a, 0x39, 0x0c, 0x6b]);
    assert_eq!((limits.request, limits.response), (1_052_672, 1_052_672));
    assert_eq!((limits.operations, limits.slots), (64, 16));

    let mut writer = Writer::default();
    write_session(&mut writer, found.0, found.1);
    assert_eq!(writer.octets(), octets(ASKED));
}

#[test]
fn too_small_a_session_is_refused() {
    let session = octets(SESSION);
    // After the session: sequence, flags, alignment, request, response, cached, operations, slots.
    for (word, value) in [(3, 2048_u32), (4, 2048), (6, 7), (7, 0)] {
        let mut small = session.clone();
        let at = 20 + 16 + word * 4;
        small[at..at + 4].copy_from_slice(&value.to_be_bytes());
        let fault = read_session(results(&small).of(op::CREATE_SESSION).unwrap()).unwrap_err();
        assert!(fault.message.starts_with("the server's sessions are too small"), "{fault}");
    }
}

#[test]
fn a_short_file_is_read_by_the_compound_that_opens_it() {
    let opened = octets(OPENED);
    let mut results = after_sequence(&opened);
    let state = skip_state(results.of(op::OPEN).unwrap()).unwrap();
    assert_eq!(state[..8], [0, 0, 0, 1, 3, 0, 0, 0]);
    assert_eq!(results.handle().unwrap().len(), 23);
    let found = Attributes::read(results.of(op::GETATTR).unwrap()).unwrap();
    assert_eq!(found.0, [(attribute::SIZE, 16_000)]);
    let (data, at_end) = read_data(results.of(op::READ).unwrap(), 4).unwrap();
    assert_eq!((data, at_end), (&[0x92, 0xa9, 0xa6, 0x4f][..], true));
}

#[test]
fn a_directory_is_listed_with_kinds_and_sizes() {
    let listed = octets(LISTED);
    let mut results = after_sequence(&listed);
    results.handle().unwrap();
    let page = listing::read_page(results.of(op::READDIR).unwrap()).unwrap();
    assert!(page.next.is_none());
    let entries = page.entries.into_iter().map(|(name, found)| listing::entry(name, &found));
    let entries = entries.map(|one| one.unwrap().unwrap());
    let entries: Vec<_> = entries.map(|one| (one.name, one.size_bytes, one.is_directory)).collect();
    let expected = [("files".to_owned(), 0, true), ("lanlab-mark".to_owned(), 67, false)];
    assert_eq!(entries, expected);
}
