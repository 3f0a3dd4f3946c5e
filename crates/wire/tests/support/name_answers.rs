//! Answers of `NetBIOS` name servers, as Samba sends them (RFC 1002, sections 4.2.13 and 4.2.14). The module that
//! includes this one has `Query` in scope.

use std::net::Ipv4Addr;

use super::Query;

/// A response that is authoritative, with recursion desired.
const FLAGS: u16 = 0x8500;
const TYPE_NAME: u16 = 0x0020;
const TYPE_NULL: u16 = 0x000a;
const CLASS_INTERNET: u16 = 1;

fn put_words(words: &[u16], out: &mut Vec<u8>) {
    out.extend(words.iter().flat_map(|word| word.to_be_bytes()));
}

pub fn emit_addresses(query: &Query, ttl_s: u32, addresses: &[(u16, Ipv4Addr)], out: &mut Vec<u8>) {
    put_words(&[query.id, FLAGS, 0, 1, 0, 0], out);
    query.name.emit_plain(out);
    put_words(&[TYPE_NAME, CLASS_INTERNET], out);
    out.extend_from_slice(&ttl_s.to_be_bytes());
    put_words(&[(6 * addresses.len()) as u16], out);
    for (flags, address) in addresses {
        put_words(&[*flags], out);
        out.extend_from_slice(&address.octets());
    }
}

/// The response for an unknown name. It counts its empty record, as Samba's does.
pub fn emit_negative(query: &Query, code: u8, out: &mut Vec<u8>) {
    put_words(&[query.id, FLAGS | u16::from(code), 0, 1, 0, 0], out);
    query.name.emit_plain(out);
    put_words(&[TYPE_NULL, CLASS_INTERNET, 0, 0, 0], out);
}
