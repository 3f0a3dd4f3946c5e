//! What is fed to the parsers of SMB 1 and of NetBIOS over TCP: for the fuzz target, and for the test
//! that feeds it all seeds.

#[path = "../../crates/wire/tests/smb1/again.rs"]
mod again;
#[path = "../../crates/wire/tests/smb1/facts.rs"]
mod facts;

use lanlab_wire::nbss::{Framing, HEADER_LEN, Header, Packet};
use lanlab_wire::netbios_name::Name;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::{find, wildcard};
use lanlab_wire::{nbns, smb1};

/// What the first octet chooses: whose message of SMB 1, a datagram, a packet, a listing, a name.
pub fn smb1_messages(octets: &[u8]) {
    let Some((kind, octets)) = octets.split_first() else { return };
    match kind % 6 {
        side @ 0..2 => message(octets, side == 1),
        2 => datagram(octets),
        3 => packet(octets),
        4 => listing(octets),
        _ => names(octets),
    }
}

/// What was written of a message is read to the same once more.
fn message(octets: &[u8], from_client: bool) {
    if let Ok(Some(written)) = again::again(octets, from_client)
        && let Ok(Some(second)) = again::again(&written, from_client)
    {
        assert_eq!(again::again(&second, from_client), Ok(Some(second.clone())));
    }
    let _ = facts::facts(octets, from_client);
}

fn datagram(octets: &[u8]) {
    if let Ok(query) = nbns::Query::parse(octets) {
        let mut out = Vec::new();
        query.emit(&mut out);
        assert_eq!(nbns::Query::parse(&out), Ok(query));
    }
    if let Ok(response) = nbns::Response::parse(octets) {
        match response.answer {
            nbns::Answer::Addresses { addresses, .. } => {
                assert!(addresses.iter().count() <= 10_922);
            }
            nbns::Answer::Status { names } => assert!(names.iter().count() <= 255),
            nbns::Answer::Negative { code } => assert_ne!(code, 0),
        }
    }
}

fn packet(octets: &[u8]) {
    for framing in [Framing::Session, Framing::Direct] {
        let Ok(header) = Header::parse(octets, framing) else { continue };
        let Some(payload) = octets[HEADER_LEN..].get(..header.len) else { continue };
        if let Ok(packet) = Packet::parse(header.kind, payload) {
            let mut out = Vec::new();
            packet.emit(framing, &mut out).unwrap();
            assert_eq!(Packet::parse(header.kind, &out[HEADER_LEN..]), Ok(packet));
        }
    }
    let _ = Name::parse_and_skip_scope(octets);
}

fn listing(octets: &[u8]) {
    let Some((head, data)) = octets.split_first_chunk::<2>() else { return };
    let (count, unicode) = (u16::from(head[0]), head[1] & 1 != 0);
    let keys = head[1] & 2 != 0;
    let listed = find::Standards::new(data, count, keys, unicode).count();
    assert!(listed <= usize::from(count));
    let listed = find::BothDirectories::new(data, count, unicode).count();
    assert!(listed <= usize::from(count));
    let _ = find::Found::parse(data, keys);
    let _ = smb1::file_information::All::parse(data);
    let _ = smb1::file_system_information::Volume::parse(data);
    let _ = smb1::file_system_information::Attribute::parse(data);
}

fn names(octets: &[u8]) {
    let even = &octets[..octets.len() & !1];
    for text in [Text::Oem(octets), Text::Utf16(even)] {
        assert!(text.decode().chars().count() <= octets.len());
    }
    let (pattern, name) = octets.split_at(octets.len() / 2);
    let (pattern, name) = (String::from_utf8_lossy(pattern), String::from_utf8_lossy(name));
    let _ = wildcard::matches(&pattern, &name);
    let _ = wildcard::matches_dos(&pattern, &name);
    let _ = wildcard::matches(&wildcard::from_dos(&pattern), &name);
}
