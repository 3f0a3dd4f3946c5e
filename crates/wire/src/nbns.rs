//! Datagrams of the NetBIOS name service: the address of a name, and the names of a host.
//!
//! Source: RFC 1002, section 4.2, on UDP port 137. All fields big-endian. lanlab claims no names: a
//! server answers for its own name, a client queries.

use core::net::Ipv4Addr;

use crate::Error;
use crate::fields::{Field, Order};
use crate::netbios_name::{NAME_LEN, Name};

const FORMAT: &str = "nbns";

pub const PORT: u16 = 137;
/// Longest datagram (RFC 1002, section 4.2.1.1 and RFC 1001, section 17.1.3), octets.
pub const MAX_DATAGRAM_LEN: usize = 576;

const HEADER_LEN: usize = 12;
const RESPONSE: u16 = 0x8000;
const OPCODE: u16 = 0x7800;
const RECURSION_DESIRED: u16 = 0x0100;
const BROADCAST: u16 = 0x0010;
const RETURN_CODE: u16 = 0x000f;

/// The two highest bits of a pointer to a name elsewhere in the datagram.
const POINTER: u16 = 0xc000;
const TYPE_NAME: u16 = 0x0020;
const TYPE_STATUS: u16 = 0x0021;
const CLASS_INTERNET: u16 = 1;

/// Response code: the name does not exist (RFC 1002, section 4.2.14).
pub const NAME_ERROR: u8 = 3;
pub const GROUP: u16 = 0x8000;
/// Flag of a name in a status response: in use.
pub const ACTIVE: u16 = 0x0400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Addresses of a name (section 4.2.12).
    Addresses,
    /// Names of a host (section 4.2.17).
    Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    pub id: u16,
    pub broadcast: bool,
    pub recursion_desired: bool,
    pub question: Question,
    pub name: Name,
}

impl Query {
    pub fn parse(datagram: &[u8]) -> Result<Self, Error> {
        let flags = word(datagram, 2)?;
        if flags & (RESPONSE | OPCODE) != 0 {
            return forbidden("FLAGS", 2, flags);
        }
        let questions = word(datagram, 4)?;
        if questions != 1 {
            return forbidden("QDCOUNT", 4, questions);
        }
        let (name, name_len) = Name::parse_and_skip_scope(rest(datagram, HEADER_LEN)?)?;
        let at = HEADER_LEN + name_len;
        let question = match word(datagram, at)? {
            TYPE_NAME => Question::Addresses,
            TYPE_STATUS => Question::Status,
            other => return forbidden("QUESTION_TYPE", at, other),
        };
        let class = word(datagram, at + 2)?;
        if class != CLASS_INTERNET {
            return forbidden("QUESTION_CLASS", at + 2, class);
        }
        Ok(Self {
            id: word(datagram, 0)?,
            broadcast: flags & BROADCAST != 0,
            recursion_desired: flags & RECURSION_DESIRED != 0,
            question,
            name,
        })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let kind = match self.question {
            Question::Addresses => TYPE_NAME,
            Question::Status => TYPE_STATUS,
        };
        let mut flags = if self.recursion_desired { RECURSION_DESIRED } else { 0 };
        if self.broadcast {
            flags |= BROADCAST;
        }
        put_words(&[self.id, flags, 1, 0, 0, 0], out);
        self.name.emit_plain(out);
        put_words(&[kind, CLASS_INTERNET], out);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Claim the name (section 4.2.2; with several addresses, opcode 15 of Windows).
    Register,
    /// Keep the name (section 4.2.4).
    Refresh,
    /// Release the name (section 4.2.9).
    Release,
}

/// A request about the sender's own name, to all hosts or to a name server. Names have no scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub id: u16,
    pub broadcast: bool,
    pub wish: Wish,
    pub name: Name,
    pub is_group: bool,
    pub address: Ipv4Addr,
}

impl Request {
    pub fn parse(datagram: &[u8]) -> Result<Self, Error> {
        let flags = word(datagram, 2)?;
        // Section 4.2.1.1 gives 8 for a refresh, but its table gives 9: both are in use.
        let wish = match (flags & (RESPONSE | OPCODE)) >> 11 {
            5 | 15 => Wish::Register,
            6 => Wish::Release,
            8 | 9 => Wish::Refresh,
            _ => return forbidden("FLAGS", 2, flags),
        };
        for (field, at) in [("QDCOUNT", 4), ("ARCOUNT", 10)] {
            let count = word(datagram, at)?;
            if count != 1 {
                return forbidden(field, at, count);
            }
        }
        let (name, name_len) = Name::parse_and_skip_scope(rest(datagram, HEADER_LEN)?)?;
        let kind_at = HEADER_LEN + name_len;
        let kind = word(datagram, kind_at)?;
        if kind != TYPE_NAME {
            return forbidden("QUESTION_TYPE", kind_at, kind);
        }
        // The record repeats the question's name, usually as a pointer to it (section 4.2.1.3).
        let record_at = kind_at + 4;
        let is_pointer = word(datagram, record_at)? & POINTER == POINTER;
        let at = record_at
            + if is_pointer {
                2
            } else {
                Name::parse_and_skip_scope(rest(datagram, record_at)?)?.1
            };
        let (kind, len) = (word(datagram, at)?, word(datagram, at + 8)?);
        if kind != TYPE_NAME {
            return forbidden("RR_TYPE", at, kind);
        }
        // If there are several addresses, use the first.
        if len < 6 {
            return forbidden("RDLENGTH", at + 8, len);
        }
        let name_flags = word(datagram, at + 10)?;
        let [high, low] = [word(datagram, at + 12)?, word(datagram, at + 14)?];
        Ok(Self {
            id: word(datagram, 0)?,
            broadcast: flags & BROADCAST != 0,
            wish,
            name,
            is_group: name_flags & GROUP != 0,
            address: Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    pub id: u16,
    pub name: Name,
    pub answer: Answer<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// Addresses of the name (section 4.2.13).
    Addresses { ttl_s: u32, addresses: Records<'a, 6> },
    /// Names of the host (section 4.2.18).
    Status { names: Records<'a, 18> },
    /// No data, for this reason (section 4.2.14).
    Negative {
        /// Code of the reason: [`NAME_ERROR`] or another non-zero code.
        code: u8,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Records<'a, const N: usize>(&'a [u8]);

impl Records<'_, 6> {
    pub fn iter(&self) -> impl Iterator<Item = (u16, Ipv4Addr)> {
        self.0.chunks_exact(6).map(|record| Field::read(record, Order::Big))
    }
}

impl Records<'_, 18> {
    pub fn iter(&self) -> impl Iterator<Item = (Name, u16)> {
        self.0.chunks_exact(NAME_LEN + 2).map(|record| Field::read(record, Order::Big))
    }
}

impl<'a> Response<'a> {
    pub fn parse(datagram: &'a [u8]) -> Result<Self, Error> {
        let flags = word(datagram, 2)?;
        if flags & (RESPONSE | OPCODE) != RESPONSE {
            return forbidden("FLAGS", 2, flags);
        }
        let (questions, answers) = (word(datagram, 4)?, word(datagram, 6)?);
        if questions != 0 {
            return forbidden("QDCOUNT", 4, questions);
        }
        let id = word(datagram, 0)?;
        let (name, name_len) = Name::parse_and_skip_scope(rest(datagram, HEADER_LEN)?)?;
        let code = (flags & RETURN_CODE) as u8;
        if code != 0 {
            return Ok(Self { id, name, answer: Answer::Negative { code } });
        }
        if answers != 1 {
            return forbidden("ANCOUNT", 6, answers);
        }
        let at = HEADER_LEN + name_len;
        let kind = word(datagram, at)?;
        let ttl_s = u32::from(word(datagram, at + 4)?) << 16 | u32::from(word(datagram, at + 6)?);
        let len = usize::from(word(datagram, at + 8)?);
        Error::need(FORMAT, datagram, at + 10 + len)?;
        let data = &datagram[at + 10..at + 10 + len];
        let answer = match kind {
            TYPE_NAME => Answer::Addresses { ttl_s, addresses: Records(data) },
            TYPE_STATUS => {
                let count = usize::from(*data.first().unwrap_or(&0));
                let need = at + 11 + count * (NAME_LEN + 2);
                let truncated = Error::Truncated { format: FORMAT, need, got: at + 10 + len };
                let names = data.get(1..=count * (NAME_LEN + 2)).ok_or(truncated)?;
                Answer::Status { names: Records(names) }
            }
            other => return forbidden("RR_TYPE", at, other),
        };
        Ok(Self { id, name, answer })
    }
}

fn forbidden<T>(field: &'static str, offset: usize, value: u16) -> Result<T, Error> {
    Err(Error::forbidden(FORMAT, field, offset, value))
}

fn rest(datagram: &[u8], at: usize) -> Result<&[u8], Error> {
    datagram.get(at..).ok_or_else(|| Error::truncated(FORMAT, datagram, at))
}

fn word(datagram: &[u8], at: usize) -> Result<u16, Error> {
    Error::need(FORMAT, datagram, at + 2)?;
    Ok(u16::read(&datagram[at..at + 2], Order::Big))
}

fn put_words(words: &[u16], out: &mut Vec<u8>) {
    for word in words {
        out.extend_from_slice(&word.to_be_bytes());
    }
}

#[cfg(test)]
mod tests;
