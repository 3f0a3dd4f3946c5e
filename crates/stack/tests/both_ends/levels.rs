//! Information levels of LAN Manager and Windows NT.

use lanlab_wire::smb1::file_information::{All, Basic, Sizes, Standard};
use lanlab_wire::smb1::file_system_information::{
    Allocation, Attribute, Device, FullSize, Size, Volume,
};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::time::DateTime;

use super::answers::{DATE, TIME};
use super::raw::Raw;
use super::transactions::raw;

/// When files in memory are written, in ticks of 100 ns since 1601.
pub const TICKS: u64 = (11_644_473_600 + 800_000_000) * 10_000_000;
pub const MOMENT: DateTime = DateTime { date: DATE, time: TIME };

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

fn standard(last_write: DateTime, size: u32, attributes: u16) -> Standard {
    let (creation, last_access) = (MOMENT, MOMENT);
    Standard { creation, last_access, last_write, size, allocation_size: size, attributes }
}

fn basic(others: u64, last_write_time: u64, attributes: u32) -> Basic {
    let (creation_time, last_access_time, change_time) = (others, others, others);
    Basic { creation_time, last_access_time, last_write_time, change_time, attributes }
}

#[test]
fn each_level_describes_a_file_and_a_directory() {
    let mut raw = raw();
    let file = "a long name.text";
    for (name, size, attributes, is_directory) in
        [(file, 0x1234, 0x20_u16, false), ("SUB", 0, 0x10, true)]
    {
        let standard = emitted(|out| standard(MOMENT, size, attributes).emit(out));
        let basic = basic(TICKS, TICKS, attributes.into());
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
    let (sectors_per_unit, sector_size) = (8, 512);
    let (total_units, free_units) = (1 << 18, 1 << 17);
    let allocation = Allocation { id: 0, sectors_per_unit, total_units, free_units, sector_size };
    let (total_units, free_units, available_units) = (1 << 18, 1 << 17, 1 << 17);
    let sector_size = sector_size.into();
    let size = Size { total_units, free_units, sectors_per_unit, sector_size };
    let size = emitted(|out| size.emit(out));
    let full = FullSize { total_units, available_units, free_units, sectors_per_unit, sector_size };
    let (label, ntfs) = (utf16("LANLAB"), utf16("NTFS"));
    let (label, name) = (Text::Utf16(&label), Text::Utf16(&ntfs));
    // Names keep their case, and are Unicode: FILE_CASE_PRESERVED_NAMES, FILE_UNICODE_ON_DISK.
    let attribute = emitted(|out| Attribute { attributes: 6, max_name_len: 255, name }.emit(out));
    for (level, expected) in [
        (0x0001, emitted(|out| allocation.emit(out))),
        (0x0002, b"\0\0\0\0\x06LANLAB\0".to_vec()),
        (0x0102, emitted(|out| Volume { creation_time: 0, serial_number: 0, label }.emit(out))),
        (0x0103, size.clone()),
        (1003, size),
        (1007, emitted(|out| full.emit(out))),
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
    let standard = |last_write| emitted(|out| standard(last_write, 0, 0).emit(out));
    let basic = |seconds: u64, attributes| {
        let last_write_time = if seconds == 0 { 0 } else { TICKS + seconds * 10_000_000 + 7 };
        emitted(|out| basic(0, last_write_time, attributes).emit(out))
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
