//! Listings by transactions, with long names.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::find::{self, BothDirectory, Close2, Standard, flags, level};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Encoded;

use super::found::{attributes_of, moment, size_of, ticks};
use super::pending::{Parts, Whole};
use super::refusals::{Refused, malformed};
use super::search::{Position, Search};
use super::state::State;
use crate::files::Found;
use crate::smb::responses::utf16;

struct Filling {
    level: u16,
    has_keys: bool,
    is_unicode: bool,
    most: usize,
    room: usize,
    data: Vec<u8>,
    count: u16,
    last: Option<usize>,
}

impl Filling {
    /// Append an entry if it fits. `None` if its name cannot be encoded.
    fn add(&mut self, found: &Found, key: u32) -> Option<bool> {
        let name = Encoded::new(&found.name, self.is_unicode).ok();
        // A name that the code page lacks is replaced by its short name.
        let name = match name {
            Some(name) => name,
            None => Encoded::new(&found.short_name, self.is_unicode).ok()?,
        };
        if name.text().is_empty() {
            return None;
        }
        let (begin, last) = (self.data.len(), self.last);
        if self.level == level::STANDARD {
            let written = moment(found.modified_s);
            let entry = Standard {
                resume_key: self.has_keys.then_some(key),
                creation: written,
                last_access: moment(found.accessed_s),
                last_write: written,
                size: size_of(found),
                allocation_size: size_of(found),
                attributes: attributes_of(found),
                name: name.text(),
            };
            if name.text().octets().len() > usize::from(u8::MAX) {
                return None;
            }
            if begin + entry.len_at(begin) > self.room {
                return Some(false);
            }
            entry.emit(0, &mut self.data);
            self.last = Some(begin);
        } else {
            let short = if found.short_name.eq_ignore_ascii_case(&found.name) {
                Vec::new()
            } else {
                utf16(&found.short_name)
            };
            let written = ticks(found.modified_s);
            let entry = BothDirectory {
                file_index: key,
                creation_time: written,
                last_access_time: ticks(found.accessed_s),
                last_write_time: written,
                change_time: written,
                end_of_file: found.size_bytes,
                allocation_size: found.size_bytes,
                attributes: u32::from(attributes_of(found)),
                ea_size: 0,
                short_name: &short,
                name: name.text(),
            };
            if self.data.len().next_multiple_of(8) + entry.len_at(self.level) > self.room {
                return Some(false);
            }
            self.last = Some(entry.emit_at(self.level, 0, last, &mut self.data));
        }
        self.count += 1;
        Some(true)
    }
}

impl State {
    pub async fn find_first(&mut self, whole: &Whole) -> Result<Parts, Refused> {
        let request = find::First::parse(&whole.parameters, whole.is_unicode);
        let request = request.map_err(malformed)?;
        let (directory, pattern) = Self::pattern(request.name)?;
        let mut search = Search::new(directory, &pattern, request.search_attributes, self.tid);
        let filling = self.filling(request.level, request.flags, request.search_count, whole)?;
        let (filling, is_over) = self.fill(filling, &mut search).await?;
        if filling.count == 0 {
            return Err(error::NO_SUCH_FILE);
        }
        let ends = request.flags & flags::CLOSE_AFTER_REQUEST != 0
            || (is_over && request.flags & flags::CLOSE_AT_END != 0);
        let sid = if ends { 0 } else { self.keep_search(None, search) };
        Ok(parts(filling, Some(sid), is_over))
    }

    pub async fn find_next(&mut self, whole: &Whole) -> Result<Parts, Refused> {
        let request = find::Next::parse(&whole.parameters, whole.is_unicode).map_err(malformed)?;
        let filling = self.filling(request.level, request.flags, request.search_count, whole)?;
        let name = request.name.decode();
        let search = self.searches.remove(&request.sid).filter(|search| search.tid == self.tid);
        let mut search = search.ok_or(error::INVALID_HANDLE)?;
        if request.flags & flags::CONTINUE_FROM_LAST == 0 {
            // Resume at the name of an entry of the last response, if it is known.
            let known = search.batch.iter().find(|(_, known)| *known == name);
            if let Some((position, _)) = known {
                search.position = position.clone();
            }
        }
        let (filling, is_over) = self.fill(filling, &mut search).await?;
        let ends = request.flags & flags::CLOSE_AFTER_REQUEST != 0
            || (is_over && request.flags & flags::CLOSE_AT_END != 0);
        if !ends {
            self.keep_search(Some(request.sid), search);
        }
        Ok(parts(filling, None, is_over))
    }

    fn filling(
        &self,
        level: u16,
        flags: u16,
        search_count: u16,
        whole: &Whole,
    ) -> Result<Filling, Refused> {
        use level::{BOTH_DIRECTORY, DIRECTORY, FULL_DIRECTORY, STANDARD};
        if !matches!(level, STANDARD | DIRECTORY | FULL_DIRECTORY | BOTH_DIRECTORY) {
            return Err(error::INVALID_LEVEL);
        }
        Ok(Filling {
            level,
            has_keys: flags & flags::RETURN_RESUME_KEYS != 0,
            is_unicode: whole.is_unicode,
            most: usize::from(search_count.max(1)),
            room: self.room(whole),
            data: Vec::new(),
            count: 0,
            last: None,
        })
    }

    async fn fill(
        &mut self,
        mut filling: Filling,
        search: &mut Search,
    ) -> Result<(Filling, bool), Refused> {
        search.batch.clear();
        loop {
            let page = self.page(search).await?;
            if page.is_empty() {
                return Ok((filling, true));
            }
            for (position, found) in page {
                if usize::from(filling.count) == filling.most {
                    return Ok((filling, false));
                }
                match filling.add(&found, u32::from(filling.count)) {
                    Some(false) => return Ok((filling, false)),
                    Some(true) => keep(search, position.clone(), &found),
                    None => {}
                }
                search.position = position;
            }
        }
    }

    pub fn end_find(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = Close2::parse(block).map_err(malformed)?;
        let search = self.searches.remove(&request.sid);
        search.ok_or(error::INVALID_HANDLE)?;
        self.put_nothing()
    }
}

/// Entries of a response, counted from its end, to which a client may return.
const MAX_KEPT: usize = 32;

fn keep(search: &mut Search, position: Position, found: &Found) {
    if search.batch.len() == MAX_KEPT {
        search.batch.remove(0);
    }
    search.batch.push((position, found.name.clone()));
}

fn parts(filling: Filling, sid: Option<u16>, end_of_search: bool) -> Parts {
    let found = find::Found {
        sid,
        count: filling.count,
        end_of_search,
        ea_error_offset: 0,
        last_name_offset: filling.last.unwrap_or(0) as u16,
    };
    let mut parameters = Vec::new();
    found.emit(&mut parameters);
    Parts { parameters, data: filling.data }
}
