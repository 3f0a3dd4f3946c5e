//! Listings of a directory, page by page.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::search::{self, ResumeKey};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::{CodePage, Encoded, Text};
use lanlab_wire::smb1::{attributes, command, find, transaction, transaction2};

use super::connecting::Agreed;
use super::{Client, Dialect, Step, malformed, names, protocol, refused};
use crate::redirector::{CallId, Done, Listed, Refusal};

/// What a listing shows.
const ANY: u16 = attributes::HIDDEN | attributes::SYSTEM | attributes::DIRECTORY;
/// Octets of a search entry and of what stands before the entries.
const SEARCH_ENTRY: u32 = search::ENTRY_LEN as u32;
/// Entries that are asked for at once by transactions.
const MAX_COUNT: u16 = 1000;
/// Octets of a page.
const MAX_PAGE: u32 = 16_384;
/// More entries than any study makes; a server that says more is not believed.
const MAX_ENTRIES: usize = 1 << 20;

/// A listing that is under way.
pub struct Listing {
    dialect: Dialect,
    code_page: CodePage,
    unicode: bool,
    pattern: Encoded,
    /// Entries of a page by `SEARCH`.
    max_count: u16,
    max_data: u16,
    entries: Vec<Listed>,
    /// Where `SEARCH` goes on.
    resume_key: Option<ResumeKey>,
    /// Where transactions go on: the search and the last name.
    search: Option<(u16, Encoded)>,
    /// A page whose end has not come.
    parameters: Vec<u8>,
    data: Vec<u8>,
}

impl Listing {
    pub fn new(client: &Client, agreed: &Agreed, path: &str) -> Result<Self, Refusal> {
        // The path is checked without the pattern, which has characters that no name has.
        client.path(path)?;
        let mut pattern = String::new();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            pattern.push('\\');
            pattern.push_str(name);
        }
        if names::are_short(agreed.dialect) {
            pattern = pattern.to_uppercase();
        }
        pattern.push_str(if agreed.dialect == Dialect::Nt { "\\*" } else { "\\*.*" });
        let code_page = client.plan.code_page;
        let unicode = agreed.is_unicode();
        let room = agreed.max_buffer.min(u32::from(u16::MAX)) - 64;
        Ok(Self {
            dialect: agreed.dialect,
            code_page,
            unicode,
            pattern: Encoded::new(&pattern, unicode, code_page).map_err(malformed)?,
            max_count: (room / SEARCH_ENTRY).clamp(1, 500) as u16,
            max_data: room.min(MAX_PAGE) as u16,
            entries: Vec::new(),
            resume_key: None,
            search: None,
            parameters: Vec::new(),
            data: Vec::new(),
        })
    }

    fn add(&mut self, text: Text<'_>, size_bytes: u64, is_directory: bool) {
        let name = text.decode(self.code_page).into_owned();
        if name != "." && name != ".." {
            let name = names::listed(name, self.dialect);
            let size_bytes = if is_directory { 0 } else { size_bytes };
            self.entries.push(Listed { name, size_bytes, is_directory });
        }
    }

    /// Take a page of `SEARCH`. Whether there may be more.
    fn take_search(&mut self, block: &Block<'_>) -> Result<bool, Refusal> {
        let status = block.header().status;
        if status.is(error::NO_MORE_FILES) || status.is(error::NO_SUCH_FILE) {
            return Ok(false);
        }
        if !status.is_success() {
            return Err(refused(block));
        }
        let response = search::Response::parse(block).map_err(malformed)?;
        let mut last = None;
        for entry in response.entries() {
            let is_directory = u16::from(entry.attributes) & attributes::DIRECTORY != 0;
            self.add(entry.text(), u64::from(entry.size), is_directory);
            last = Some(entry.resume_key);
        }
        // A server that gives the same place again would be listed without end.
        let goes_on = last.is_some() && last != self.resume_key;
        self.resume_key = last;
        Ok(goes_on)
    }

    /// Take a message of a transaction. `None` if its page has not come whole.
    fn take_found(&mut self, block: &Block<'_>) -> Result<Option<bool>, Refusal> {
        let status = block.header().status;
        if status.is(error::NO_MORE_FILES) || status.is(error::NO_SUCH_FILE) {
            return Ok(Some(false));
        }
        if !status.is_success() {
            return Err(refused(block));
        }
        let response = transaction::Response::parse(block).map_err(malformed)?;
        let (parameters, data) = (self.parameters.len(), self.data.len());
        if usize::from(response.parameter_displacement) != parameters
            && !response.parameters.is_empty()
            || usize::from(response.data_displacement) != data && !response.data.is_empty()
        {
            return Err(protocol(format!("{}: a part out of its order", block.format())));
        }
        self.parameters.extend_from_slice(response.parameters);
        self.data.extend_from_slice(response.data);
        let (parameters, data) = (self.parameters.len(), self.data.len());
        let totals = (usize::from(response.total_parameters), usize::from(response.total_data));
        if parameters > totals.0 || data > totals.1 || totals.1 > usize::from(self.max_data) {
            return Err(protocol(format!("{}: more than was announced", block.format())));
        }
        if (parameters, data) != totals {
            if response.parameters.is_empty() && response.data.is_empty() {
                return Err(protocol(format!("{}: a part of nothing", block.format())));
            }
            return Ok(None);
        }
        self.take_page().map(Some)
    }

    /// Take a page of a transaction that has come whole. Whether there is more.
    fn take_page(&mut self) -> Result<bool, Refusal> {
        let (parameters, data) =
            (std::mem::take(&mut self.parameters), std::mem::take(&mut self.data));
        let first = self.search.is_none();
        let found = find::Found::parse(&parameters, first).map_err(malformed)?;
        let mut last = Vec::new();
        if self.dialect == Dialect::Nt {
            for entry in find::BothDirectories::new(&data, found.count, self.unicode) {
                let entry = entry.map_err(malformed)?;
                let is_directory = entry.attributes & u32::from(attributes::DIRECTORY) != 0;
                self.add(entry.name, entry.end_of_file, is_directory);
                last = entry.name.octets().to_vec();
            }
        } else {
            for entry in find::Standards::new(&data, found.count, false, self.unicode) {
                let entry = entry.map_err(malformed)?;
                let is_directory = entry.attributes & attributes::DIRECTORY != 0;
                self.add(entry.name, u64::from(entry.size), is_directory);
                last = entry.name.octets().to_vec();
            }
        }
        let sid = found.sid.or(self.search.as_ref().map(|search| search.0)).unwrap_or_default();
        let last = if self.unicode { Text::Utf16(&last) } else { Text::Oem(&last) };
        let last = last.decode(self.code_page).into_owned();
        let last = Encoded::new(&last, self.unicode, self.code_page).map_err(malformed)?;
        self.search = Some((sid, last));
        Ok(!found.end_of_search && found.count > 0)
    }
}

impl Client {
    /// Ask for the first or the next page.
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
            let mut message = self.memory();
            request.emit(&mut lanlab_wire::smb1::writer::Writer::begin(&mut message, &header));
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
        let mut message = self.memory();
        request.emit(&mut lanlab_wire::smb1::writer::Writer::begin(&mut message, &header));
        self.send(id, command::TRANSACTION2, Step::List(listing), message);
    }

    /// A message of a listing has come.
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
            Err(refusal) => self.end(id, Err(refusal)),
            Ok(Some(false)) => self.end(id, Ok(Done::Listed(listing.entries))),
            Ok(Some(true)) if listing.entries.len() > MAX_ENTRIES => {
                let found = listing.entries.len();
                let refusal = protocol(format!("a listing without end after {found} entries"));
                self.end(id, Err(refusal));
            }
            Ok(Some(true)) => self.list(id, listing),
            Ok(None) => self.wait_for_more(header.mid, id, header.command, listing),
        }
    }
}
