//! Listings of LAN Manager and Windows NT, and the searches of the core protocol.

use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::{command as c, find};

use super::answers::{DATE, TIME, no, yes};
use super::levels::{MOMENT, TICKS};
use super::raw::Raw;
use super::transactions::connected;

/// Names of a response of the standard level with keys, and where the last one begins.
fn standards(data: &[u8], count: u16, keys: bool) -> Vec<(Option<u32>, String)> {
    let entries: Vec<_> =
        find::Standards::new(data, count, keys, false).map(Result::unwrap).collect();
    for entry in &entries {
        let (size, attributes) =
            if entry.name == Text::Oem(b"SUB") { (0, 0x10) } else { (3, 0x20) };
        assert_eq!([entry.creation, entry.last_access, entry.last_write], [MOMENT; 3]);
        assert_eq!((entry.size, entry.allocation_size, entry.attributes), (size, size, attributes));
    }
    let name = |text: Text<'_>| String::from_utf8(text.octets().to_vec()).unwrap();
    entries.into_iter().map(|entry| (entry.resume_key, name(entry.name))).collect()
}

/// A client at seven files and a directory: `F0` to `F6`, and `SUB`.
fn listed() -> Raw {
    let mut raw = connected();
    for number in 0..7 {
        raw.fill(&format!("F{number}"), b"abc");
    }
    raw.make_directory("SUB");
    raw
}

#[test]
fn transaction_listings_resume_where_the_client_asks() {
    const DIRECTORIES: u16 = 0x16;
    let mut raw = listed();
    let names =
        |names: &[&str]| names.iter().map(|name| (None, (*name).to_owned())).collect::<Vec<_>>();
    let found = |parameters: &[u8], first| find::Found::parse(parameters, first).unwrap();
    // Three at once; entries of the standard level have 23 octets, a name and its terminator.
    let (parameters, data) = raw.first([DIRECTORIES, 3, 0, 1], "\\*").unwrap();
    let first = found(&parameters, true);
    let sid = first.sid.unwrap();
    assert_eq!((first.count, first.end_of_search, first.last_name_offset), (3, false, 52));
    assert_eq!(standards(&data, 3, false), names(&["F0", "F1", "F2"]));
    assert_eq!(data.len(), 3 * 26);
    let (parameters, data) = raw.next([sid, 2, 1], 0x08, "F2").unwrap();
    assert_eq!(
        (found(&parameters, false).count, found(&parameters, false).end_of_search),
        (2, false)
    );
    assert_eq!(standards(&data, 2, false), names(&["F3", "F4"]));
    // By the name of an entry of the response before, and by one that was not in it.
    let (_, data) = raw.next([sid, 2, 1], 0, "F3").unwrap();
    assert_eq!(standards(&data, 2, false), names(&["F4", "F5"]));
    let (_, data) = raw.next([sid, 1, 1], 0, "F0").unwrap();
    assert_eq!(standards(&data, 1, false), names(&["F6"]));
    let (parameters, data) = raw.next([sid, 9, 1], 0x08 | 0x04, "").unwrap();
    let last = found(&parameters, false);
    assert_eq!((last.count, last.end_of_search, last.last_name_offset), (1, true, 0));
    assert_eq!(standards(&data, 1, true), [(Some(0), "SUB".to_owned())]);
    // It was not to end with its last entry.
    let (parameters, data) = raw.next([sid, 9, 1], 0x08 | 0x02, "").unwrap();
    assert_eq!((found(&parameters, false).count, data.len()), (0, 0));
    assert_eq!(raw.next([sid, 9, 1], 0x08, ""), Err(error::INVALID_HANDLE.name));
    // Keys count the entries of a response.
    let (parameters, data) = raw.first([DIRECTORIES, 3, 0x04, 1], "F*").unwrap();
    let keys = [0, 1, 2].map(|key| (Some(key), format!("F{key}")));
    assert_eq!(standards(&data, 3, true), keys);
    let sid = found(&parameters, true).sid.unwrap();
    assert_eq!(raw.say(c::FIND_CLOSE2, &[sid], b""), yes(&[], b""));
    assert_eq!(raw.say(c::FIND_CLOSE2, &[sid], b""), no(error::INVALID_HANDLE));
    // One that ends with its request, or with its last entry, has no number.
    for (flags, count, number) in [(1, 3, 0), (2, 3, 1), (2, 9, 0), (0, 9, 1)] {
        let (parameters, _) = raw.first([DIRECTORIES, count, flags, 1], "F*").unwrap();
        let sid = found(&parameters, true).sid.unwrap();
        assert_eq!(u16::from(sid != 0), number, "{flags} {count}");
        let goes_on = raw.next([sid, 1, 1], 0x08, "").is_ok();
        assert_eq!(goes_on, number == 1, "{flags} {count}");
    }
    assert_eq!(raw.first([0, 9, 0, 1], "X*"), Err(error::NO_SUCH_FILE.name));
    assert_eq!(raw.first([0, 9, 0, 2], "F*"), Err(error::INVALID_LEVEL.name));
    // No number of entries means one.
    let (parameters, _) = raw.first([DIRECTORIES, 0, 1, 1], "F*").unwrap();
    assert_eq!(found(&parameters, true).count, 1);
    // As many as have room: 52 octets hold two, 51 one.
    for (room, expected) in [(52, 2), (51, 1), (26, 1)] {
        let parameters = [&[0x16, 0, 9, 0, 1, 0, 1, 0, 0, 0, 0, 0][..], b"F*\0"].concat();
        let (parameters, _) = raw.transact_within(room, 1, &parameters, b"").unwrap();
        assert_eq!(found(&parameters, true).count, expected, "{room}");
    }
    // Another share connection has other searches.
    let (parameters, _) = raw.first([DIRECTORIES, 1, 0, 1], "F*").unwrap();
    let sid = found(&parameters, true).sid.unwrap();
    let own = raw.tid;
    raw.connect();
    assert_eq!(raw.next([sid, 1, 1], 0x08, ""), Err(error::INVALID_HANDLE.name));
    raw.tid = own;
}

#[test]
fn nt_levels_list_the_same_files_in_longer_entries() {
    let mut raw = listed();
    raw.fill("longer name.text", &[0; 1000]);
    // Octets before a name by level: [MS-CIFS] 2.2.8.1.4, 2.2.8.1.5 and 2.2.8.1.7.
    for (level, head) in [(0x0101, 64), (0x0102, 68), (0x0104, 94)] {
        let (parameters, data) = raw.first([0x16, 99, 2, level], "*").unwrap();
        let found = find::Found::parse(&parameters, true).unwrap();
        assert_eq!((found.sid, found.count, found.end_of_search), (Some(0), 9, true));
        let (mut at, mut names) = (0, Vec::new());
        for number in 0..9 {
            let long = |from: usize| u64::from_le_bytes(data[at + from..][..8].try_into().unwrap());
            let word = |from: usize| u32::from_le_bytes(data[at + from..][..4].try_into().unwrap());
            assert_eq!(word(4), number, "index");
            assert_eq!([8, 16, 24, 32].map(long), [TICKS; 4]);
            let name = &data[at + head..][..word(60) as usize];
            let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
            let (size, attributes) = match name.as_str() {
                "SUB" => (0, 0x10),
                "longer name.text" => (1000, 0x20),
                _ => (3, 0x20),
            };
            assert_eq!((long(40), long(48), word(56)), (size, size, attributes), "{name}");
            if head == 94 {
                // A name of 8.3 has no other one.
                let has_short = data[at + 68] != 0;
                assert_eq!(has_short, name.contains(' '), "{name}");
            }
            names.push(name);
            if word(0) == 0 {
                assert_eq!((number, usize::from(found.last_name_offset)), (8, at));
            }
            at += word(0) as usize;
        }
        let expected = ["F0", "F1", "F2", "F3", "F4", "F5", "F6", "SUB", "longer name.text"];
        assert_eq!(names, expected);
        // 98 octets with name and terminator at most, and aligned to 8.
        for (room, count) in [(head + 3, 1), (head + 2, 0), (2 * (head + 3).next_multiple_of(8), 2)]
        {
            let parameters = [0x16, 9, 1, level, 0, 0].map(u16::to_le_bytes).concat();
            let parameters = [&parameters[..], b"F*\0"].concat();
            let found = raw.transact_within(room as u16, 1, &parameters, b"");
            let found = found.map(|(found, _)| find::Found::parse(&found, true).unwrap().count);
            let expected = if count == 0 { Err(error::NO_SUCH_FILE.name) } else { Ok(count) };
            assert_eq!(found, expected, "{level:#x} {room}");
        }
    }
}

/// An entry of 8.3: where it goes on, its attributes, time, size and name.
type Entry = (Vec<u8>, u8, [u16; 2], u32, String);

fn entry(octets: &[u8]) -> Entry {
    let word = |at: usize| u16::from_le_bytes([octets[at], octets[at + 1]]);
    let name = String::from_utf8_lossy(&octets[30..43]).trim_end_matches('\0').to_owned();
    let size = u32::from(word(26)) | u32::from(word(28)) << 16;
    (octets[..21].to_vec(), octets[21], [word(22), word(24)], size, name)
}

#[test]
fn a_core_search_resumes_from_any_entry_of_the_last_reply() {
    let mut raw = listed();
    let search = |raw: &mut Raw, command, count, attributes, name: &[u8], key: &[u8]| {
        let len = (key.len() as u16).to_le_bytes();
        let octets = [&[4], name, &[0, 5], &len[..], key].concat();
        let (status, words, octets) = raw.say(command, &[count, attributes], &octets);
        if status != "success" {
            return Err(status);
        }
        let entries: Vec<_> = octets[3..].chunks(43).map(entry).collect();
        assert_eq!((words[0] as usize, octets[0]), (entries.len(), 5));
        Ok(entries)
    };
    let names = |found: &[Entry]| found.iter().map(|one| one.4.clone()).collect::<Vec<_>>();
    let found = search(&mut raw, c::SEARCH, 3, 0x16, b"\\*.*", b"").unwrap();
    assert_eq!(names(&found), ["F0", "F1", "F2"]);
    for (at, (key, attributes, moment, size, name)) in found.iter().enumerate() {
        assert_eq!((*attributes, *moment, *size), (0x20, [TIME, DATE], 3));
        // The name stands where servers of DOS have it, the client's octets at the end.
        assert_eq!((&key[1..3], key[14], &key[17..]), (name.as_bytes(), at as u8, &[0; 4][..]));
    }
    let mut key = found[0].0.clone();
    key[17..].copy_from_slice(b"mine");
    let again = search(&mut raw, c::SEARCH, 2, 0x16, b"", &key).unwrap();
    assert_eq!(names(&again), ["F1", "F2"]);
    assert!(again.iter().all(|one| one.0[17..] == *b"mine"));
    let rest = search(&mut raw, c::FIND, 99, 0x16, b"", &again[1].0).unwrap();
    assert_eq!(names(&rest), ["F3", "F4", "F5", "F6", "SUB"]);
    assert_eq!((rest[4].1, rest[4].3), (0x10, 0));
    let end = search(&mut raw, c::SEARCH, 9, 0x16, b"", &rest[4].0);
    assert_eq!(end, Err(error::NO_MORE_FILES.name));
    // Find close ends it, and says nothing.
    let octets = [&[4, 0, 5, 21, 0][..], &rest[4].0].concat();
    assert_eq!(raw.say(c::FIND_CLOSE, &[0, 0x16], &octets).1, [0]);
    let ended = search(&mut raw, c::SEARCH, 9, 0x16, b"", &rest[0].0);
    assert_eq!(ended, Err(error::NO_MORE_FILES.name));
    assert_eq!(
        raw.say(c::FIND_CLOSE, &[0, 0x16], b"\x04\0\x05\0\0").0,
        error::INVALID_PARAMETER.name
    );
    // Find unique keeps nothing to go on with.
    let unique = search(&mut raw, c::FIND_UNIQUE, 2, 0x16, b"F*", b"").unwrap();
    assert_eq!(names(&unique), ["F0", "F1"]);
    assert_eq!(
        search(&mut raw, c::SEARCH, 2, 0x16, b"", &unique[0].0),
        Err(error::NO_MORE_FILES.name)
    );
    assert_eq!(search(&mut raw, c::SEARCH, 2, 0, b"X*", b""), Err(error::NO_MORE_FILES.name));
    let one = search(&mut raw, c::SEARCH, 2, 0x16, b"SUB", b"").unwrap();
    assert_eq!(names(&one), ["SUB"]);
    assert_eq!(search(&mut raw, c::SEARCH, 2, 0, b"SUB", b""), Err(error::NO_MORE_FILES.name));
    let below = search(&mut raw, c::SEARCH, 9, 0x16, b"SUB\\*.*", b"").unwrap();
    assert_eq!(names(&below), [".", ".."]);
    // Who asks for the label of the volume alone gets it.
    let label = search(&mut raw, c::SEARCH, 1, 0x08, b"*.*", b"").unwrap();
    assert_eq!((label.len(), label[0].1, label[0].4.as_str()), (1, 0x08, "LANLAB"));
    // Answers have at most 64 entries, and no more than have room in the client's buffer of 4,096: (4,096 - 64) / 43.
    for number in 0..100 {
        raw.fill(&format!("G{number:02}"), b"abc");
    }
    let found = search(&mut raw, c::SEARCH, 0xffff, 0x16, b"G*", b"").unwrap();
    assert_eq!((found.len(), found[63].4.as_str()), (64, "G63"));
    let rest = search(&mut raw, c::SEARCH, 0xffff, 0x16, b"", &found[63].0).unwrap();
    assert_eq!((rest.len(), rest[0].4.as_str(), rest[35].4.as_str()), (36, "G64", "G99"));
}
