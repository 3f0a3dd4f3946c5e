//! Connects to a share, from LAN Manager on.
//!
//! Source: [MS-CIFS] 2.2.4.55; the longer response [MS-SMB] 2.2.4.7.2.

use super::andx::Block;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Bit 0 first disconnects the header's share; bit 3 allows the longer response.
    pub flags: u16,
    /// Password of the share, plain with its NUL or as response to the challenge. A single zero if
    /// users log on.
    pub password: &'a [u8],
    pub path: Text<'a>,
    /// Type that the client expects: `A:`, `LPT1:`, `COMM`, `IPC` or `?????`. Never UTF-16LE.
    pub service: Text<'a>,
}

impl<'a> Request<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.andx_words(4)?;
        let (flags, password_len) = (words.u16()?, usize::from(words.u16()?));
        let mut bytes = block.bytes()?;
        let password = bytes.take(password_len)?;
        Ok(Self {
            flags,
            password,
            path: bytes.text(block.is_unicode()),
            service: bytes.text(false),
        })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.andx_words(4);
        writer.u16(self.flags);
        writer.u16(self.password.len() as u16);
        writer.begin_bytes();
        writer.octets(self.password);
        writer.text(self.path);
        writer.text(self.service);
        writer.end();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response<'a> {
    /// Support for searches and for the distributed file system. Not in LAN Manager.
    pub optional_support: Option<u16>,
    /// Maximum access of the user and of guests. Only in the longer form, which needs
    /// `optional_support`.
    pub max_access: Option<(u32, u32)>,
    /// Type of the share: `A:`, `LPT1:`, `COMM` or `IPC`.
    pub service: Text<'a>,
    pub file_system: Option<Text<'a>>,
}

impl<'a> Response<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.andx_words(2)?;
        let (optional_support, max_access) = match block.word_count() {
            2 => (None, None),
            3 => (Some(words.u16()?), None),
            7 => (Some(words.u16()?), Some((words.u32()?, words.u32()?))),
            _ => return Err(block.bad_word_count()),
        };
        let mut bytes = block.bytes()?;
        let service = bytes.text(false);
        let file_system = (bytes.left() > 0).then(|| bytes.text(block.is_unicode()));
        Ok(Self { optional_support, max_access, service, file_system })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.andx_words(match (self.optional_support, self.max_access) {
            (None, _) => 2,
            (Some(_), None) => 3,
            (Some(_), Some(_)) => 7,
        });
        if let Some(support) = self.optional_support {
            writer.u16(support);
            if let Some((user, guest)) = self.max_access {
                writer.u32(user);
                writer.u32(guest);
            }
        }
        writer.begin_bytes();
        writer.text(self.service);
        if let Some(file_system) = self.file_system {
            writer.text(file_system);
        }
        writer.end();
    }
}
