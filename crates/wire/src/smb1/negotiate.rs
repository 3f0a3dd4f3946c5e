//! Negotiation of the dialect.
//!
//! Source: [MS-CIFS] 2.2.4.52; the extended form [MS-SMB] 2.2.4.5.2.

use super::andx::Block;
use super::reader::Reader;
use super::strings::Text;
use super::writer::Writer;
use super::{DIALECT, command};
use crate::Error;

/// Names of dialects ([MS-CIFS] 1.7).
pub mod dialect {
    pub const CORE: &str = "PC NETWORK PROGRAM 1.0";
    pub const CORE_PLUS: &str = "MICROSOFT NETWORKS 1.03";
    /// Core protocol, under the name that some clients use.
    pub const PC_LAN: &str = "PCLAN1.0";
    /// LAN Manager 1.0 for DOS.
    pub const MICROSOFT_3: &str = "MICROSOFT NETWORKS 3.0";
    /// LAN Manager 1.0 for OS/2.
    pub const LANMAN1: &str = "LANMAN1.0";
    /// LAN Manager 2.0 for OS/2.
    pub const LM12: &str = "LM1.2X002";
    /// LAN Manager 2.0 for DOS.
    pub const DOS_LM12: &str = "DOS LM1.2X002";
    /// LAN Manager 2.1.
    pub const LANMAN21: &str = "LANMAN2.1";
    pub const NT_LM: &str = "NT LM 0.12";
}

/// Index in a response if the server supports none of the dialects.
pub const NO_DIALECT: u16 = 0xffff;

pub mod security {
    /// Users log on; otherwise each share has a password.
    pub const USER_LEVEL: u16 = 0x01;
    /// Passwords answer a challenge; otherwise they are plain.
    pub const ENCRYPTED: u16 = 0x02;
    pub const SIGNING_ENABLED: u16 = 0x04;
    /// Messages must be signed.
    pub const SIGNING_REQUIRED: u16 = 0x08;
}

pub mod raw_mode {
    pub const READ: u16 = 0x01;
    pub const WRITE: u16 = 0x02;
}

pub mod capabilities {
    pub const RAW_MODE: u32 = 0x0000_0001;
    pub const MPX_MODE: u32 = 0x0000_0002;
    /// UTF-16LE strings.
    pub const UNICODE: u32 = 0x0000_0004;
    /// 64-bit offsets.
    pub const LARGE_FILES: u32 = 0x0000_0008;
    pub const NT_SMBS: u32 = 0x0000_0010;
    /// NTSTATUS errors.
    pub const STATUS32: u32 = 0x0000_0040;
    pub const NT_FIND: u32 = 0x0000_0200;
    pub const LARGE_READX: u32 = 0x0000_4000;
    pub const LARGE_WRITEX: u32 = 0x0000_8000;
    pub const EXTENDED_SECURITY: u32 = 0x8000_0000;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    bytes: &'a [u8],
}

impl<'a> Request<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut bytes = block.bytes()?;
        let all = bytes;
        while bytes.left() > 0 {
            bytes.format(DIALECT)?;
            bytes.text(false);
        }
        let mut all = all;
        Ok(Self { bytes: all.rest() })
    }

    pub fn dialects(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut bytes = Reader::whole(command::name(command::NEGOTIATE), self.bytes);
        core::iter::from_fn(move || {
            bytes.format(DIALECT).ok()?;
            Some(bytes.text(false).octets())
        })
    }

    pub fn index_of(&self, dialect: &str) -> Option<u16> {
        let at = self.dialects().position(|found| found == dialect.as_bytes())?;
        u16::try_from(at).ok()
    }
}

pub fn emit_request(dialects: &[&str], writer: &mut Writer<'_>) {
    writer.words(0);
    writer.begin_bytes();
    for dialect in dialects {
        writer.u8(DIALECT);
        writer.text(Text::Oem(dialect.as_bytes()));
    }
    writer.end();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response<'a> {
    Core {
        /// Index of the dialect, or [`NO_DIALECT`].
        index: u16,
    },
    LanMan(LanMan<'a>),
    NtLm(NtLm<'a>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LanMan<'a> {
    pub index: u16,
    /// Bits of [`security`].
    pub security_mode: u16,
    pub max_buffer: u16,
    pub max_mpx: u16,
    pub max_vcs: u16,
    pub raw_mode: u16,
    pub session_key: u32,
    pub time: u16,
    pub date: u16,
    pub timezone_min: i16,
    pub challenge: &'a [u8],
    /// Domain of the server, from LAN Manager 2.1 on.
    pub domain: Option<Text<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NtLm<'a> {
    pub index: u16,
    /// Bits of [`security`].
    pub security_mode: u8,
    pub max_mpx: u16,
    pub max_vcs: u16,
    pub max_buffer: u32,
    /// Longest raw read or write, octets.
    pub max_raw: u32,
    pub session_key: u32,
    /// Bits of [`capabilities`], without [`capabilities::EXTENDED_SECURITY`], which `security`
    /// implies.
    pub capabilities: u32,
    /// Time of the server, 100 ns since 1601.
    pub time: u64,
    pub timezone_min: i16,
    pub security: Security<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security<'a> {
    Challenge {
        /// Challenge: 8 octets. Empty if passwords are plain.
        challenge: &'a [u8],
        domain: Text<'a>,
        server: Option<Text<'a>>,
    },
    Extended {
        guid: [u8; 16],
        blob: &'a [u8],
    },
}

impl<'a> Response<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        match block.word_count() {
            // A server that supports none of the dialects may add meaningless words.
            1 => Ok(Self::Core { index: block.words(1)?.u16()? }),
            13 => LanMan::parse(block).map(Self::LanMan),
            17 => NtLm::parse(block).map(Self::NtLm),
            _ => Err(block.bad_word_count()),
        }
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Core { index } => {
                writer.words(1);
                writer.u16(*index);
                writer.no_bytes();
            }
            Self::LanMan(response) => response.emit(writer),
            Self::NtLm(response) => response.emit(writer),
        }
    }
}

impl<'a> LanMan<'a> {
    fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let (mut words, mut bytes) = (block.words(13)?, block.bytes()?);
        Ok(Self {
            index: words.field()?,
            security_mode: words.field()?,
            max_buffer: words.field()?,
            max_mpx: words.field()?,
            max_vcs: words.field()?,
            raw_mode: words.field()?,
            session_key: words.field()?,
            time: words.field()?,
            date: words.field()?,
            timezone_min: words.field()?,
            challenge: bytes.take(usize::from(words.u16()?))?,
            domain: (bytes.left() > 0).then(|| bytes.text(false)),
        })
    }

    fn emit(&self, writer: &mut Writer<'_>) {
        writer.words(13);
        writer.field([self.index, self.security_mode, self.max_buffer, self.max_mpx]);
        writer.field((self.max_vcs, self.raw_mode, self.session_key, self.time, self.date));
        writer.field((self.timezone_min, self.challenge.len() as u16, 0_u16));
        writer.begin_bytes();
        writer.octets(self.challenge);
        if let Some(domain) = self.domain {
            writer.text(domain);
        }
        writer.end();
    }
}

impl<'a> NtLm<'a> {
    fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(17)?;
        let mut response = Self {
            index: words.field()?,
            security_mode: words.field()?,
            max_mpx: words.field()?,
            max_vcs: words.field()?,
            max_buffer: words.field()?,
            max_raw: words.field()?,
            session_key: words.field()?,
            capabilities: words.field()?,
            time: words.field()?,
            timezone_min: words.field()?,
            security: Security::Extended { guid: [0; 16], blob: &[] },
        };
        let challenge_len = usize::from(words.u8()?);
        let mut bytes = block.bytes()?;
        response.security = if response.capabilities & capabilities::EXTENDED_SECURITY == 0 {
            let unicode = block.is_unicode();
            let challenge = bytes.take(challenge_len)?;
            // These strings are not aligned ([MS-CIFS] 2.2.4.52.2).
            let domain = bytes.unaligned_text(unicode);
            let server = (bytes.left() > 0).then(|| bytes.unaligned_text(unicode));
            Security::Challenge { challenge, domain, server }
        } else {
            response.capabilities &= !capabilities::EXTENDED_SECURITY;
            Security::Extended { guid: bytes.array()?, blob: bytes.rest() }
        };
        Ok(response)
    }

    fn emit(&self, writer: &mut Writer<'_>) {
        let (extended, challenge_len) = match self.security {
            Security::Challenge { challenge, .. } => (0, challenge.len()),
            Security::Extended { .. } => (capabilities::EXTENDED_SECURITY, 0),
        };
        writer.words(17);
        writer.field((self.index, self.security_mode, self.max_mpx, self.max_vcs));
        writer.field([self.max_buffer, self.max_raw, self.session_key]);
        writer.field((self.capabilities | extended, self.time, self.timezone_min));
        writer.u8(challenge_len as u8);
        writer.begin_bytes();
        match self.security {
            Security::Challenge { challenge, domain, server } => {
                writer.octets(challenge);
                writer.unaligned_text(domain);
                if let Some(server) = server {
                    writer.unaligned_text(server);
                }
            }
            Security::Extended { guid, blob } => {
                writer.octets(&guid);
                writer.octets(blob);
            }
        }
        writer.end();
    }
}
