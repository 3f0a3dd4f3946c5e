//! From the offer of dialects to the share.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::flags2;
use lanlab_wire::smb1::negotiate::{self, NO_DIALECT, capabilities, dialect, raw_mode, security};
use lanlab_wire::smb1::session_setup_andx::{self, Logon, action};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::{CodePage, Encoded, Text};
use lanlab_wire::smb1::time::{DateTime, ticks_to_unix_ns};
use lanlab_wire::smb1::{logoff_andx, tree_connect, tree_connect_andx};

use super::refusals::{Refused, malformed};
use super::state::{MAX_BUFFER, State, Tree};
use crate::smb::Dialect;
use crate::smb::responses::{is_lm, is_nt, same};

/// Requests that a client may have outstanding. They are answered one after another.
const MAX_MPX: u16 = 50;
/// Longest raw read or write.
const MAX_RAW: u32 = 65_535;
/// Messages of a client are at least this long.
const MIN_BUFFER: u16 = 512;
/// What the server calls itself.
const SOFTWARE: &str = "lanlab";
/// What clients have to hear so that they use long names.
const FILE_SYSTEM: &str = "NTFS";
/// Searches regard all attributes that are asked for.
const SUPPORT_SEARCH_BITS: u16 = 1;

/// Names by which clients offer a dialect, the newest first.
const OFFERED: [(&str, Dialect); 8] = [
    (dialect::NT_LM, Dialect::Nt),
    (dialect::LANMAN21, Dialect::LanMan2),
    ("DOS LANMAN2.1", Dialect::LanMan2),
    (dialect::LM12, Dialect::LanMan2),
    (dialect::DOS_LM12, Dialect::LanMan2),
    (dialect::LANMAN1, Dialect::LanMan1),
    (dialect::MICROSOFT_3, Dialect::LanMan1),
    (dialect::CORE, Dialect::Core),
];

impl State {
    pub fn negotiate(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        if self.dialect.is_some() {
            // Once in the life of a connection ([MS-CIFS] 3.3.5.42).
            return Err(error::INVALID_SMB);
        }
        let request = negotiate::Request::parse(block).map_err(malformed)?;
        let newest = self.offer.newest;
        let chosen = OFFERED
            .iter()
            .filter(|(_, dialect)| *dialect <= newest)
            .find_map(|(name, dialect)| Some((request.index_of(name)?, *dialect)));
        let Some((index, dialect)) = chosen else {
            self.put(|writer| negotiate::Response::Core { index: NO_DIALECT }.emit(writer));
            return Ok(());
        };
        self.dialect = Some(dialect);
        let security_mode = security::USER_LEVEL | security::ENCRYPTED;
        let (challenge, session_key) = (self.challenge, 0);
        let has_raw = self.carrier.keeps_raw;
        match dialect {
            Dialect::Core => {
                self.put(|writer| negotiate::Response::Core { index }.emit(writer));
            }
            Dialect::LanMan1 | Dialect::LanMan2 => {
                let now_s = ticks_to_unix_ns(self.time).unwrap_or(0) / 1_000_000_000;
                let now = DateTime::from_unix(now_s as i64);
                let response = negotiate::LanMan {
                    index,
                    security_mode,
                    max_buffer: MAX_BUFFER,
                    max_mpx: MAX_MPX,
                    max_vcs: 1,
                    raw_mode: if has_raw { raw_mode::READ | raw_mode::WRITE } else { 0 },
                    session_key,
                    time: now.time,
                    date: now.date,
                    timezone_min: 0,
                    challenge: &challenge,
                    domain: None,
                };
                self.put(|writer| negotiate::Response::LanMan(response).emit(writer));
            }
            Dialect::Nt => self.offer_nt(index, security_mode as u8, &challenge),
        }
        Ok(())
    }

    fn offer_nt(&mut self, index: u16, security_mode: u8, challenge: &[u8]) {
        let raw = if self.carrier.keeps_raw { capabilities::RAW_MODE } else { 0 };
        let unicode = self.request.flags2 & flags2::UNICODE != 0;
        let domain = self.name_text("WORKGROUP", unicode);
        let server = self.name_text(&self.offer.name.to_uppercase(), unicode);
        let response = negotiate::NtLm {
            index,
            security_mode,
            max_mpx: MAX_MPX,
            max_vcs: 1,
            max_buffer: u32::from(MAX_BUFFER),
            max_raw: MAX_RAW,
            session_key: 0,
            capabilities: raw
                | capabilities::MPX_MODE
                | capabilities::UNICODE
                | capabilities::LARGE_FILES
                | capabilities::NT_SMBS
                | capabilities::STATUS32
                | capabilities::NT_FIND
                | capabilities::LARGE_READX
                | capabilities::LARGE_WRITEX,
            time: self.time,
            timezone_min: 0,
            security: negotiate::Security::Challenge {
                challenge,
                domain: domain.text(),
                server: Some(server.text()),
            },
        };
        self.put(|writer| negotiate::Response::NtLm(response).emit(writer));
    }

    /// A name of the server, which is ASCII.
    fn name_text(&self, name: &str, unicode: bool) -> Encoded {
        Encoded::new(name, unicode, self.offer.code_page).unwrap_or_default()
    }

    pub fn log_in(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = session_setup_andx::Request::parse(block).map_err(malformed)?;
        let code_page = self.offer.code_page;
        let (account, domain, lm, nt) = match request.logon {
            Logon::LanMan { password, account, .. } => {
                (account, Text::default(), password, &[][..])
            }
            Logon::Nt { oem_password, unicode_password, account, domain, .. } => {
                (account, domain, oem_password, unicode_password)
            }
            Logon::Extended { .. } => return Err(error::NOT_SUPPORTED),
        };
        let is_user = self.offer.user.as_ref().is_none_or(|user| {
            let (name, domain) = (account.decode(code_page), domain.decode(code_page));
            let who = (name.as_ref(), domain.as_ref(), user.password.as_str());
            let is_right =
                is_nt(who, self.challenge, nt) || is_lm(who, code_page, self.challenge, lm);
            is_right && same_name(&name, &user.name)
        });
        if !is_user {
            self.desk.fail_login();
            return Err(error::LOGON_FAILURE);
        }
        // A client may read more than its buffer holds wherever the server says that it can ([MS-SMB]
        // 2.2.4.2.1); some do without saying so themselves.
        self.has_large_reads = self.dialect() == Dialect::Nt;
        self.client_buffer = usize::from(request.max_buffer.max(MIN_BUFFER));
        self.uid = self.add_user()?;
        self.desk.set_known();
        let unicode = block.is_unicode();
        let (software, domain) =
            (self.name_text(SOFTWARE, unicode), self.name_text("WORKGROUP", unicode));
        let is_nt = self.dialect() == Dialect::Nt;
        let response = session_setup_andx::Response {
            action: if account.is_empty() { action::GUEST } else { 0 },
            blob: None,
            names: Some(session_setup_andx::Names {
                native_os: software.text(),
                native_lan_manager: software.text(),
                domain: is_nt.then(|| domain.text()),
            }),
        };
        self.put(|writer| response.emit(writer));
        Ok(())
    }

    pub async fn log_off(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        logoff_andx::parse(block).map_err(malformed)?;
        if self.dialect() == Dialect::Core {
            return Err(error::SMB_BAD_COMMAND);
        }
        self.users.remove(&self.uid);
        if self.users.is_empty() {
            self.close_all(|_| true).await;
            self.trees.clear();
            self.searches.clear();
        }
        self.put(logoff_andx::emit);
        Ok(())
    }

    /// The share that a path names, if the client expects its kind.
    fn share(&self, path: Text<'_>, service: Text<'_>) -> Result<Tree, Refused> {
        let path = path.decode(self.offer.code_page);
        let name = path.rsplit('\\').next().unwrap_or_default();
        let (tree, kind) = if name.eq_ignore_ascii_case(&self.offer.share) {
            (Tree::Disk, "A:")
        } else if name.eq_ignore_ascii_case("IPC$") {
            (Tree::Pipes, "IPC")
        } else {
            return Err(error::BAD_NETWORK_NAME);
        };
        let fits = service.is_ascii(kind) || service.is_ascii("?????");
        if fits { Ok(tree) } else { Err(error::BAD_DEVICE_TYPE) }
    }

    pub fn connect_by_password(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = tree_connect::Request::parse(block).map_err(malformed)?;
        let tree = self.share(request.path, request.service)?;
        if self.dialect() == Dialect::Core
            && let Some(user) = &self.offer.user
            && !is_password(request.password, &user.password, self.offer.code_page)
        {
            self.desk.fail_login();
            return Err(error::WRONG_PASSWORD);
        }
        self.tid = self.add_tree(tree)?;
        self.desk.set_known();
        let response = tree_connect::Response { max_buffer: MAX_BUFFER, tid: self.tid };
        self.put(|writer| response.emit(writer));
        Ok(())
    }

    pub fn connect(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        if self.dialect() == Dialect::Core {
            return Err(error::SMB_BAD_COMMAND);
        }
        let request = tree_connect_andx::Request::parse(block).map_err(malformed)?;
        let tree = self.share(request.path, request.service)?;
        self.tid = self.add_tree(tree)?;
        let unicode = block.is_unicode();
        let file_system = self.name_text(FILE_SYSTEM, unicode);
        let is_nt = self.dialect() == Dialect::Nt;
        let is_disk = tree == Tree::Disk;
        let response = tree_connect_andx::Response {
            optional_support: is_nt.then_some(SUPPORT_SEARCH_BITS),
            max_access: None,
            service: Text::Oem(if is_disk { b"A:" } else { b"IPC" }),
            file_system: (is_nt && is_disk).then(|| file_system.text()),
        };
        self.put(|writer| response.emit(writer));
        Ok(())
    }

    pub async fn disconnect(&mut self) -> Result<(), Refused> {
        let tid = self.tid;
        self.close_all(|open| open.tid == tid).await;
        self.searches.retain(|_, search| search.tid != tid);
        self.trees.remove(&tid);
        self.put_nothing();
        Ok(())
    }
}

fn same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Whether a share's password is right. DOS writes it in upper case.
fn is_password(found: Text<'_>, expected: &str, code_page: CodePage) -> bool {
    let found = found.decode(code_page).to_uppercase();
    same(expected.to_uppercase().as_bytes(), found.as_bytes())
}
