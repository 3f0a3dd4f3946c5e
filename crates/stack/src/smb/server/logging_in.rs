//! Logins by challenge response or NTLMSSP, and signing from then on.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::flags2;
use lanlab_wire::smb1::logoff_andx;
use lanlab_wire::smb1::session_setup_andx::{Logon, Names, Request, Response, action};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Text;

use super::connecting::WORKGROUP;
use super::refusals::{Refused, malformed};
use super::state::{Answer, State};
use crate::file_server::Remark;
use crate::smb::Dialect;
use crate::smb::ntlmssp::SIGNATURE;
use crate::smb::ntlmssp_server::{self, Message};
use crate::smb::responses::{CHALLENGE_LEN, is_lm, nt_key};
use crate::smb::signing::Signing;
use crate::smb::spnego;

const MIN_BUFFER: u16 = 512;
const SOFTWARE: &str = "lanlab";

struct Claim<'a> {
    account: String,
    domain: String,
    lm: &'a [u8],
    nt: &'a [u8],
    /// The client's nonce, if it is part of a version 1 response.
    nonce: Option<[u8; CHALLENGE_LEN]>,
}

impl State {
    pub async fn log_in(&mut self, block: &Block<'_>) -> Result<Answer, Refused> {
        let request = Request::parse(block).map_err(malformed)?;
        let text = |text: Text<'_>| text.decode().into_owned();
        let (lm, nt, account, domain) = match request.logon {
            Logon::LanMan { password, account, .. } => {
                (password, &[][..], text(account), String::new())
            }
            Logon::Nt { oem_password, unicode_password, account, domain, .. } => {
                (oem_password, unicode_password, text(account), text(domain))
            }
            Logon::Extended { blob, .. } => {
                return self.log_in_by_token(block, blob, request.max_buffer).await;
            }
        };
        let user = account.clone();
        let key = self.judge(&Claim { account, domain, lm, nt, nonce: None })?;
        let uid = self.add_user()?;
        // Here the signing key includes the response ([MS-CIFS] 3.1.4.1).
        self.let_in(uid, request.max_buffer, key.map(|key| (key, nt)), &user)?;
        self.put_login(block, None)?;
        Ok(Answer::Block)
    }

    async fn log_in_by_token(
        &mut self,
        block: &Block<'_>,
        blob: &[u8],
        max_buffer: u16,
    ) -> Result<Answer, Refused> {
        if !self.is_extended {
            return Err(error::INVALID_PARAMETER);
        }
        // If the client omits SPNEGO ([MS-SMB] 3.2.4.2.4), the server does too.
        let is_bare = blob.starts_with(&SIGNATURE);
        match Message::parse(blob).ok_or(error::INVALID_PARAMETER)? {
            Message::Negotiate { flags } => {
                let uid = match self.challenged {
                    Some(uid) => uid,
                    None => self.number_of_user()?,
                };
                self.challenged = Some(uid);
                self.uid = uid;
                let server = self.offer.name.to_uppercase();
                let token = ntlmssp_server::challenge(flags, self.challenge, &server, WORKGROUP);
                let token = if is_bare { token } else { spnego::incomplete(&token) };
                self.put_login(block, Some(&token))?;
                self.finish(Err(error::MORE_PROCESSING_REQUIRED)).await;
                Ok(Answer::Sent)
            }
            Message::Authenticate(proof) => {
                // Each challenge allows one answer.
                let uid = self.challenged.take().filter(|uid| *uid == self.request.uid);
                let uid = uid.ok_or(error::INVALID_PARAMETER)?;
                let text = |octets| {
                    let text =
                        if proof.is_unicode { Text::Utf16(octets) } else { Text::Oem(octets) };
                    text.decode().into_owned()
                };
                let (account, domain) = (text(proof.user), text(proof.domain));
                let user = account.clone();
                let (lm, nt, nonce) = (proof.lm, proof.nt, proof.nonce());
                let key = self.judge(&Claim { account, domain, lm, nt, nonce })?;
                self.users.insert(uid);
                self.let_in(uid, max_buffer, key.map(|key| (key, &[][..])), &user)?;
                let token = if is_bare { Vec::new() } else { spnego::completed() };
                self.put_login(block, Some(&token))?;
                Ok(Answer::Block)
            }
        }
    }

    /// Session key, if the claim matches the configured user.
    fn judge(&mut self, claim: &Claim<'_>) -> Result<Option<[u8; 16]>, Refused> {
        let Some(user) = &self.offer.user else { return Ok(None) };
        let who = (claim.account.as_str(), claim.domain.as_str(), user.password.as_str());
        let key = nt_key(who, self.challenge, claim.nonce, claim.nt);
        let is_right = key.is_some() || is_lm(who, self.challenge, claim.lm);
        if is_right && claim.account.to_lowercase() == user.name.to_lowercase() {
            return Ok(key);
        }
        let (user, dialect) = (Some(claim.account.clone()), self.dialect().name());
        self.channel.remark(Remark::WrongPassword { user, dialect });
        Err(error::LOGON_FAILURE)
    }

    /// Accept a user. Signing begins with the first password login, if either end requests it.
    fn let_in(
        &mut self,
        uid: u16,
        max_buffer: u16,
        key: Option<([u8; 16], &[u8])>,
        user: &str,
    ) -> Result<(), Refused> {
        let is_asked = self.request.flags2 & flags2::SIGNED != 0;
        let may = self.dialect() == Dialect::Nt && self.signing.is_none();
        match key {
            Some((key, response)) if may && (is_asked || self.requires_signatures) => {
                self.signing = Some(Signing::new(key, response));
                // The response to this login has the first odd number.
                self.answer_number = 1;
            }
            _ if self.requires_signatures && self.signing.is_none() => {
                self.users.remove(&uid);
                let remark = "a client that does not sign its messages".to_owned();
                self.channel.remark(Remark::Refused(remark));
                return Err(error::ACCESS_DENIED);
            }
            _ => {}
        }
        // Where the server announces large reads, a client may read more than its buffer ([MS-SMB] 2.2.4.2.1); some
        // do so without announcing it themselves.
        self.has_large_reads = self.dialect() == Dialect::Nt && self.carries_large();
        self.client_buffer = usize::from(max_buffer.max(MIN_BUFFER).min(self.max_buffer()));
        self.uid = uid;
        let user = (!user.is_empty()).then(|| user.to_owned());
        self.channel.remark(Remark::Admitted { user, dialect: self.dialect().name() });
        Ok(())
    }

    fn put_login(&mut self, block: &Block<'_>, blob: Option<&[u8]>) -> Result<(), Refused> {
        // A user served without a password is a guest, by any name.
        let is_guest = self.offer.user.is_none() && self.users.contains(&self.uid);
        let action = if is_guest { action::GUEST } else { 0 };
        let unicode = block.is_unicode();
        let (software, domain) =
            (Self::name_text(SOFTWARE, unicode), Self::name_text(WORKGROUP, unicode));
        let has_domain = self.dialect() == Dialect::Nt;
        let response = Response {
            action,
            blob,
            names: Some(Names {
                native_os: software.text(),
                native_lan_manager: software.text(),
                domain: has_domain.then(|| domain.text()),
            }),
        };
        self.put(|writer| response.emit(writer))
    }

    pub async fn log_off(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        logoff_andx::parse(block).map_err(malformed)?;
        if self.dialect() == Dialect::Core {
            return Err(error::SMB_BAD_COMMAND);
        }
        let uid = self.uid;
        self.users.remove(&uid);
        self.close_all(|open| open.uid == uid).await;
        self.pipes.retain(|_, pipe| pipe.uid != uid);
        if self.users.is_empty() {
            self.trees.clear();
            self.searches.clear();
        }
        self.put(logoff_andx::emit)
    }
}
