//! Requests of listings.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::smb1::{attributes, command, find, search, transaction, transaction2};

use super::listing::Listing;
use super::names;
use super::state::{Client, Step};
use crate::redirector::{CallId, Done};
use crate::smb::Dialect;

const ANY: u16 = attributes::HIDDEN | attributes::SYSTEM | attributes::DIRECTORY;
const MAX_COUNT: u16 = 1000;

impl Client {
    pub(super) fn list(&mut self, id: CallId, listing: Box<Listing>) {
        if names::are_short(listing.dialect) {
            let request = search::Request {
                max_count: listing.max_count,
                search_attributes: ANY,
                name: if listing.resume_key.is_some() {
                    Text::Oem(&[])
                } else {
                    listing.pattern.text()
                },
                resume_key: listing.resume_key,
            };
            let header = self.header(command::SEARCH);
            let mut message = self.calls.memory();
            request.emit(&mut Writer::begin(&mut message, &header));
            self.send(id, command::SEARCH, Step::List(listing), message);
            return;
        }
        let level = match listing.dialect {
            Dialect::Nt => find::level::BOTH_DIRECTORY,
            _ => find::level::STANDARD,
        };
        let mut parameters = Vec::new();
        let subcommand = if let Some((sid, last)) = &listing.search {
            let flags = find::flags::CLOSE_AT_END | find::flags::CONTINUE_FROM_LAST;
            let next = find::Next {
                sid: *sid,
                search_count: MAX_COUNT,
                level,
                resume_key: 0,
                flags,
                name: last.text(),
            };
            next.emit(&mut parameters);
            transaction2::FIND_NEXT2
        } else {
            let first = find::First {
                search_attributes: ANY,
                search_count: MAX_COUNT,
                flags: find::flags::CLOSE_AT_END,
                level,
                storage_type: 0,
                name: listing.pattern.text(),
            };
            first.emit(&mut parameters);
            transaction2::FIND_FIRST2
        };
        let setup = subcommand.to_le_bytes();
        let request = transaction::Request {
            max_parameters: 10,
            max_data: listing.max_data,
            ..transaction::Request::whole(&setup, &parameters, &[])
        };
        let header = self.header(command::TRANSACTION2);
        let mut message = self.calls.memory();
        request.emit(&mut Writer::begin(&mut message, &header));
        self.send(id, command::TRANSACTION2, Step::List(listing), message);
    }

    pub(super) fn listed(
        &mut self,
        id: CallId,
        header: &Header,
        block: &Block<'_>,
        mut listing: Box<Listing>,
    ) {
        let taken = if header.command == command::SEARCH {
            listing.take_search(block).map(Some)
        } else {
            listing.take_found(block)
        };
        match taken {
            Err(_) if header.status.is_success() && listing.begins_again_as_nt() => {
                self.list(id, listing);
            }
            Err(refusal) => self.calls.end(id, Err(refusal)),
            Ok(Some(false)) => self.calls.end(id, Ok(Done::Listed(listing.entries))),
            Ok(Some(true)) => self.list(id, listing),
            Ok(None) => {
                self.await_again(header.mid, id, header.command, Step::List(listing));
            }
        }
    }
}
