//! Information levels and listings of LAN Manager and Windows NT, and what the pipe of LAN Manager says.

use lanlab_stack::smb::server::{Offer, Server};
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::file_information::{All, Basic, Sizes, Standard};
use lanlab_wire::smb1::file_system_information::{
    Allocation, Attribute, Device, FullSize, Size, Volume,
};
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::negotiate::dialect;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::time::DateTime;
use lanlab_wire::smb1::transaction::{Request, Response, Secondary};
use lanlab_wire::smb1::{command as c, find};

use super::answers::{DATE, TIME, no, yes};
use super::both::offer;
use super::raw::Raw;

/// When files in memory are written, in ticks of 100 ns since 1601.
const TICKS: u64 = (11_644_473_600 + 800_000_000) * 10_000_000;
const MOMENT: DateTime = DateTime { date: DATE, time: TIME };

type Answered = Result<(Vec<u8>, Vec<u8>), &'static str>;

fn parsed(answer: &[u8]) -> Answered {
    let header = Header::parse(answer).unwrap();
    if !header.status.is_success() {
        return Err(header.status.name().unwrap());
    }
    let response = Response::parse(&Block::first(&header, answer).unwrap()).unwrap();
    assert!(response.is_whole());
    Ok((response.parameters.to_vec(), response.data.to_vec()))
}

impl Raw {
    fn transact(&mut self, subcommand: u16, parameters: &[u8], data: &[u8]) -> Answered {
        self.transact_within(4000, subcommand, parameters, data)
    }

    fn transact_within(
        &mut self,
        max_data: u16,
        number: u16,
        parameters: &[u8],
        data: &[u8],
    ) -> Answered {
        let setup = number.to_le_bytes();
        let request =
            Request { max_parameters: 10, max_data, ..Request::whole(&setup, parameters, data) };
        let said = self.ask(c::TRANSACTION2, |writer| request.emit(writer));
        parsed(&said[0])
    }

    fn of_path(&mut self, level: u16, name: &str) -> Result<Vec<u8>, &'static str> {
        let parameters = [&level.to_le_bytes()[..], &[0; 4], name.as_bytes(), &[0]].concat();
        let (parameters, data) = self.transact(5, &parameters, b"")?;
        assert_eq!(parameters, [0; 2], "no extended attribute is wrong");
        Ok(data)
    }

    fn set_path(&mut self, level: u16, name: &str, data: &[u8]) -> Result<(), &'static str> {
        let parameters = [&level.to_le_bytes()[..], &[0; 4], name.as_bytes(), &[0]].concat();
        self.transact(6, &parameters, data).map(|found| assert_eq!(found, (vec![0; 2], vec![])))
    }

    fn set_file(&mut self, level: u16, fid: u16, data: &[u8]) -> Result<(), &'static str> {
        let parameters = [fid, level, 0].map(u16::to_le_bytes).concat();
        self.transact(8, &parameters, data).map(|found| assert_eq!(found, (vec![0; 2], vec![])))
    }

    fn of_file(&mut self, level: u16, fid: u16) -> Result<Vec<u8>, &'static str> {
        let parameters = [fid, level].map(u16::to_le_bytes).concat();
        self.transact(7, &parameters, b"").map(|(parameters, data)| {
            assert_eq!(parameters, [0; 2]);
            data
        })
    }

    fn first(&mut self, head: [u16; 4], name: &str) -> Answered {
        let parameters = [&head.map(u16::to_le_bytes).concat()[..], &[0; 4], name.as_bytes(), &[0]];
        self.transact(1, &parameters.concat(), b"")
    }

    fn next(&mut self, head: [u16; 3], flags: u16, name: &str) -> Answered {
        let head = head.map(u16::to_le_bytes).concat();
        let parameters = [&head[..], &[0; 4], &flags.to_le_bytes()[..], name.as_bytes(), &[0]];
        self.transact(2, &parameters.concat(), b"")
    }
}

fn raw() -> Raw {
    let server = Server::new(Offer { user: None, ..offer() });
    let mut raw = Raw::negotiated(&server, &[], dialect::LM12);
    raw.log_in();
    raw.connect();
    raw.fill("a long name.text", &[7; 0x1234]);
    raw.make_directory("SUB");
    raw
}

fn emitted(emit: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut octets = Vec::new();
    emit(&mut octets);
    octets
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn named(name: &str) -> Vec<u8> {
    let name = utf16(name);
    [&(name.len() as u32).to_le_bytes()[..], &name].concat()
}

#[test]
fn each_level_describes_a_file_and_a_directory() {
    let mut raw = raw();
    let file = "a long name.text";
    for (name, size, attributes, is_directory) in
        [(file, 0x1234, 0x20_u16, false), ("SUB", 0, 0x10, true)]
    {
        let standard = emitted(|out| {
            Standard {
                creation: MOMENT,
                last_access: MOMENT,
                last_write: MOMENT,
                size,
                allocation_size: size,
                attributes,
            }
            .emit(out);
        });
        let basic = Basic {
            creation_time: TICKS,
            last_access_time: TICKS,
            last_write_time: TICKS,
            change_time: TICKS,
            attributes: attributes.into(),
        };
        let (allocation_size, end_of_file) = (size.into(), size.into());
        let sizes =
            Sizes { allocation_size, end_of_file, links: 1, delete_pending: false, is_directory };
        let path = format!("\\{name}");
        let whole = utf16(&path);
        let all = All { basic, sizes, ea_size: 0, name: Text::Utf16(&whole) };
        let (basic, sizes) = (emitted(|out| basic.emit(out)), emitted(|out| sizes.emit(out)));
        let with_ea = [&standard[..], &[0; 4]].concat();
        let expected = [
            (0x0001, Ok(standard)),
            (0x0002, Ok(with_ea)),
            (0x0003, Err(error::INVALID_LEVEL.name)),
            (0x0101, Ok(basic.clone())),
            (1004, Ok(basic)),
            (0x0102, Ok(sizes.clone())),
            (1005, Ok(sizes)),
            (0x0103, Ok(vec![0; 4])),
            (1007, Ok(vec![0; 4])),
            (0x0104, Ok(named(&path))),
            (0x0107, Ok(emitted(|out| all.emit(out)))),
        ];
        // Of an open one the same is said.
        let options = u32::from(is_directory);
        let fid = raw.nt_open(name, 1, 0x1, options).unwrap();
        for (level, expected) in expected {
            assert_eq!(raw.of_path(level, name), expected, "{level} {name}");
            assert_eq!(raw.of_file(level, fid), expected, "{level} {name}");
        }
        assert_eq!(raw.close(fid), "success");
        assert_eq!(raw.of_file(1, fid), Err(error::INVALID_HANDLE.name));
    }
    let short = raw.of_path(0x0108, file).unwrap();
    assert_eq!(raw.of_path(1021, file), Ok(short.clone()));
    let text: Vec<u16> =
        short[4..].chunks(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
    assert_eq!(short, named(&String::from_utf16(&text).unwrap()));
    assert!((1..=12).contains(&text.len()) && text.contains(&u16::from(b'~')), "{text:?}");
    assert_eq!(raw.of_path(0x0108, "SUB"), Ok(named("SUB")));
    assert_eq!(raw.of_path(1, "none"), Err(error::OBJECT_NAME_NOT_FOUND.name));
    // What has no room is refused, not cut.
    let parameters = [&[1, 0, 0, 0, 0, 0][..], b"SUB\0"].concat();
    assert_eq!(raw.transact_within(21, 5, &parameters, b""), Err(error::BUFFER_OVERFLOW.name));
    assert_eq!(raw.transact_within(22, 5, &parameters, b"").unwrap().1.len(), 22);
    // A file that is about to be removed has no name any more, and says so.
    let fid = raw.nt_open(file, 1, 0x1_0001, 0).unwrap();
    assert_eq!(raw.set_file(0x0102, fid, &[1]), Ok(()));
    let sizes = Sizes::parse(&raw.of_file(0x0102, fid).unwrap()).unwrap();
    assert_eq!((sizes.links, sizes.delete_pending), (0, true));
    assert_eq!(raw.of_path(1, file), Err(error::DELETE_PENDING.name));
    assert_eq!(raw.set_file(0x0102, fid, &[0]), Ok(()));
    assert_eq!(raw.of_path(0x0103, file), Ok(vec![0; 4]));
}

#[test]
fn each_level_describes_the_file_system() {
    let mut raw = raw();
    // 2^30 octets, half of them free, in units of 8 sectors of 512.
    let (total, free, sectors, sector) = (1 << 18, 1 << 17, 8, 512);
    let size = emitted(|out| {
        let size = Size {
            total_units: total,
            free_units: free,
            sectors_per_unit: sectors,
            sector_size: sector,
        };
        size.emit(out);
    });
    let (label, ntfs) = (utf16("LANLAB"), utf16("NTFS"));
    let (label, name) = (Text::Utf16(&label), Text::Utf16(&ntfs));
    // Names keep their case, and are Unicode: FILE_CASE_PRESERVED_NAMES, FILE_UNICODE_ON_DISK.
    let attribute = emitted(|out| Attribute { attributes: 6, max_name_len: 255, name }.emit(out));
    for (level, expected) in [
        (
            0x0001,
            emitted(|out| {
                let (total_units, free_units) = (1 << 18, 1 << 17);
                Allocation {
                    id: 0,
                    sectors_per_unit: 8,
                    total_units,
                    free_units,
                    sector_size: 512,
                }
                .emit(out);
            }),
        ),
        (0x0002, b"\0\0\0\0\x06LANLAB\0".to_vec()),
        (0x0102, emitted(|out| Volume { creation_time: 0, serial_number: 0, label }.emit(out))),
        (0x0103, size.clone()),
        (1003, size),
        (
            1007,
            emitted(|out| {
                let (available_units, sectors_per_unit, sector_size) = (free, sectors, sector);
                FullSize {
                    total_units: total,
                    available_units,
                    free_units: free,
                    sectors_per_unit,
                    sector_size,
                }
                .emit(out);
            }),
        ),
        // A disk that is mounted: FILE_DEVICE_DISK, FILE_DEVICE_IS_MOUNTED.
        (0x0104, emitted(|out| Device { device_type: 7, characteristics: 0x20 }.emit(out))),
        (0x0105, attribute.clone()),
        (1005, attribute),
    ] {
        let level: u16 = level;
        assert_eq!(raw.transact(3, &level.to_le_bytes(), b""), Ok((vec![], expected)), "{level}");
    }
    assert_eq!(raw.transact(3, &[9, 9], b""), Err(error::INVALID_LEVEL.name));
    assert_eq!(raw.transact(0x77, &[0, 0], b""), Err(error::NOT_SUPPORTED.name));
}

#[test]
fn times_attributes_and_sizes_are_set_by_level() {
    let mut raw = raw();
    let name = "a long name.text";
    let later = 12 * 3600;
    let moment = DateTime { date: DATE, time: TIME + (12 << 11) };
    let standard = |last_write| {
        let (creation, last_access) = (MOMENT, MOMENT);
        let standard = Standard {
            creation,
            last_access,
            last_write,
            size: 0,
            allocation_size: 0,
            attributes: 0,
        };
        emitted(|out| standard.emit(out))
    };
    let basic = |seconds: u64, attributes| {
        let last_write_time = if seconds == 0 { 0 } else { TICKS + seconds * 10_000_000 + 7 };
        let basic = Basic {
            creation_time: 0,
            last_access_time: 0,
            last_write_time,
            change_time: 0,
            attributes,
        };
        emitted(|out| basic.emit(out))
    };
    let found = |raw: &mut Raw| Basic::parse(&raw.of_path(0x0101, name).unwrap()).unwrap();
    for (level, data, written, attributes) in [
        (0x0001, standard(moment), later, 0x20),
        (0x0001, standard(DateTime { date: 0, time: 0 }), later, 0x20),
        (0x0101, basic(5, 0x21), 5, 0x21),
        (1004, basic(0, 0), 5, 0x21),
        (1004, basic(6, 0x20), 6, 0x20),
        (0x0101, basic(6, 0x10), 6, 0x20),
    ] {
        assert_eq!(raw.set_path(level, name, &data), Ok(()), "{level}");
        let now = found(&mut raw);
        assert_eq!(
            (now.last_write_time, now.attributes),
            (TICKS + written * 10_000_000, attributes)
        );
        let fid = raw.nt_open(name, 1, 0x1, 0).unwrap();
        assert_eq!(raw.set_file(level, fid, &data), Ok(()), "{level}");
        raw.close(fid);
    }
    let size =
        |raw: &mut Raw| Sizes::parse(&raw.of_path(0x0102, name).unwrap()).unwrap().end_of_file;
    let fid = raw.nt_open(name, 1, 0x3, 0).unwrap();
    for (level, octets, expected) in [
        (0x0104, 0x2000_u64, 0x2000),
        (1020, 0x1001, 0x1001),
        // To set aside cuts off what is beyond, and lengthens nothing.
        (0x0103, 0x1002, 0x1001),
        (0x0103, 0x1001, 0x1001),
        (1019, 0x1000, 0x1000),
    ] {
        assert_eq!(raw.set_file(level, fid, &octets.to_le_bytes()), Ok(()), "{level}");
        assert_eq!(size(&mut raw), expected, "{level}");
    }
    let far = (1_u64 << 63).to_le_bytes();
    assert_eq!(raw.set_file(0x0104, fid, &far), Err(error::INVALID_PARAMETER.name));
    let farthest = ((1_u64 << 63) - 1).to_le_bytes();
    assert_eq!(raw.set_file(0x0104, fid, &farthest), Err(error::DISK_FULL.name));
    assert_eq!(raw.set_file(0x0199, fid, &far), Err(error::INVALID_LEVEL.name));
    raw.close(fid);
    // Linux 6.1's cifs truncates by path (level 0104h), and gives up if the level is refused.
    for (level, octets) in [(0x0104, 0x2001_u64), (1020, 0x1234), (0x0103, 0x1000)] {
        assert_eq!(raw.set_path(level, name, &octets.to_le_bytes()), Ok(()), "{level}");
        assert_eq!(size(&mut raw), octets, "{level}");
    }
    assert_eq!(raw.set_path(0x0104, name, &far), Err(error::INVALID_PARAMETER.name));
    assert_eq!(raw.set_path(0x0104, "SUB", &[0; 8]), Err(error::FILE_IS_A_DIRECTORY.name));
    // The size can be set only through a handle that allows writing.
    assert_eq!(raw.set_path(0x0102, name, &[1]), Err(error::INVALID_LEVEL.name));
    let fid = raw.nt_open(name, 1, 0x1, 0).unwrap();
    assert_eq!(raw.set_file(0x0104, fid, &[0; 8]), Err(error::ACCESS_DENIED.name));
    assert_eq!(raw.set_file(0x0102, fid, &[1]), Err(error::ACCESS_DENIED.name));
    raw.close(fid);
    // One that may not be written is not removed.
    assert_eq!(raw.set_path(0x0101, name, &basic(6, 0x21)), Ok(()));
    let fid = raw.nt_open(name, 1, 0x1_0001, 0).unwrap();
    assert_eq!(raw.set_file(0x0102, fid, &[1]), Err(error::CANNOT_DELETE.name));
    assert_eq!(raw.set_file(1013, fid, &[0]), Ok(()));
    // An empty directory goes with the close of who asked for it.
    let fid = raw.nt_open("SUB", 1, 0x1_0001, 1).unwrap();
    assert_eq!(raw.set_file(0x0102, fid, &[1]), Ok(()));
    assert_eq!(raw.close(fid), "success");
    assert_eq!(raw.of_path(1, "SUB"), Err(error::OBJECT_NAME_NOT_FOUND.name));
    // A directory is made by a transaction, too.
    assert_eq!(raw.transact(0xd, b"\0\0\0\0NEW\0", b""), Ok((vec![0; 2], vec![])));
    assert_eq!(raw.transact(0xd, b"\0\0\0\0NEW\0", b""), Err(error::OBJECT_NAME_COLLISION.name));
}

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
    let server = Server::new(Offer { user: None, ..offer() });
    let mut raw = Raw::negotiated(&server, &[], dialect::LM12);
    raw.log_in();
    raw.connect();
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

#[test]
fn the_lan_manager_pipe_lists_shares_and_servers() {
    let server = Server::new(Offer { user: None, ..offer() });
    let mut raw = Raw::negotiated(&server, &[], dialect::LANMAN1);
    raw.log_in();
    let words = [0xff, 0, 0, 1];
    raw.say(c::TREE_CONNECT_ANDX, &words, b"\0\\\\S\\IPC$\0IPC\0");
    raw.tid = 2;
    let ask = |raw: &mut Raw, pipe: &[u8], parameters: &[u8], max_data| {
        let lead = [pipe, &[0]].concat();
        let request = Request {
            max_parameters: 8,
            max_data,
            setup: &[],
            lead: &lead,
            ..Request::whole(&[0; 2], parameters, b"")
        };
        parsed(&raw.ask(c::TRANSACTION, |writer| request.emit(writer))[0])
    };
    let words = |words: [u16; 4]| words.map(u16::to_le_bytes).concat();
    let name = |name: &[u8], len: usize| {
        let mut field = name.to_vec();
        field.resize(len, 0);
        field
    };
    // [MS-RAP] 2.5.6.1: name, a pad, type (0 of files, 3 of pipes), where the remark is.
    let share = |of: &[u8], kind, at| [&name(of, 13)[..], &[0, kind, 0, at, 0, 0, 0]].concat();
    let (files, pipes) = (share(b"SHARE", 0, 40), share(b"IPC$", 3, 41));
    let shares = [&files[..], &pipes, b"\0\0"].concat();
    let server = |of: &[u8], kinds: u32, at: u8| {
        [&name(of, 16)[..], &[4, 0], &kinds.to_le_bytes(), &[at, 0, 0, 0]].concat()
    };
    let own = [&server(b"SERVER", 3, 26)[..], b"lanlab\0"].concat();
    let group = [&server(b"WORKGROUP", 0x8000_0000, 26)[..], b"SERVER\0"].concat();
    let room = b"\x01\0\0\x10";
    let servers =
        |kinds: u32| [&b"\x68\0WrLehDz\0B16BBDz\0"[..], room, &kinds.to_le_bytes(), b"\0"].concat();
    let one = |ending: &[u8]| [&b"\x01\0zWrLh\0B13BWz\0"[..], ending, &[0], room].concat();
    let workstation = {
        let strings = b"SERVER\0\0WORKGROUP\0WORKGROUP\0\0";
        let pointers: Vec<u8> =
            [22, 29, 30].into_iter().flat_map(|at: u32| at.to_le_bytes()).collect();
        let more: Vec<u8> = [40, 50].into_iter().flat_map(|at: u32| at.to_le_bytes()).collect();
        [&pointers[..], &[4, 0], &more, strings].concat()
    };
    let len = |octets: &[u8]| [0, 0, octets.len() as u16].map(u16::to_le_bytes).concat();
    let one_share = [&share(b"SHARE", 0, 20)[..], b"\0"].concat();
    let only = [&files[..13], &[0, 0, 0, 20, 0, 0, 0], b"\0"].concat();
    let cases = [
        (b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10".to_vec(), 4000, (words([0, 0, 2, 2]), shares)),
        // As many as have room, and how many there are (ERROR_MORE_DATA).
        (b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10".to_vec(), 41, (words([234, 0, 1, 2]), only)),
        (b"\0\0WrLeh\0B13BWz\0\x02\0\0\x10".to_vec(), 4000, (words([124, 0, 0, 0]), vec![])),
        (one(b"share"), 4000, (len(&one_share), one_share)),
        (one(b"other"), 4000, (words([2310, 0, 0, 0]), vec![])),
        (b"\x0d\0WrLh\0B16BBDz\0\x01\0\0\x10".to_vec(), 4000, (len(&own), own.clone())),
        (b"\x3f\0WrLh\0zzzBBzz\0\x0a\0\0\x10".to_vec(), 4000, (len(&workstation), workstation)),
        (servers(0xffff_ffff), 4000, (words([0, 0, 1, 1]), group.clone())),
        (servers(0x8000_0000), 4000, (words([0, 0, 1, 1]), group)),
        (servers(2), 4000, (words([0, 0, 1, 1]), own.clone())),
        (servers(0), 4000, (words([0, 0, 1, 1]), own.clone())),
        (servers(0x4000_0000), 4000, (words([0, 0, 1, 1]), own)),
        // A server that is asked for its kind alone, which this one is not.
        (servers(8), 4000, (words([0, 0, 0, 0]), vec![])),
        (servers(0x4000_0008), 4000, (words([0, 0, 0, 0]), vec![])),
        (b"\xd6\0zb16g16\0\0".to_vec(), 4000, (words([50, 0, 0, 0]), vec![])),
    ];
    for (parameters, max_data, expected) in cases {
        let found = ask(&mut raw, b"\\pipe\\LANMAN", &parameters, max_data);
        assert_eq!(found, Ok(expected), "{}", parameters.escape_ascii());
    }
    let shares = b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10";
    let other = ask(&mut raw, b"\\PIPE\\OTHER", shares, 4000);
    assert_eq!(other, Err(error::OBJECT_NAME_NOT_FOUND.name));
    assert_eq!(ask(&mut raw, b"\\PIPE\\LANMAN", b"\0", 4000), Err(error::NON_SPECIFIC.name));
    // Where the room that is said is short, the answer is (here of the request itself).
    let little = ask(&mut raw, b"\\PIPE\\LANMAN", b"\0\0WrLeh\0B13BWz\0\x01\0\x28\0", 4000);
    assert_eq!(little.unwrap().0, words([234, 0, 1, 2]));
}

#[test]
fn a_transaction_runs_once_all_parts_have_arrived() {
    let mut raw = raw();
    let whole = b"\x01\0\0\0\0\0a long name.text\0";
    let begin = |raw: &mut Raw, total_data| {
        let setup = 5_u16.to_le_bytes();
        let request = Request {
            total_parameters: whole.len() as u16,
            total_data,
            max_data: 4000,
            parameters: &whole[..5],
            ..Request::whole(&setup, &[], b"")
        };
        let said = raw.ask(c::TRANSACTION2, |writer| request.emit(writer));
        super::raw::ended(&said)
    };
    let secondary =
        |raw: &mut Raw, (at, parameters): (u16, &[u8]), (data_at, data): (u16, &[u8])| {
            let secondary = Secondary {
                total_parameters: whole.len() as u16,
                total_data: data_at + data.len() as u16,
                parameter_displacement: at,
                data_displacement: data_at,
                fid: Some(0xffff),
                parameters,
                data,
            };
            raw.ask_as(raw.mid, c::TRANSACTION2_SECONDARY, |writer| secondary.emit(writer))
        };
    let expected = raw.of_path(1, "a long name.text").unwrap();
    assert_eq!(begin(&mut raw, 0), [(raw.mid, Some("success"))], "the rest is asked for");
    assert_eq!(secondary(&mut raw, (5, &whole[5..9]), (0, b"")), Vec::<Vec<u8>>::new());
    let said = secondary(&mut raw, (9, &whole[9..]), (0, b""));
    assert_eq!(parsed(&said[0]).unwrap().1, expected);
    // Data are waited for as parameters are.
    assert_eq!(begin(&mut raw, 2), [(raw.mid, Some("success"))]);
    assert_eq!(secondary(&mut raw, (5, &whole[5..]), (0, b"")), Vec::<Vec<u8>>::new());
    assert_eq!(secondary(&mut raw, (23, b""), (0, b"x")), Vec::<Vec<u8>>::new());
    let said = secondary(&mut raw, (23, b""), (1, b"y"));
    assert_eq!(parsed(&said[0]).unwrap().1, expected);
    // A part of nothing, one beyond the end, and one of another request are refused.
    for (at, part) in [(5, &b""[..]), (6, &whole[5..]), (0x7000, &whole[5..6])] {
        begin(&mut raw, 0);
        let said = secondary(&mut raw, (at, part), (0, b""));
        assert_eq!(parsed(&said[0]), Err(error::NON_SPECIFIC.name), "{at}");
    }
    begin(&mut raw, 0);
    raw.mid += 1;
    let said = secondary(&mut raw, (5, &whole[5..]), (0, b""));
    assert_eq!(parsed(&said[0]), Err(error::NON_SPECIFIC.name), "another request");
    // 16 KiB of both are the most.
    let most = (16 << 10) - whole.len() as u16;
    assert_eq!(begin(&mut raw, most), [(raw.mid, Some("success"))]);
    let refused = Some(error::INSUFFICIENT_RESOURCES.name);
    assert_eq!(begin(&mut raw, most + 1), [(raw.mid, refused)]);
}
