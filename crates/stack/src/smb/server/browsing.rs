//! Lists of shares and servers over the LAN Manager pipe, as requested by `NET VIEW` of old clients and by
//! browsers.
//!
//! The server list contains only this server: it takes no part in browser elections.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::rap::{self, Answer as RapAnswer, What, server_type, status};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::transaction::{Request, Response};

use super::connecting::WORKGROUP;
use super::refusals::{Refused, malformed};
use super::state::State;
use crate::smb::Dialect;

/// The version of Windows NT 4.0; newer servers also announce it to old clients.
const VERSION: (u8, u8) = (4, 0);
const COMMENT: &[u8] = b"lanlab";
const KINDS: u32 = server_type::WORKSTATION | server_type::SERVER;
const NO_KIND: u32 = server_type::DOMAIN_ENUM | server_type::LOCAL_LIST_ONLY;

impl State {
    pub fn administer(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        if self.dialect() == Dialect::Core {
            return Err(error::SMB_BAD_COMMAND);
        }
        let request = Request::parse(block).map_err(malformed)?;
        // The name is UTF-16LE or in a code page, and its letters are ASCII.
        let lead = request.lead.iter().filter(|octet| **octet != 0);
        if !lead.map(u8::to_ascii_uppercase).eq(rap::PIPE.iter().copied()) {
            return Err(error::OBJECT_NAME_NOT_FOUND);
        }
        if !request.is_whole() {
            // No known request has parameters this long.
            return Err(error::INSUFFICIENT_RESOURCES);
        }
        let asked = rap::Request::parse(request.parameters).map_err(malformed)?;
        let room = asked.room.min(request.max_data);
        let answer = self.administration(rap::Request { room, ..asked });
        let response = Response::whole(&answer.parameters, &answer.data);
        self.put(|writer| response.emit(writer))
    }

    fn administration(&self, asked: rap::Request<'_>) -> RapAnswer {
        let (level, room) = (asked.level, asked.room);
        let (name, share) = (self.offer.name.to_uppercase(), self.offer.share.to_uppercase());
        let shares = [
            rap::Share { name: share.as_bytes(), is_pipes: false, remark: b"" },
            rap::Share { name: b"IPC$", is_pipes: true, remark: b"" },
        ];
        let own =
            rap::Server { name: name.as_bytes(), version: VERSION, kinds: KINDS, comment: COMMENT };
        match asked.what {
            What::Shares => RapAnswer::shares(&shares, level, room),
            What::Share { name } => {
                let found = shares.iter().find(|share| share.name.eq_ignore_ascii_case(name));
                match found {
                    Some(share) => RapAnswer::share(share, level, room),
                    None => RapAnswer::refused(status::NO_SUCH_SHARE),
                }
            }
            What::Server => RapAnswer::server(&own, level, room),
            What::Workstation => {
                let group = WORKGROUP.as_bytes();
                let computer = rap::Workstation { name: own.name, group, version: VERSION };
                RapAnswer::workstation(&computer, level, room)
            }
            What::Servers { kinds } if kinds & server_type::DOMAIN_ENUM != 0 => {
                // For a workgroup, the comment names its master browser.
                let kinds = server_type::DOMAIN_ENUM;
                let group = rap::Server {
                    name: WORKGROUP.as_bytes(),
                    kinds,
                    comment: own.name,
                    version: VERSION,
                };
                RapAnswer::servers(&[group], level, room)
            }
            What::Servers { kinds } => {
                let is_asked_for = kinds & !NO_KIND == 0 || kinds & KINDS != 0;
                let known = [own];
                RapAnswer::servers(&known[..usize::from(is_asked_for)], level, room)
            }
            What::Other { .. } => RapAnswer::refused(status::NOT_SUPPORTED),
        }
    }
}
