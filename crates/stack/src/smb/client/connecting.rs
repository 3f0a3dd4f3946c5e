//! Session set-up: from dialect offer to share.

use std::sync::Arc;

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::{Header, flags2};
use lanlab_wire::smb1::negotiate::{self, NO_DIALECT, raw_mode, security};
use lanlab_wire::smb1::strings::{Encoded, Text};
use lanlab_wire::smb1::{command, tree_connect, tree_connect_andx};

use super::agreed::{Agreed, Login, MAX_BUFFER, MAX_OUTSTANDING, Transfer};
use super::login::oem;
use super::names;
use super::refusals::{malformed, protocol, refused};
use super::state::{Client, Step};
use crate::redirector::{Done, Reason, RedirectorFacts, Refusal};
use crate::smb::Dialect;
use lanlab_wire::smb1::AROUND_DATA;

impl Client {
    fn offered(&self) -> Vec<Dialect> {
        self.plan.dialect.map_or_else(|| Dialect::ALL.to_vec(), |dialect| vec![dialect])
    }

    pub(super) fn negotiate(&mut self) {
        let offered: Vec<_> = self.offered().into_iter().map(Dialect::name).collect();
        let newest = self.plan.dialect.is_none_or(|dialect| dialect == Dialect::Nt);
        let mut header = self.header(command::NEGOTIATE);
        if newest {
            // A guest has no password to prove.
            let extended = if self.plan.user.is_some() { flags2::EXTENDED_SECURITY } else { 0 };
            header.flags2 |= flags2::LONG_NAMES | flags2::NT_STATUS | flags2::UNICODE | extended;
            header.status = lanlab_wire::smb1::status::Status::success(header.flags2);
        }
        self.ask_as(&header, Self::CONNECTED, Step::Negotiate, |writer| {
            negotiate::emit_request(&offered, writer);
        });
    }

    pub(super) fn negotiated(&mut self, block: &Block<'_>) -> Result<(), Refusal> {
        if !block.header().status.is_success() {
            return Err(refused(block));
        }
        let offered = self.offered();
        let response = negotiate::Response::parse(block).map_err(malformed)?;
        let index = match &response {
            negotiate::Response::Core { index } => *index,
            negotiate::Response::LanMan(response) => response.index,
            negotiate::Response::NtLm(response) => response.index,
        };
        let names = offered.iter().map(|dialect| format!("`{}`", dialect.name()));
        let names = names.collect::<Vec<_>>().join(", ");
        if index == NO_DIALECT {
            let message = format!("the server speaks none of the dialects {names}");
            return Err(Refusal::new(Reason::Unsupported, message));
        }
        let Some(dialect) = offered.get(usize::from(index)).copied() else {
            return Err(protocol(format!("dialect {index} chosen; offered: {names}")));
        };
        let mut agreed = Agreed {
            dialect,
            commands: dialect,
            listings: dialect,
            flags2: 0,
            capabilities: 0,
            max_buffer: u32::from(MAX_BUFFER),
            max_mpx: 1,
            read_bytes: 0,
            write_bytes: 0,
            framed_bytes: 0,
            has_raw: false,
            has_multiplexed: false,
            transfer: Transfer::Framed,
            security_mode: 0,
            is_signed: false,
            session_key: 0,
            challenge: None,
            server: None,
            login: Login::Guest,
        };
        let is_of = match response {
            negotiate::Response::Core { .. } => dialect == Dialect::Core,
            negotiate::Response::LanMan(response) => {
                agreed.max_buffer = u32::from(response.max_buffer);
                agreed.max_mpx = response.max_mpx;
                let both = raw_mode::READ | raw_mode::WRITE;
                agreed.has_raw = response.raw_mode & both == both;
                agreed.security_mode = response.security_mode;
                agreed.session_key = response.session_key;
                agreed.challenge = response.challenge.try_into().ok();
                matches!(dialect, Dialect::LanMan1 | Dialect::LanMan2)
            }
            negotiate::Response::NtLm(response) => {
                agreed.of_nt(&response);
                dialect == Dialect::Nt
            }
        };
        if !is_of {
            return Err(protocol(format!(
                "a response that is not of dialect `{}`",
                dialect.name()
            )));
        }
        let most = if self.plan.carrier.is_one_at_a_time { 1 } else { MAX_OUTSTANDING };
        agreed.max_mpx = agreed.max_mpx.clamp(1, most);
        if dialect == Dialect::LanMan2 {
            agreed.flags2 |= flags2::LONG_NAMES;
        }
        agreed.set_data_bytes(self.plan.carrier.longest_message);
        if agreed.max_buffer < 2 * AROUND_DATA {
            let found = agreed.max_buffer;
            return Err(protocol(format!("a server that takes messages of {found} octets")));
        }
        agreed.login = self.first_login(&agreed)?;
        agreed.is_signed = self.has_signatures(&agreed)?;
        let login = agreed.login;
        self.agreed = Some(Arc::new(agreed));
        if dialect == Dialect::Core { self.connect_by_password() } else { self.log_in(login) }
    }

    pub(super) fn encoded(&self, text: &str) -> Result<Encoded, Refusal> {
        let unicode = self.agreed.as_ref().is_some_and(|agreed| agreed.is_unicode());
        Encoded::new(text, unicode).map_err(malformed)
    }

    fn share(&self) -> Result<Encoded, Refusal> {
        self.encoded(&format!("\\\\{}\\{}", self.plan.server, self.plan.share).to_uppercase())
    }

    pub(super) fn connect(&mut self) -> Result<(), Refusal> {
        let Some(agreed) = &self.agreed else { return Err(protocol("no dialect yet")) };
        let mut password = vec![0];
        if !agreed.has(security::USER_LEVEL) {
            let proof = self.proof(agreed.login)?;
            password = if proof.nt.is_empty() { proof.lm } else { proof.nt };
            if agreed.login == Login::Plain || agreed.login == Login::Guest {
                password.push(0);
            }
        }
        let share = self.share()?;
        let request = tree_connect_andx::Request {
            flags: 0,
            password: &password,
            path: share.text(),
            service: Text::Oem(b"A:"),
        };
        let command = command::TREE_CONNECT_ANDX;
        self.ask(Self::CONNECTED, command, Step::Connect, |writer| request.emit(writer));
        Ok(())
    }

    fn connect_by_password(&mut self) -> Result<(), Refusal> {
        let password = match &self.plan.user {
            Some(user) => oem(&user.password)?,
            None => Vec::new(),
        };
        let share = self.share()?;
        let request = tree_connect::Request {
            path: share.text(),
            password: Text::Oem(&password),
            service: Text::Oem(b"A:"),
        };
        let command = command::TREE_CONNECT;
        self.ask(Self::CONNECTED, command, Step::Connect, |writer| request.emit(writer));
        Ok(())
    }

    pub(super) fn connected(&mut self, header: &Header, block: &Block<'_>) -> Result<(), Refusal> {
        if !header.status.is_success() {
            return Err(refused(block));
        }
        let longest = self.plan.carrier.longest_message;
        let is_signed = self.signing.is_some();
        let Some(agreed) = self.agreed.as_mut().map(Arc::make_mut) else {
            return Err(protocol("no dialect yet"));
        };
        self.tid = header.tid;
        if agreed.dialect == Dialect::Core {
            let response = tree_connect::Response::parse(block).map_err(malformed)?;
            self.tid = response.tid;
            agreed.max_buffer = u32::from(response.max_buffer);
            if agreed.max_buffer < 2 * AROUND_DATA {
                let found = agreed.max_buffer;
                return Err(protocol(format!("a server that takes messages of {found} octets")));
            }
            agreed.set_data_bytes(longest);
        } else {
            let response = tree_connect_andx::Response::parse(block).map_err(malformed)?;
            if !is_of_files(&response.service) {
                let found = response.service.decode();
                let message = format!("a share of `{found}`; allowed: files (`A:`)");
                return Err(Refusal::new(Reason::Missing, message));
            }
        }
        if self.plan.raw {
            // Messages without a header cannot be signed.
            if !agreed.has_raw || is_signed || !self.plan.carrier.keeps_raw {
                let message = "raw reads and writes, which server or connection do not have";
                return Err(Refusal::new(Reason::Unsupported, message));
            }
            agreed.set_raw();
        }
        let is_whole = agreed.has_multiplexed && agreed.max_buffer >= longest;
        if self.plan.multiplexed && self.plan.carrier.is_connectionless() && is_whole {
            agreed.set_multiplexed(longest);
        }
        let (dialect, login) = (agreed.protocol(), agreed.login.name());
        let transfer = match agreed.transfer {
            Transfer::Framed => "",
            Transfer::Raw => ", raw",
            Transfer::Multiplexed => ", multiplexed",
        };
        self.calls.facts = Some(RedirectorFacts {
            protocol: format!("SMB 1, {dialect}, {login}{transfer}"),
            protection: if self.signing.is_some() { "signed, MD5" } else { "none" }.to_owned(),
            server: agreed.server.clone(),
            read_bytes: agreed.read_bytes,
            write_bytes: agreed.write_bytes,
            largest_file_bytes: agreed.largest_file_bytes(),
            depth: if agreed.transfer == Transfer::Raw { 1 } else { agreed.max_mpx },
            short_names: names::are_short(agreed.dialect),
        });
        self.calls.end(Self::CONNECTED, Ok(Done::Nothing));
        Ok(())
    }
}

/// Whether a share contains files, that is, none of the other types of [MS-CIFS] 2.2.4.55.1. impacket 0.13 reports
/// the type `SHARE` for files.
fn is_of_files(service: &Text<'_>) -> bool {
    !["LPT1:", "COMM", "IPC"].iter().any(|other| service.is_ascii(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_share_type_counts_as_a_file_share() {
        let kinds = ["A:", "SHARE", "LPT1:", "ipc", "COMM"];
        let found = kinds.map(|kind| is_of_files(&Text::Oem(kind.as_bytes())));
        assert_eq!(found, [true, true, false, false, false]);
    }
}
