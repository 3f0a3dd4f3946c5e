//! Logon of a user.
//!
//! Source: [MS-CIFS] 2.2.4.53 (forms of LAN Manager and Windows NT), [MS-SMB] 2.2.4.6 (extended
//! security). The number of words determines the form.

use super::andx::Block;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

pub mod action {
    pub const GUEST: u16 = 0x01;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    pub max_buffer: u16,
    pub max_mpx: u16,
    /// Number of the virtual circuit. Zero makes a server end the client's other sessions.
    pub vc_number: u16,
    pub session_key: u32,
    pub logon: Logon<'a>,
    pub native_os: Text<'a>,
    pub native_lan_manager: Text<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logon<'a> {
    /// Form of LAN Manager, 10 words.
    LanMan { password: &'a [u8], account: Text<'a>, domain: Text<'a> },
    /// Form of Windows NT, 13 words.
    Nt {
        oem_password: &'a [u8],
        /// NT response, or plain password in UTF-16LE.
        unicode_password: &'a [u8],
        /// Bits of [`capabilities`](super::negotiate::capabilities).
        capabilities: u32,
        account: Text<'a>,
        domain: Text<'a>,
    },
    /// Extended security, 12 words.
    Extended {
        blob: &'a [u8],
        /// Bits of [`capabilities`](super::negotiate::capabilities).
        capabilities: u32,
        domain: Option<Text<'a>>,
    },
}

impl<'a> Request<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let count = block.word_count();
        if !matches!(count, 10 | 12 | 13) {
            return Err(block.bad_word_count());
        }
        let mut words = block.andx_words(count)?;
        let (max_buffer, max_mpx, vc_number, session_key) = words.field()?;
        let len = usize::from(words.u16()?);
        let second_len = if count == 13 { usize::from(words.u16()?) } else { 0 };
        words.skip(4)?;
        let capabilities = if count == 10 { 0 } else { words.u32()? };

        let mut bytes = block.bytes()?;
        let unicode = block.is_unicode();
        let first = bytes.take(len)?;
        let unicode_password = bytes.take(second_len)?;
        let mut text = || bytes.text(unicode);
        let mut logon = match count {
            12 => Logon::Extended { blob: first, capabilities, domain: None },
            10 => Logon::LanMan { password: first, account: text(), domain: text() },
            _ => {
                let (oem_password, account, domain) = (first, text(), text());
                Logon::Nt { oem_password, unicode_password, capabilities, account, domain }
            }
        };
        let (native_os, native_lan_manager) = (text(), text());
        if let Logon::Extended { domain, .. } = &mut logon {
            *domain = (bytes.left() > 0).then(|| bytes.text(unicode));
        }
        Ok(Self {
            max_buffer,
            max_mpx,
            vc_number,
            session_key,
            logon,
            native_os,
            native_lan_manager,
        })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.andx_words(match self.logon {
            Logon::LanMan { .. } => 10,
            Logon::Nt { .. } => 13,
            Logon::Extended { .. } => 12,
        });
        writer.field((self.max_buffer, self.max_mpx, self.vc_number, self.session_key));
        match self.logon {
            Logon::LanMan { password, .. } => writer.field((password.len() as u16, 0_u32)),
            Logon::Nt { oem_password, unicode_password, capabilities, .. } => {
                writer.field([oem_password.len() as u16, unicode_password.len() as u16]);
                writer.field([0, capabilities]);
            }
            Logon::Extended { blob, capabilities, .. } => {
                writer.field((blob.len() as u16, 0_u32, capabilities));
            }
        }
        writer.begin_bytes();
        let last = match self.logon {
            Logon::LanMan { password, account, domain } => {
                writer.octets(password);
                writer.text(account);
                writer.text(domain);
                None
            }
            Logon::Nt { oem_password, unicode_password, account, domain, .. } => {
                writer.octets(oem_password);
                writer.octets(unicode_password);
                writer.text(account);
                writer.text(domain);
                None
            }
            Logon::Extended { blob, domain, .. } => {
                writer.octets(blob);
                domain
            }
        };
        writer.text(self.native_os);
        writer.text(self.native_lan_manager);
        if let Some(last) = last {
            writer.text(last);
        }
        writer.end();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response<'a> {
    /// Bits of [`action`].
    pub action: u16,
    pub blob: Option<&'a [u8]>,
    /// Names of the server. LAN Manager servers may send none.
    pub names: Option<Names<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Names<'a> {
    pub native_os: Text<'a>,
    pub native_lan_manager: Text<'a>,
    pub domain: Option<Text<'a>>,
}

impl<'a> Response<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.andx_words(3)?;
        let action = words.u16()?;
        let mut bytes = block.bytes()?;
        let blob = match block.word_count() {
            3 => None,
            4 => Some(bytes.take(usize::from(words.u16()?))?),
            _ => return Err(block.bad_word_count()),
        };
        let unicode = block.is_unicode();
        let names = (bytes.left() > 0).then(|| Names {
            native_os: bytes.text(unicode),
            native_lan_manager: bytes.text(unicode),
            domain: (bytes.left() > 0).then(|| bytes.text(unicode)),
        });
        Ok(Self { action, blob, names })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.andx_words(if self.blob.is_some() { 4 } else { 3 });
        writer.u16(self.action);
        if let Some(blob) = self.blob {
            writer.u16(blob.len() as u16);
        }
        writer.begin_bytes();
        writer.octets(self.blob.unwrap_or_default());
        if let Some(names) = self.names {
            writer.text(names.native_os);
            writer.text(names.native_lan_manager);
            if let Some(domain) = names.domain {
                writer.text(domain);
            }
        }
        writer.end();
    }
}
