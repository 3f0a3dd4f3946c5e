//! What transactions of other clients and servers hold is read, and written again to the same octets.

#[path = "smb1/frames.rs"]
mod frames;

use std::collections::BTreeMap;

use frames::{Frame, messages};
use lanlab_wire::Error;
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::{
    command, file_information, file_system_information, find, transaction, transaction2,
};
use proptest::prelude::*;

fn transactions(from_client: bool) -> Vec<Frame> {
    let mut found = messages();
    found.retain(|frame| {
        let header = Header::parse(frame.message()).unwrap();
        let block = Block::first(&header, frame.message()).unwrap();
        let is_one = header.command == command::TRANSACTION2 && !block.is_empty();
        is_one && frame.from_client == from_client
    });
    found
}

fn block(message: &[u8]) -> Block<'_> {
    Block::first(&Header::parse(message).unwrap(), message).unwrap()
}

/// Parameters of a request, read and written again.
fn parameters_again(request: &transaction::Request<'_>, unicode: bool) -> Result<Vec<u8>, Error> {
    let (mut out, parameters) = (Vec::new(), request.parameters);
    match request.subcommand() {
        Some(transaction2::FIND_FIRST2) => find::First::parse(parameters, unicode)?.emit(&mut out),
        Some(transaction2::FIND_NEXT2) => find::Next::parse(parameters, unicode)?.emit(&mut out),
        Some(transaction2::QUERY_FS_INFORMATION) => {
            transaction2::FileSystemQuery::parse(parameters)?.emit(&mut out);
        }
        Some(transaction2::QUERY_PATH_INFORMATION | transaction2::SET_PATH_INFORMATION) => {
            transaction2::Path::parse(parameters, unicode)?.emit(&mut out);
        }
        Some(transaction2::QUERY_FILE_INFORMATION) => {
            transaction2::File::parse(parameters)?.emit(&mut out);
        }
        Some(transaction2::SET_FILE_INFORMATION) => {
            transaction2::File::parse(parameters)?.emit(&mut out);
            // Reserved, and optional.
            out.extend([0; 2]);
        }
        Some(transaction2::CREATE_DIRECTORY) => {
            transaction2::CreateDirectory::parse(parameters, unicode)?.emit(&mut out);
        }
        _ => out.extend_from_slice(parameters),
    }
    Ok(out)
}

#[test]
fn request_parameters_round_trip() {
    let mut subcommands = BTreeMap::new();
    for frame in transactions(true) {
        let block = block(frame.message());
        let request = transaction::Request::parse(&block).unwrap();
        assert!(request.is_whole());
        let again = parameters_again(&request, block.is_unicode()).unwrap();
        let hex = hex::encode(frame.message());
        // smbclient and smbtorture put zeros after a name; smbtorture leaves out what is reserved.
        let (shorter, longer) = if again.len() < request.parameters.len() {
            (&again[..], request.parameters)
        } else {
            (request.parameters, &again[..])
        };
        assert_eq!(&longer[..shorter.len()], shorter, "{hex}");
        assert!(longer[shorter.len()..].iter().all(|octet| *octet == 0), "{hex}");
        assert!(longer.len() - shorter.len() <= 3, "{hex}");
        *subcommands.entry(request.subcommand().unwrap()).or_insert(0) += 1;
    }
    assert_eq!(
        subcommands,
        BTreeMap::from([
            (0, 1),
            (1, 11),
            (2, 7),
            (3, 15),
            (5, 12),
            (6, 1),
            (7, 4),
            (8, 4),
            (16, 1)
        ])
    );
}

/// Data of a level, read and written again. `None` if the level is not read.
fn data_again(frame: &Frame, data: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    use file_information::query;
    use file_system_information::level as file_system;
    let field = |name| frame.fields.get(name).and_then(|value: &&str| value.split('|').next());
    let level = |name| field(name).and_then(|value| value.parse::<u16>().ok());
    let mut out = Vec::new();
    match (level("qpi_loi"), level("qfsi_loi")) {
        (Some(query::BASIC | query::PASS_BASIC), _) => {
            file_information::Basic::parse(data)?.emit(&mut out);
        }
        (Some(query::STANDARD | query::PASS_STANDARD), _) => {
            file_information::Sizes::parse(data)?.emit(&mut out);
        }
        (Some(query::INFO_STANDARD), _) => file_information::Standard::parse(data)?.emit(&mut out),
        (Some(query::ALL), _) => file_information::All::parse(data)?.emit(&mut out),
        (_, Some(file_system::ALLOCATION)) => {
            file_system_information::Allocation::parse(data)?.emit(&mut out);
        }
        (_, Some(file_system::VOLUME)) => {
            file_system_information::Volume::parse(data)?.emit(&mut out);
        }
        (_, Some(file_system::SIZE | file_system::PASS_SIZE)) => {
            file_system_information::Size::parse(data)?.emit(&mut out);
        }
        (_, Some(file_system::PASS_FULL_SIZE)) => {
            file_system_information::FullSize::parse(data)?.emit(&mut out);
        }
        (_, Some(file_system::DEVICE)) => {
            file_system_information::Device::parse(data)?.emit(&mut out);
        }
        (_, Some(file_system::ATTRIBUTE | file_system::PASS_ATTRIBUTE)) => {
            file_system_information::Attribute::parse(data)?.emit(&mut out);
        }
        _ => return Ok(None),
    }
    Ok(Some(out))
}

#[test]
fn response_information_round_trips() {
    let mut levels = BTreeMap::new();
    for frame in transactions(false) {
        let block = block(frame.message());
        let response = transaction::Response::parse(&block).unwrap();
        let Some(again) = data_again(&frame, response.data).unwrap() else { continue };
        let hex = hex::encode(frame.message());
        let len = again.len().min(response.data.len());
        assert_eq!(again[..len], response.data[..len], "{hex}");
        assert!(again[len..].iter().chain(&response.data[len..]).all(|octet| *octet == 0), "{hex}");
        assert!(again.len().abs_diff(response.data.len()) <= 4, "{hex}");
        let field = |name| frame.fields.get(name).map(|level| format!("{name} {level}"));
        *levels.entry(field("qpi_loi").or(field("qfsi_loi")).unwrap()).or_insert(0) += 1;
    }
    println!("{levels:?}");
}

/// Entries of a listing, read and written again, with their names.
fn entries_again(
    level: u16,
    data: &[u8],
    count: u16,
    resume_keys: bool,
    unicode: bool,
) -> Result<(Vec<u8>, Vec<String>), Error> {
    let (mut out, mut names, mut last) = (Vec::new(), Vec::new(), None);
    if level == find::level::STANDARD {
        for entry in find::Standards::new(data, count, resume_keys, unicode) {
            let entry = entry?;
            let (start, len) = (out.len(), entry.len_at(out.len()));
            entry.emit(0, &mut out);
            assert_eq!(out.len(), start + len);
            names.push(entry.name.decode().into_owned());
        }
    } else {
        for entry in find::BothDirectories::new(data, count, unicode) {
            let entry = entry?;
            last = Some(entry.emit(0, last, &mut out));
            assert_eq!(out.len(), last.unwrap() + entry.len_at(find::level::BOTH_DIRECTORY));
            names.push(entry.name.decode().into_owned());
        }
    }
    Ok((out, names))
}

#[test]
fn short_entry_forms_omit_leading_fields() {
    let name = Text::Oem(b"NAME");
    let entry = find::BothDirectory { attributes: 0x20, ea_size: 7, name, ..Default::default() };
    let mut both = Vec::new();
    entry.emit(0, None, &mut both);
    for (level, head_len) in [(find::level::DIRECTORY, 64), (find::level::FULL_DIRECTORY, 68)] {
        let mut out = Vec::new();
        assert_eq!(entry.emit_at(level, 0, None, &mut out), 0);
        assert_eq!(out[..head_len], both[..head_len]);
        // Of a code page the terminator is counted.
        assert_eq!(out[60..64], 5_u32.to_le_bytes());
        assert_eq!(&out[head_len..], b"NAME\0");
        assert_eq!(out.len(), entry.len_at(level));
    }
}

#[test]
fn listings_round_trip() {
    let mut listed = 0;
    for frame in transactions(false) {
        let first = frame.fields.get("trans2.cmd") == Some(&"0x0001");
        let level = match frame.fields.get("ff2_loi") {
            Some(&"1|1") => find::level::STANDARD,
            Some(&"260|260") => find::level::BOTH_DIRECTORY,
            _ => continue,
        };
        let block = block(frame.message());
        let response = transaction::Response::parse(&block).unwrap();
        let found = find::Found::parse(response.parameters, first).unwrap();
        let mut parameters = Vec::new();
        found.emit(&mut parameters);
        assert_eq!(parameters, response.parameters);

        let is_both_directory = level == find::level::BOTH_DIRECTORY;
        // Only the request says whether there are keys.
        let read = [false, true].map(|resume_keys| {
            let unicode = block.is_unicode();
            entries_again(level, response.data, found.count, resume_keys, unicode)
        });
        let matching = read.into_iter().flatten().find(|(octets, _)| {
            let (same, rest) = response.data.split_at(octets.len().min(response.data.len()));
            let is_same = same == octets && rest.len() < 8 && rest.iter().all(|octet| *octet == 0);
            // Samba begins entries at multiples of 4, Windows NT and lanlab at multiples of 8.
            is_same
                || is_both_directory && {
                    let entries =
                        |data| find::BothDirectories::new(data, found.count, block.is_unicode());
                    entries(response.data).eq(entries(octets))
                }
        });
        let (_, names) = matching.unwrap_or_else(|| panic!("{}", hex::encode(frame.message())));
        assert_eq!(names.len(), usize::from(found.count));
        listed += 1;
    }
    assert_eq!(listed, 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_transaction_is_parsed_without_panic(data: Vec<u8>, count: u16, keys: bool, unicode: bool) {
        for level in [find::level::STANDARD, find::level::BOTH_DIRECTORY] {
            let _ = entries_again(level, &data, count, keys, unicode);
        }
        for subcommand in 0..20_u16 {
            let setup = subcommand.to_le_bytes();
            let request = transaction::Request::whole(&setup, &data, &[]);
            let _ = parameters_again(&request, unicode);
        }
        let _ = find::Found::parse(&data, keys);
        let _ = file_information::All::parse(&data);
        let _ = file_system_information::Volume::parse(&data);
        let _ = file_system_information::Attribute::parse(&data);
    }
}
