//! Listings of a directory, page by page.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::search::{self, ResumeKey};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::{Encoded, Text};
use lanlab_wire::smb1::{attributes, find, transaction};

use super::agreed::Agreed;
use super::names;
use super::refusals::{malformed, protocol, refused};
use crate::redirector::{Listed, ListingLimits, Refusal};
use crate::smb::Dialect;
use lanlab_wire::smb1::AROUND_DATA;

/// Bytes of a search entry, and of the response before the entries.
const SEARCH_ENTRY: u32 = search::ENTRY_LEN as u32;
const MAX_PAGE: u32 = 16_384;
pub struct Listing {
    session: Dialect,
    pub dialect: Dialect,
    pub unicode: bool,
    pub pattern: Encoded,
    pub max_count: u16,
    pub max_data: u16,
    pub entries: Vec<Listed>,
    pub resume_key: Option<ResumeKey>,
    pub search: Option<(u16, Encoded)>,
    limits: ListingLimits,
    parameters: Vec<u8>,
    data: Vec<u8>,
}

impl Listing {
    pub fn new(agreed: &Agreed, path: &str) -> Result<Self, Refusal> {
        let mut pattern = String::new();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            names::check(name, agreed.dialect)?;
            pattern.push('\\');
            pattern.push_str(name);
        }
        if names::are_short(agreed.dialect) {
            pattern = pattern.to_uppercase();
        }
        // To Windows NT servers `*.*` matches only names with a dot, in listings of any kind.
        pattern.push_str(if agreed.dialect == Dialect::Nt { "\\*" } else { "\\*.*" });
        let unicode = agreed.is_unicode();
        let room = agreed.max_buffer.min(u32::from(u16::MAX)) - 64;
        Ok(Self {
            session: agreed.dialect,
            dialect: agreed.listings,
            unicode,
            pattern: Encoded::new(&pattern, unicode).map_err(malformed)?,
            max_count: (room / SEARCH_ENTRY).clamp(1, 500) as u16,
            // A page is one message, including what precedes its data.
            max_data: room.saturating_sub(AROUND_DATA).clamp(1, MAX_PAGE) as u16,
            entries: Vec::new(),
            resume_key: None,
            search: None,
            limits: ListingLimits::default(),
            parameters: Vec::new(),
            data: Vec::new(),
        })
    }

    /// Restart at the Windows NT level: some servers that announce older listings answer them with another level
    /// (impacket).
    pub fn begins_again_as_nt(&mut self) -> bool {
        let may =
            self.session == Dialect::Nt && self.dialect != Dialect::Nt && self.search.is_none();
        if may {
            self.dialect = Dialect::Nt;
            self.entries.clear();
            self.parameters.clear();
            self.data.clear();
        }
        may
    }

    fn add(&mut self, text: Text<'_>, size_bytes: u64, is_directory: bool) -> Result<(), Refusal> {
        let name = text.decode().into_owned();
        self.limits.take(1, name.len()).map_err(protocol)?;
        if name != "." && name != ".." {
            let name = names::listed(name, self.session);
            let size_bytes = if is_directory { 0 } else { size_bytes };
            self.entries.push(Listed { name, size_bytes, is_directory });
        }
        Ok(())
    }

    pub fn take_search(&mut self, block: &Block<'_>) -> Result<bool, Refusal> {
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
            self.add(entry.text(), u64::from(entry.size), is_directory)?;
            last = Some(entry.resume_key);
        }
        // A server that repeats the same position would be listed forever.
        let goes_on = last.is_some() && last != self.resume_key;
        self.resume_key = last;
        Ok(goes_on)
    }

    /// Handle a message of a transaction. `None` while the page is incomplete.
    pub fn take_found(&mut self, block: &Block<'_>) -> Result<Option<bool>, Refusal> {
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

    /// Parse a complete page. Returns whether more follow.
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
                self.add(entry.name, entry.end_of_file, is_directory)?;
                last = entry.name.octets().to_vec();
            }
        } else {
            for entry in find::Standards::new(&data, found.count, false, self.unicode) {
                let entry = entry.map_err(malformed)?;
                let is_directory = entry.attributes & attributes::DIRECTORY != 0;
                self.add(entry.name, u64::from(entry.size), is_directory)?;
                last = entry.name.octets().to_vec();
            }
        }
        let sid = found.sid.or(self.search.as_ref().map(|search| search.0)).unwrap_or_default();
        let last = if self.unicode { Text::Utf16(&last) } else { Text::Oem(&last) };
        let last = last.decode().into_owned();
        let last = Encoded::new(&last, self.unicode).map_err(malformed)?;
        self.search = Some((sid, last));
        Ok(!found.end_of_search && found.count > 0)
    }
}
