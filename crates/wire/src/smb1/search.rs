//! Listing of directories with 8.3 names: search of the core protocol, find, find unique and find
//! close of LAN Manager.
//!
//! Source: [MS-CIFS] 2.2.4.58 (search), 2.2.4.59 (find), 2.2.4.60 (find unique), 2.2.4.61 (find
//! close).

use super::andx::Block;
use super::reader::Reader;
use super::strings::Text;
use super::time::DateTime;
use super::writer::Writer;
use super::{ASCII, VARIABLE};
use crate::Error;

pub const RESUME_KEY_LEN: usize = 21;
pub const ENTRY_LEN: usize = 43;
pub const NAME_LEN: usize = 13;

/// Where a listing continues. Only the server that made it can interpret it, except for the last
/// four octets, which belong to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumeKey(pub [u8; RESUME_KEY_LEN]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    pub max_count: u16,
    /// Attributes that files may have. The volume attribute alone requests the volume's label.
    pub search_attributes: u16,
    pub name: Text<'a>,
    pub resume_key: Option<ResumeKey>,
}

impl<'a> Request<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(2)?;
        let mut bytes = block.bytes()?;
        bytes.format(ASCII)?;
        let name = bytes.text(block.is_unicode());
        bytes.format(VARIABLE)?;
        let at = bytes.offset();
        let resume_key = match usize::from(bytes.u16()?) {
            0 => None,
            RESUME_KEY_LEN => Some(ResumeKey(bytes.array()?)),
            other => return Err(bytes.forbidden("ResumeKeyLength", at, other as u64)),
        };
        Ok(Self { max_count: words.u16()?, search_attributes: words.u16()?, name, resume_key })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.words(2);
        writer.u16(self.max_count);
        writer.u16(self.search_attributes);
        writer.begin_bytes();
        writer.path(self.name);
        writer.u8(VARIABLE);
        match self.resume_key {
            None => writer.u16(0),
            Some(ResumeKey(key)) => {
                writer.u16(RESUME_KEY_LEN as u16);
                writer.octets(&key);
            }
        }
        writer.end();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub resume_key: ResumeKey,
    pub attributes: u8,
    pub last_write: DateTime,
    pub size: u32,
    /// Name in the code page, followed by zeros. [MS-CIFS] 2.2.4.58.2 says blanks, but clients need
    /// zeros.
    pub name: [u8; NAME_LEN],
}

impl Entry {
    pub fn text(&self) -> Text<'_> {
        let end = self.name.iter().position(|octet| *octet == 0).unwrap_or(NAME_LEN);
        let blanks = self.name[..end].iter().rev().take_while(|octet| **octet == b' ').count();
        Text::Oem(&self.name[..end - blanks])
    }

    /// The field for a name. `None` for more than 12 octets.
    pub fn name_field(name: &[u8]) -> Option<[u8; NAME_LEN]> {
        let mut field = [0; NAME_LEN];
        field.get_mut(..name.len()).filter(|_| name.len() < NAME_LEN)?.copy_from_slice(name);
        Some(field)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let (resume_key, attributes, time, date, size, name) = reader.field()?;
        let last_write = DateTime { date, time };
        Ok(Self { resume_key: ResumeKey(resume_key), attributes, last_write, size, name })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        let DateTime { date, time } = self.last_write;
        writer.field((self.resume_key.0, self.attributes, time, date, self.size, self.name));
    }
}

/// Response of search, find and find unique, as read. The response of find close has no entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    octets: &'a [u8],
}

impl<'a> Response<'a> {
    /// Read the response. The count must match the entries.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let count = usize::from(block.words(1)?.u16()?);
        let mut bytes = block.bytes()?;
        if count == 0 && bytes.left() == 0 {
            return Ok(Self { octets: &[] });
        }
        bytes.format(VARIABLE)?;
        let at = bytes.offset();
        let len = usize::from(bytes.u16()?);
        if len != count * ENTRY_LEN {
            return Err(bytes.forbidden("DataLength", at, len as u64));
        }
        Ok(Self { octets: bytes.take(len)? })
    }

    pub const fn len(&self) -> usize {
        self.octets.len() / ENTRY_LEN
    }

    pub const fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    pub fn entries(&self) -> impl Iterator<Item = Entry> + use<'a> {
        let mut reader = Reader::whole("smb1 search", self.octets);
        core::iter::from_fn(move || Entry::read(&mut reader).ok())
    }
}

/// Write a response, of at most 1,523 entries.
pub fn emit_response(entries: &[Entry], writer: &mut Writer<'_>) {
    writer.words(1);
    writer.u16(entries.len() as u16);
    writer.begin_bytes();
    writer.u8(VARIABLE);
    writer.u16((entries.len() * ENTRY_LEN) as u16);
    for entry in entries {
        entry.write(writer);
    }
    writer.end();
}
