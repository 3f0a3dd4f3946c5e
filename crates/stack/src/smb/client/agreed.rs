//! The parameters negotiated by client and server.

use lanlab_wire::smb1::header::flags2;
use lanlab_wire::smb1::multiplexed::MOST_PARTS;
use lanlab_wire::smb1::negotiate::{NtLm, Security, capabilities};

use crate::smb::Dialect;
use crate::smb::responses::CHALLENGE_LEN;
use lanlab_wire::smb1::AROUND_DATA;

/// Longest message accepted, except large reads, as announced by Samba and Windows NT.
pub const MAX_BUFFER: u16 = 16_644;
/// Maximum requests in flight, even if a server allows more.
pub const MAX_OUTSTANDING: u16 = 50;
/// Data of a large read or write: 60 KiB, which every Windows server accepts.
const LARGE_BYTES: u32 = 60 << 10;
/// For servers with Unix extensions, like Samba: with its header, the length fits 17 bits.
const LARGEST_BYTES: u32 = 120 << 10;
const UNIX_EXTENSIONS: u32 = 0x0080_0000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    Guest,
    Plain,
    Lm,
    /// NTLM and LM responses of version 1.
    Version1,
    /// Responses of version 2.
    Version2,
    /// Version 2 with extended security, awaiting the challenge.
    Challenge,
    /// Version 2 with extended security, awaiting the verdict.
    Extended,
}

impl Login {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guest => "no login",
            Self::Plain => "login with a plain password",
            Self::Lm => "LM login",
            Self::Version1 => "NTLM login",
            Self::Version2 => "NTLMv2 login",
            Self::Challenge | Self::Extended => "NTLMSSP login",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    Framed,
    Raw,
    Multiplexed,
}

#[derive(Debug, Clone)]
pub struct Agreed {
    pub dialect: Dialect,
    /// The dialect whose commands open and list files: an older one for servers that announce the newest but lack
    /// its commands, like Windows 95, 98 and ME.
    pub commands: Dialect,
    pub listings: Dialect,
    pub flags2: u16,
    pub capabilities: u32,
    pub max_buffer: u32,
    pub max_mpx: u16,
    pub read_bytes: u32,
    pub write_bytes: u32,
    pub framed_bytes: u32,
    pub has_raw: bool,
    pub has_multiplexed: bool,
    pub transfer: Transfer,
    pub security_mode: u16,
    pub is_signed: bool,
    pub session_key: u32,
    pub challenge: Option<[u8; CHALLENGE_LEN]>,
    pub server: Option<String>,
    pub login: Login,
}

impl Agreed {
    pub const fn is_unicode(&self) -> bool {
        self.flags2 & flags2::UNICODE != 0
    }

    /// The dialect, and the older one whose commands replace missing ones.
    pub fn protocol(&self) -> String {
        let (dialect, oldest) = (self.dialect.name(), self.commands.min(self.listings));
        if oldest == self.dialect {
            return dialect.to_owned();
        }
        let what = match (self.commands == oldest, self.listings == oldest) {
            (true, true) => "commands and listings",
            (true, false) => "commands",
            _ => "listings",
        };
        format!("{dialect} with {what} of {}", oldest.name())
    }

    pub const fn is_extended(&self) -> bool {
        self.flags2 & flags2::EXTENDED_SECURITY != 0
    }

    pub fn transfer_up_to(&self, end: u64) -> Transfer {
        match self.transfer {
            Transfer::Multiplexed if u32::try_from(end).is_err() => Transfer::Framed,
            transfer => transfer,
        }
    }

    /// Size limit of files: offsets have 32 bits unless the server supports large files.
    pub fn largest_file_bytes(&self) -> u64 {
        if self.has_large_files() { u64::MAX } else { u64::from(u32::MAX) }
    }

    /// Whether offsets have 64 bits.
    pub const fn has_large_files(&self) -> bool {
        self.capabilities & capabilities::LARGE_FILES != 0
    }

    pub const fn has(&self, bits: u16) -> bool {
        self.security_mode & bits != 0
    }

    /// Data bytes of a read or write within messages of `buffer` bytes: whole 512-byte sectors, if at least one
    /// fits.
    fn data_bytes(buffer: u32) -> u32 {
        let most = buffer.saturating_sub(AROUND_DATA).min(u32::from(u16::MAX));
        if most > 512 { most / 512 * 512 } else { most.max(1) }
    }

    pub fn set_data_bytes(&mut self, longest_message: u32) {
        self.max_buffer = self.max_buffer.min(longest_message);
        let small = Self::data_bytes(self.max_buffer.min(u32::from(MAX_BUFFER)));
        let large =
            if self.capabilities & UNIX_EXTENSIONS == 0 { LARGE_BYTES } else { LARGEST_BYTES };
        let large = large.min(longest_message.saturating_sub(AROUND_DATA));
        let of = |bit| if self.capabilities & bit == 0 { small } else { large };
        self.read_bytes = of(capabilities::LARGE_READX);
        self.write_bytes = of(capabilities::LARGE_WRITEX);
        self.framed_bytes = self.read_bytes.min(self.write_bytes);
    }

    /// Use multiplexed reads and writes from here on, with as many bytes per packet as a write allows.
    pub fn set_multiplexed(&mut self, longest_message: u32) {
        let part_bytes = longest_message.saturating_sub(AROUND_DATA);
        self.transfer = Transfer::Multiplexed;
        self.read_bytes = (MOST_PARTS as u32 * part_bytes).min(LARGE_BYTES);
        self.write_bytes = self.read_bytes;
    }

    pub const fn leave_multiplexed(&mut self) {
        self.transfer = Transfer::Framed;
        self.read_bytes = self.framed_bytes;
        self.write_bytes = self.framed_bytes;
    }

    pub fn set_raw(&mut self) {
        self.transfer = Transfer::Raw;
        self.read_bytes = LARGE_BYTES;
        self.write_bytes = LARGE_BYTES;
    }
}

/// The server's capabilities that this client supports.
const CAPABILITIES: u32 = capabilities::UNICODE
    | capabilities::LARGE_FILES
    | capabilities::NT_SMBS
    | capabilities::STATUS32
    | capabilities::NT_FIND
    | capabilities::LARGE_READX
    | capabilities::LARGE_WRITEX
    | UNIX_EXTENSIONS;

impl Agreed {
    pub fn of_nt(&mut self, response: &NtLm<'_>) {
        self.capabilities = response.capabilities & CAPABILITIES;
        let of = |bit| if self.capabilities & bit == 0 { Dialect::LanMan2 } else { Dialect::Nt };
        (self.commands, self.listings) = (of(capabilities::NT_SMBS), of(capabilities::NT_FIND));
        self.has_raw = response.capabilities & capabilities::RAW_MODE != 0;
        self.has_multiplexed = response.capabilities & capabilities::MPX_MODE != 0;
        self.max_buffer = response.max_buffer;
        self.max_mpx = response.max_mpx;
        self.security_mode = u16::from(response.security_mode);
        self.session_key = response.session_key;
        self.flags2 = flags2::LONG_NAMES;
        if self.capabilities & capabilities::UNICODE != 0 {
            self.flags2 |= flags2::UNICODE;
        }
        if self.capabilities & capabilities::STATUS32 != 0 {
            self.flags2 |= flags2::NT_STATUS;
        }
        match &response.security {
            Security::Challenge { challenge, .. } => {
                self.challenge = (*challenge).try_into().ok();
            }
            Security::Extended { .. } => self.flags2 |= flags2::EXTENDED_SECURITY,
        }
    }
}
