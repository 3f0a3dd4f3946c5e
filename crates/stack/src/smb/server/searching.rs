//! Listings one page at a time, and the commands search, find and find unique with 8.3 names.
//!
//! A search keeps only its position, so memory does not grow with the directory.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::search::{self, Entry, ResumeKey};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Encoded;
use lanlab_wire::smb1::{attributes, command, wildcard};

use super::found::{attributes_of, moment, size_of};
use super::names::below;
use super::refusals::{Refused, malformed};
use super::search::{LABEL, Position, Search};
use super::state::State;
use crate::files::{FileAnswer, FileCall, Found};

/// Maximum entries examined together, and entries of an 8.3 response.
const PAGE: u32 = 64;

/// A missing directory, which is not a directory without such a file.
fn no_path(refused: Refused) -> Refused {
    match refused {
        error::OBJECT_NAME_NOT_FOUND => error::OBJECT_PATH_NOT_FOUND,
        other => other,
    }
}

impl State {
    /// The next entries of a search with their positions; empty at the end. To advance the search,
    /// the caller sets its position.
    pub async fn page(&mut self, search: &mut Search) -> Result<Vec<(Position, Found)>, Refused> {
        let mut position = search.position.clone();
        let mut page = Vec::new();
        if !wildcard::is_pattern(&search.pattern) {
            if position == Position::default() {
                let path = below(&search.directory, &search.pattern);
                match self.look(&path).await {
                    Ok(found) if search.finds(&found) || search.pattern.is_empty() => {
                        position.dots = 2;
                        position.after.clone_from(&found.name);
                        page.push((position, found));
                    }
                    Ok(_) | Err(error::OBJECT_NAME_NOT_FOUND) => {}
                    Err(refused) => return Err(refused),
                }
            }
            return Ok(page);
        }
        for (at, name) in [(0, "."), (1, "..")] {
            // The root of a share has neither `.` nor `..`, as in DOS.
            if position.dots == at && !search.directory.is_empty() {
                let here = self.look(&search.directory.clone()).await.map_err(no_path)?;
                let dots = Found { name: name.to_owned(), short_name: name.to_owned(), ..here };
                position.dots += 1;
                if search.finds(&dots) {
                    page.push((position.clone(), dots));
                }
            }
        }
        position.dots = 2;
        loop {
            let call = FileCall::List {
                path: search.directory.clone(),
                after: position.after.clone(),
                most: PAGE,
            };
            let FileAnswer::Listed(listed) = self.ask(call).await.map_err(no_path)? else {
                return Err(error::UNSUCCESSFUL_IO);
            };
            let is_last = listed.len() < PAGE as usize;
            for found in listed {
                position.after.clone_from(&found.name);
                if search.finds(&found) {
                    page.push((position.clone(), found));
                }
            }
            if is_last || !page.is_empty() {
                return Ok(page);
            }
        }
    }

    pub async fn search(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = search::Request::parse(block).map_err(malformed)?;
        let room = (self.client_buffer.saturating_sub(64) / search::ENTRY_LEN).min(PAGE as usize);
        let most = usize::from(request.max_count).min(room);
        let (sid, mut search) = match request.resume_key {
            None => {
                if request.search_attributes & 0x3f == attributes::VOLUME {
                    return self.label();
                }
                let (directory, pattern) = Self::pattern(request.name)?;
                (None, Search::new(directory, &pattern, request.search_attributes, self.tid))
            }
            Some(key) => {
                let (sid, at) = read_key(key);
                let search = self.searches.remove(&sid).filter(|search| search.tid == self.tid);
                let mut search = search.ok_or(error::NO_MORE_FILES)?;
                if let Some((position, _)) = search.batch.get(usize::from(at)) {
                    search.position = position.clone();
                }
                (Some(sid), search)
            }
        };
        let client = request.resume_key.map_or([0; 4], |ResumeKey(key)| {
            let [.., a, b, c, d] = key;
            [a, b, c, d]
        });
        search.batch.clear();
        let mut listed = Vec::new();
        'all: while listed.len() < most {
            let page = self.page(&mut search).await?;
            if page.is_empty() {
                break;
            }
            for (position, found) in page {
                if listed.len() == most {
                    break 'all;
                }
                search.position = position.clone();
                if let Some(name) = Self::short_field(&found) {
                    search.batch.push((position, String::new()));
                    listed.push((name, found));
                }
            }
        }
        let is_unique = block.command() == command::FIND_UNIQUE;
        let is_empty = listed.is_empty();
        // A finished search is kept: its client may return to an entry.
        let is_kept = sid.is_some() || !(is_unique || is_empty);
        let sid = if is_kept { self.keep_search(sid, search) } else { 0 };
        if is_empty {
            return Err(error::NO_MORE_FILES);
        }
        let entries: Vec<Entry> = (0_u8..)
            .zip(listed)
            .map(|(at, (name, found))| Entry {
                resume_key: write_key(sid, at, &found, client),
                attributes: attributes_of(&found) as u8,
                last_write: moment(found.modified_s),
                size: size_of(&found),
                name,
            })
            .collect();
        self.put(|writer| search::emit_response(&entries, writer))
    }

    /// The 8.3 name field of an entry, empty if it has none.
    fn short_field(found: &Found) -> Option<[u8; search::NAME_LEN]> {
        let name = Encoded::new(&found.short_name, false).ok()?;
        let octets = name.text().octets();
        if octets.is_empty() { None } else { Entry::name_field(octets) }
    }

    fn label(&mut self) -> Result<(), Refused> {
        let entry = Entry {
            resume_key: ResumeKey([0; search::RESUME_KEY_LEN]),
            attributes: attributes::VOLUME as u8,
            last_write: moment(0),
            size: 0,
            name: Entry::name_field(LABEL.as_bytes()).ok_or(error::NO_MORE_FILES)?,
        };
        self.put(|writer| search::emit_response(&[entry], writer))
    }

    pub fn end_search(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = search::Request::parse(block).map_err(malformed)?;
        let key = request.resume_key.ok_or(error::INVALID_PARAMETER)?;
        self.searches.remove(&read_key(key).0);
        self.put(|writer| search::emit_response(&[], writer))
    }
}

/// Resume key: search and entry of its last response. The name is where DOS servers put it; the last four bytes
/// belong to the client.
fn write_key(sid: u16, at: u8, found: &Found, client: [u8; 4]) -> ResumeKey {
    let mut key = [0; search::RESUME_KEY_LEN];
    for (place, octet) in key[1..12].iter_mut().zip(found.short_name.bytes()) {
        *place = octet;
    }
    key[12..14].copy_from_slice(&sid.to_le_bytes());
    key[14] = at;
    key[17..].copy_from_slice(&client);
    ResumeKey(key)
}

fn read_key(ResumeKey(key): ResumeKey) -> (u16, u8) {
    (u16::from_le_bytes([key[12], key[13]]), key[14])
}
