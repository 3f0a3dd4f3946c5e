//! Session set-up: from dialect offer to share.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::flags2;
use lanlab_wire::smb1::negotiate::{self, NO_DIALECT, capabilities, dialect, raw_mode, security};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::{Encoded, Text};
use lanlab_wire::smb1::time::{DateTime, ticks_to_unix_ns};
use lanlab_wire::smb1::{tree_connect, tree_connect_andx};

use super::refusals::{Refused, malformed};
use super::state::{State, Tree};
use crate::file_server::Remark;
use crate::smb::Dialect;
use crate::smb::responses::same;
use crate::smb::spnego;
use dialect::CORE_PLUS;

/// Maximum requests a client may have in flight; they are executed one after another.
const MAX_MPX: u16 = 50;
const MAX_RAW: u32 = 65_535;
pub const WORKGROUP: &str = "WORKGROUP";
/// The file system name that makes clients use long names.
const FILE_SYSTEM: &str = "NTFS";
const SUPPORT_SEARCH_BITS: u16 = 1;

const OFFERED: [(&str, Dialect); 10] = [
    (dialect::NT_LM, Dialect::Nt),
    (dialect::LANMAN21, Dialect::LanMan2),
    ("DOS LANMAN2.1", Dialect::LanMan2),
    (dialect::LM12, Dialect::LanMan2),
    (dialect::DOS_LM12, Dialect::LanMan2),
    (dialect::LANMAN1, Dialect::LanMan1),
    (dialect::MICROSOFT_3, Dialect::LanMan1),
    (CORE_PLUS, Dialect::Core),
    (dialect::CORE, Dialect::Core),
    (dialect::PC_LAN, Dialect::Core),
];

impl State {
    pub fn negotiate(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        if self.dialect.is_some() {
            // Allowed once per connection ([MS-CIFS] 3.3.5.42).
            return Err(error::INVALID_SMB);
        }
        let request = negotiate::Request::parse(block).map_err(malformed)?;
        let offered = &self.offer.dialects;
        // Only the newest dialect supports signing.
        let is_spoken = |dialect| {
            offered.contains(&dialect) && (!self.requires_signatures || dialect == Dialect::Nt)
        };
        let chosen = OFFERED
            .iter()
            .filter(|(_, dialect)| is_spoken(*dialect))
            .find_map(|(name, dialect)| Some((request.index_of(name)?, *name, *dialect)));
        let Some((index, name, dialect)) = chosen else {
            let remark = "a client whose dialects are not served".to_owned();
            self.channel.remark(Remark::Refused(remark));
            return self.put(|writer| negotiate::Response::Core { index: NO_DIALECT }.emit(writer));
        };
        self.dialect = Some(dialect);
        let mut security_mode = security::USER_LEVEL | security::ENCRYPTED;
        // Clients of the 1980s have no users: the share is then open, or has a password.
        if !self.has_users() && dialect < Dialect::Nt {
            security_mode = 0;
        }
        let (challenge, session_key) = (self.challenge, 0);
        let has_raw = self.carrier.keeps_raw;
        match dialect {
            Dialect::Core if name != CORE_PLUS => {
                self.put(|writer| negotiate::Response::Core { index }.emit(writer))
            }
            // Core Plus announces raw reads and writes in the LAN Manager words, as Samba does.
            Dialect::Core | Dialect::LanMan1 | Dialect::LanMan2 => {
                let now_s = ticks_to_unix_ns(self.time).unwrap_or(0) / 1_000_000_000;
                let now = DateTime::from_unix(now_s as i64);
                let response = negotiate::LanMan {
                    index,
                    security_mode,
                    max_buffer: self.max_buffer(),
                    max_mpx: MAX_MPX,
                    max_vcs: 1,
                    raw_mode: if has_raw { raw_mode::READ | raw_mode::WRITE } else { 0 },
                    session_key,
                    time: now.time,
                    date: now.date,
                    timezone_min: 0,
                    challenge: if security_mode == 0 { &[] } else { &challenge },
                    domain: None,
                };
                self.put(|writer| negotiate::Response::LanMan(response).emit(writer))
            }
            Dialect::Nt => {
                if self.offer.user.is_some() {
                    // Without a password there is no key.
                    security_mode |= security::SIGNING_ENABLED;
                }
                if self.requires_signatures {
                    security_mode |= security::SIGNING_REQUIRED;
                }
                self.offer_nt(index, security_mode as u8, &challenge)
            }
        }
    }

    fn offer_nt(&mut self, index: u16, security_mode: u8, challenge: &[u8]) -> Result<(), Refused> {
        // Raw data has no place for a signature.
        let has_raw = self.carrier.keeps_raw && !self.requires_signatures;
        let raw = if has_raw { capabilities::RAW_MODE } else { 0 };
        let both = capabilities::LARGE_READX | capabilities::LARGE_WRITEX;
        let large = if self.carries_large() { both } else { 0 };
        let unicode = self.request.flags2 & flags2::UNICODE != 0;
        let domain = Self::name_text(WORKGROUP, unicode);
        let server = Self::name_text(&self.offer.name.to_uppercase(), unicode);
        self.is_extended = self.request.flags2 & flags2::EXTENDED_SECURITY != 0;
        let blob = spnego::offer();
        let response = negotiate::NtLm {
            index,
            security_mode,
            max_mpx: MAX_MPX,
            max_vcs: 1,
            max_buffer: u32::from(self.max_buffer()),
            max_raw: MAX_RAW,
            session_key: 0,
            capabilities: raw
                | capabilities::MPX_MODE
                | capabilities::UNICODE
                | capabilities::LARGE_FILES
                | capabilities::NT_SMBS
                | capabilities::STATUS32
                | capabilities::NT_FIND
                | large,
            time: self.time,
            timezone_min: 0,
            security: if self.is_extended {
                negotiate::Security::Extended { guid: self.guid(), blob: &blob }
            } else {
                negotiate::Security::Challenge {
                    challenge,
                    domain: domain.text(),
                    server: Some(server.text()),
                }
            },
        };
        self.put(|writer| negotiate::Response::NtLm(response).emit(writer))
    }

    fn guid(&self) -> [u8; 16] {
        let mut guid = [0; 16];
        for (place, octet) in guid.iter_mut().zip(self.offer.name.bytes()) {
            *place = octet;
        }
        guid
    }

    pub fn name_text(name: &str, unicode: bool) -> Encoded {
        Encoded::new(name, unicode).unwrap_or_default()
    }

    fn share(&self, path: Text<'_>, service: Text<'_>) -> Result<Tree, Refused> {
        let path = path.decode();
        let name = path.rsplit('\\').next().unwrap_or_default();
        let (tree, kind) = if name.eq_ignore_ascii_case(&self.offer.share) {
            (Tree::Disk, "A:")
        } else if name.eq_ignore_ascii_case("IPC$") {
            (Tree::Pipes, "IPC")
        } else {
            let remark = format!("the share `{name}`: `{}` is served", self.offer.share);
            self.channel.remark(Remark::Refused(remark));
            return Err(error::BAD_NETWORK_NAME);
        };
        let fits = service.is_ascii(kind) || service.is_ascii("?????");
        if fits { Ok(tree) } else { Err(error::BAD_DEVICE_TYPE) }
    }

    pub fn connect_by_password(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = tree_connect::Request::parse(block).map_err(malformed)?;
        let tree = self.share(request.path, request.service)?;
        let is_user = self.users.contains(&self.uid);
        if !is_user
            && let Some(user) = &self.offer.user
            && !is_password(request.password, &user.password)
        {
            let dialect = self.dialect().name();
            self.channel.remark(Remark::WrongPassword { user: None, dialect });
            return Err(error::WRONG_PASSWORD);
        }
        if self.has_users() && !is_user {
            // The client proved the share's password, which makes it a user for file access.
            self.take_in(self.uid)?;
        }
        self.tid = self.add_tree(tree)?;
        if !is_user {
            let dialect = self.dialect().name();
            self.channel.remark(match self.offer.user {
                Some(_) => Remark::SharePassword { dialect },
                None => Remark::Admitted { user: None, dialect },
            });
        }
        let response = tree_connect::Response { max_buffer: self.max_buffer(), tid: self.tid };
        self.put(|writer| response.emit(writer))
    }

    pub fn connect(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        if self.dialect() == Dialect::Core {
            return Err(error::SMB_BAD_COMMAND);
        }
        let request = tree_connect_andx::Request::parse(block).map_err(malformed)?;
        let tree = self.share(request.path, request.service)?;
        self.tid = self.add_tree(tree)?;
        let unicode = block.is_unicode();
        let file_system = Self::name_text(FILE_SYSTEM, unicode);
        let is_nt = self.dialect() == Dialect::Nt;
        let is_disk = tree == Tree::Disk;
        let response = tree_connect_andx::Response {
            optional_support: is_nt.then_some(SUPPORT_SEARCH_BITS),
            max_access: None,
            service: Text::Oem(if is_disk { b"A:" } else { b"IPC" }),
            file_system: (is_nt && is_disk).then(|| file_system.text()),
        };
        self.put(|writer| response.emit(writer))
    }

    pub async fn disconnect(&mut self) -> Result<(), Refused> {
        let tid = self.tid;
        self.close_all(|open| open.tid == tid).await;
        self.searches.retain(|_, search| search.tid != tid);
        self.pipes.retain(|_, pipe| pipe.tid != tid);
        self.trees.remove(&tid);
        self.put_nothing()
    }
}

fn is_password(found: Text<'_>, expected: &str) -> bool {
    let found = found.decode().to_uppercase();
    same(expected.to_uppercase().as_bytes(), found.as_bytes())
}
