//! Listings of a directory, entry by entry: first its files, then its directories.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::file_entry::{FileEntry, attribute};
use lanlab_wire::ncp::function;
use lanlab_wire::ncp::search::{FIRST, Found, Search};
use lanlab_wire::ncp::text::{Name, unpadded};

use super::refusals::{malformed, protocol, refused};
use super::{Client, Step, names};
use crate::redirector::{CallId, Done, Listed, Refusal};

#[derive(Debug)]
pub(super) struct Listing {
    pattern: Vec<u8>,
    after: u16,
    of_directories: bool,
    entries: Vec<Listed>,
}

impl Listing {
    pub(super) const fn new(pattern: Vec<u8>) -> Self {
        Self { pattern, after: FIRST, of_directories: false, entries: Vec::new() }
    }
}

impl Client {
    pub(super) fn list(&mut self, id: CallId, listing: Listing) {
        let (handle, after) = (self.root, listing.after);
        let directory = if listing.of_directories { attribute::DIRECTORY } else { 0 };
        let attributes = attribute::HIDDEN | attribute::SYSTEM | directory;
        let pattern = listing.pattern.clone();
        let search = Search { after, handle, attributes, pattern: Name(&pattern) };
        self.ask_on(id, function::SEARCH, Step::List(listing), |out| search.emit(out));
    }

    pub(super) fn listed(&mut self, id: CallId, mut listing: Listing, code: u8, reply: &[u8]) {
        match code {
            completion::OK => match Self::add(&mut listing, reply) {
                Ok(()) => self.list(id, listing),
                Err(refusal) => self.calls.end(id, Err(refusal)),
            },
            // The listing has no more files.
            completion::FAILED if !listing.of_directories => {
                (listing.of_directories, listing.after) = (true, FIRST);
                self.list(id, listing);
            }
            completion::FAILED => self.calls.end(id, Ok(Done::Listed(listing.entries))),
            code => self.calls.end(id, Err(refused(function::SEARCH, code))),
        }
    }

    fn add(listing: &mut Listing, reply: &[u8]) -> Result<(), Refusal> {
        let found = Found::parse(reply).map_err(malformed)?;
        // A server that repeats the same position would be listed forever.
        if listing.after != FIRST && found.place <= listing.after || found.place == FIRST {
            return Err(protocol("a search that does not go on"));
        }
        listing.after = found.place;
        let entry = FileEntry::parse(&found.entry).map_err(malformed)?;
        let is_directory = entry.attributes & attribute::DIRECTORY != 0;
        let name = unpadded(&entry.name);
        if is_directory == listing.of_directories && !matches!(name, b"." | b".." | b"") {
            let name = names::listed(name);
            let size_bytes = if is_directory { 0 } else { u64::from(entry.size) };
            listing.entries.push(Listed { name, size_bytes, is_directory });
        }
        Ok(())
    }
}
