//! User login: by plain password, challenge response, or extended security.

use std::sync::Arc;

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::negotiate::{capabilities, security};
use lanlab_wire::smb1::session_setup_andx::{self, Logon, action};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::{self, Text};

use super::agreed::{Agreed, Login, MAX_BUFFER};
use super::refusals::{malformed, protocol, reason, refused};
use super::state::{Client, Step};
use crate::redirector::{Reason, Refusal};
use crate::smb::Dialect;
use crate::smb::ntlmssp;
use crate::smb::plan::User;
use crate::smb::responses::{self, CHALLENGE_LEN};
use crate::smb::signing::Signing;

impl Client {
    pub(super) fn first_login(&self, agreed: &Agreed) -> Result<Login, Refusal> {
        let Some(user) = &self.plan.user else { return Ok(Login::Guest) };
        if agreed.is_extended() {
            return Ok(Login::Challenge);
        }
        if agreed.has(security::ENCRYPTED) {
            if agreed.challenge.is_none() {
                return Err(protocol(format!("a challenge that has not {CHALLENGE_LEN} octets")));
            }
            return Ok(match agreed.dialect {
                // A share password has no user, which version 2 would require.
                Dialect::Nt if agreed.has(security::USER_LEVEL) => Login::Version2,
                Dialect::Nt => Login::Version1,
                _ => Login::Lm,
            });
        }
        // An attacker who can modify messages could obtain any password this way.
        if self.plan.dialect.is_none() && !user.password.is_empty() {
            let dialect = agreed.dialect.name();
            let message = format!(
                "the server wants the password unencrypted, in dialect `{dialect}`; allowed: only \
                 where the dialect was asked for"
            );
            let option = match agreed.dialect {
                Dialect::Core => "core",
                Dialect::LanMan1 => "lanman1",
                Dialect::LanMan2 => "lm12x002",
                Dialect::Nt => "nt1",
            };
            let hint = format!(
                "where no one else reads the network, send it as it is by `--dialect {option}`"
            );
            return Err(Refusal::new(Reason::Login, message).hint(hint));
        }
        Ok(Login::Plain)
    }

    pub(super) fn has_signatures(&self, agreed: &Agreed) -> Result<bool, Refusal> {
        if !self.plan.requires_signatures && !agreed.has(security::SIGNING_REQUIRED) {
            return Ok(false);
        }
        let whose = if self.plan.requires_signatures { "of the server" } else { "by the server" };
        let unsupported = |found: &str| {
            let message = format!("signed messages are required {whose}, and {found}");
            Refusal::new(Reason::Unsupported, message)
        };
        let dialect = agreed.dialect.name();
        if agreed.dialect != Dialect::Nt {
            let newest = Dialect::Nt.name();
            return Err(unsupported(&format!(
                "dialect `{dialect}` has no signatures; only `{newest}` has them"
            )));
        }
        if !agreed.has(security::SIGNING_ENABLED | security::SIGNING_REQUIRED) {
            return Err(unsupported(
                "it does not sign; have it sign messages, or do not require signatures",
            ));
        }
        let has_key = agreed.has(security::USER_LEVEL)
            && !matches!(agreed.login, Login::Guest | Login::Plain | Login::Lm);
        if !has_key {
            let login = agreed.login.name();
            let message = format!(
                "signed messages are required {whose}, and {login} makes no key for signatures; log \
                 in as a user with a password, by a response to a challenge"
            );
            return Err(Refusal::new(Reason::Login, message));
        }
        Ok(true)
    }

    pub(super) fn proof(&self, login: Login) -> Result<Proof, Refusal> {
        let Some(User { name, password, domain }) = &self.plan.user else {
            return Ok(Proof::default());
        };
        let challenge =
            self.agreed.as_ref().and_then(|agreed| agreed.challenge).unwrap_or_default();
        Ok(match login {
            // The first token does not name the user.
            Login::Challenge => Proof { nt: ntlmssp::negotiate(), ..Proof::default() },
            Login::Guest | Login::Extended => Proof::default(),
            Login::Plain => Proof { lm: oem(password)?, ..Proof::default() },
            Login::Lm => {
                let response = responses::lm(password, challenge);
                let message = "a password of LM has at most 14 characters of the code page";
                let response = response.ok_or_else(|| Refusal::new(Reason::Login, message))?;
                Proof { lm: response.to_vec(), ..Proof::default() }
            }
            Login::Version1 => {
                let nt = responses::nt(password, challenge).to_vec();
                // If LM cannot hold a password, only the NT response proves it.
                let lm = responses::lm(password, challenge);
                let lm = lm.map_or_else(|| nt.clone(), |lm| lm.to_vec());
                Proof { lm, nt, session_key: responses::session_key(password) }
            }
            Login::Version2 => {
                let (nonce, time) = (self.plan.nonce, self.plan.time);
                let who = (name.as_str(), domain.as_str(), password.as_str());
                let found =
                    responses::version2(who, challenge, nonce, time, &responses::names_of(domain));
                Proof { lm: found.lm.to_vec(), nt: found.nt, session_key: found.session_key }
            }
        })
    }

    pub(super) fn log_in(&mut self, login: Login) -> Result<(), Refusal> {
        let Some(agreed) = self.agreed.clone() else { return Err(protocol("no dialect yet")) };
        // With share passwords, the login itself needs none.
        let proof =
            if agreed.has(security::USER_LEVEL) { self.proof(login)? } else { Proof::default() };
        self.prove(&agreed, login, proof)
    }

    fn prove(&mut self, agreed: &Agreed, login: Login, proof: Proof) -> Result<(), Refusal> {
        let user = self.plan.user.clone();
        let (name, domain) = user.map(|user| (user.name, user.domain)).unwrap_or_default();
        let (account, domain) = (self.encoded(&name)?, self.encoded(&domain)?);
        let (system, redirector) = (self.encoded("Unix")?, self.encoded("lanlab")?);
        let plain = if login == Login::Plain { [&proof.lm[..], &[0]].concat() } else { proof.lm };
        let form = if agreed.is_extended() {
            Logon::Extended {
                blob: &proof.nt,
                capabilities: agreed.capabilities | capabilities::EXTENDED_SECURITY,
                domain: None,
            }
        } else if agreed.dialect == Dialect::Nt {
            Logon::Nt {
                oem_password: &plain,
                unicode_password: &proof.nt,
                capabilities: agreed.capabilities,
                account: account.text(),
                domain: domain.text(),
            }
        } else {
            Logon::LanMan { password: &plain, account: account.text(), domain: domain.text() }
        };
        let longest = u16::try_from(self.plan.carrier.longest_message);
        let request = session_setup_andx::Request {
            max_buffer: longest.map_or(MAX_BUFFER, |longest| longest.min(MAX_BUFFER)),
            max_mpx: agreed.max_mpx,
            // Zero would end other sessions of this host, such as other stations of a study.
            vc_number: 1,
            session_key: agreed.session_key,
            logon: form,
            native_os: system.text(),
            native_lan_manager: redirector.text(),
        };
        let step = Step::Login(login);
        self.ask(Self::CONNECTED, command::SESSION_SETUP_ANDX, step, |writer| request.emit(writer));
        Ok(())
    }

    pub(super) fn logged_in(
        &mut self,
        header: &Header,
        block: &Block<'_>,
        login: Login,
    ) -> Result<(), Refusal> {
        if login == Login::Challenge && header.status.is(error::MORE_PROCESSING_REQUIRED) {
            return self.challenged(header, block);
        }
        if !header.status.is_success() {
            // Servers without version 2 report its responses as wrong; Samba accepts them only with extended
            // security, unless `raw NTLMv2 auth` is set.
            let old = [error::LOGON_FAILURE, error::WRONG_PASSWORD, error::INVALID_PARAMETER];
            let is_old = old.iter().any(|row| header.status.is(*row));
            if login == Login::Version2 && is_old {
                return self.log_in(Login::Version1);
            }
            let refusal = refused(block);
            let reason = match reason(header.status) {
                Reason::Denied | Reason::Protocol => Reason::Login,
                other => other,
            };
            return Err(Refusal { reason, ..refusal });
        }
        let response = session_setup_andx::Response::parse(block).map_err(malformed)?;
        let proof = self.proof(login)?;
        let Some(agreed) = self.agreed.as_mut().map(Arc::make_mut) else {
            return Err(protocol("no dialect yet"));
        };
        if response.action & action::GUEST != 0 && login != Login::Guest {
            let message = "the server let this user in as a guest; allowed: a user that it knows";
            if agreed.has(security::USER_LEVEL) {
                return Err(Refusal::new(Reason::Login, message));
            }
        }
        agreed.login = login;
        let text = |text: Text<'_>| text.decode().into_owned();
        agreed.server = response.names.map(|names| text(names.native_lan_manager));
        agreed.server.take_if(|name| name.is_empty());
        if agreed.is_signed {
            let key = self.extended_key.take().unwrap_or(proof.session_key);
            self.signing = Some(Signing::new(key, &proof.nt));
        }
        self.uid = header.uid;
        self.connect()
    }

    fn challenged(&mut self, header: &Header, block: &Block<'_>) -> Result<(), Refusal> {
        let response = session_setup_andx::Response::parse(block).map_err(malformed)?;
        let challenge = response.blob.and_then(ntlmssp::Challenge::parse);
        let (Some(challenge), Some(user)) = (challenge, &self.plan.user) else {
            let message = "extended security without a challenge of NTLMSSP";
            return Err(Refusal::new(Reason::Unsupported, message));
        };
        let (nonce, time) = (self.plan.nonce, self.plan.time);
        let (token, key) = ntlmssp::authenticate(&challenge, user, nonce, time);
        self.extended_key = Some(key);
        self.uid = header.uid;
        let Some(agreed) = self.agreed.clone() else { return Err(protocol("no dialect yet")) };
        self.prove(&agreed, Login::Extended, Proof { nt: token, ..Proof::default() })
    }
}

#[derive(Default)]
pub struct Proof {
    pub lm: Vec<u8>,
    pub nt: Vec<u8>,
    pub session_key: [u8; 16],
}

pub fn oem(password: &str) -> Result<Vec<u8>, Refusal> {
    let octets: Option<Vec<u8>> = password.chars().map(strings::octet).collect();
    let message = "a password with a character that the code page lacks";
    octets.ok_or_else(|| Refusal::new(Reason::Login, message))
}
