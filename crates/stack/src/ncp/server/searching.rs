//! Searches: one request per entry, with or without an open search.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::directories::Path;
use lanlab_wire::ncp::search::{self, Begun, FIRST, Found as Entry};

use super::entries::{directory_entry, file_entry};
use super::refusals::{Refused, malformed};
use super::search::{Cursor, finds};
use super::state::State;
use crate::files::{FileAnswer, FileCall, Found, Names};

const PAGE: u32 = 64;

impl State {
    async fn next_of(&mut self, cursor: &mut Cursor) -> Result<Option<Found>, Refused> {
        if cursor.page.is_empty() && !cursor.is_at_end {
            let (path, after) = (cursor.directory.clone(), cursor.after.clone());
            let FileAnswer::Listed(listed) =
                self.ask(FileCall::List { path, after, most: PAGE }).await?
            else {
                return Err(completion::IO_ERROR);
            };
            cursor.is_at_end = listed.len() < PAGE as usize;
            if let Some(last) = listed.last() {
                cursor.after.clone_from(&last.name);
            }
            cursor.page = listed.into();
        }
        let next = cursor.page.pop_front();
        if next.is_some() {
            cursor.place += 1;
        }
        Ok(next)
    }

    /// The first entry behind position `after`, with its position. `first` means from the start.
    pub async fn find(
        &mut self,
        (directory, pattern): (&Names, &str),
        attributes: u16,
        after: u32,
        first: u32,
    ) -> Result<(u32, Found), Refused> {
        let start = if after == first { 0 } else { after };
        if start == 0 {
            self.look_at_directory(directory).await?;
        }
        let mut cursor = self.searches.take(directory, start);
        let mut found = None;
        while cursor.place < first - 1 {
            let Some(next) = self.next_of(&mut cursor).await? else { break };
            if cursor.place > start && finds(pattern, attributes, &next) {
                found = Some((cursor.place, next));
                break;
            }
        }
        if found.is_some() {
            self.searches.keep(cursor);
        }
        found.ok_or(completion::FAILED)
    }

    pub async fn search(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = search::Search::parse(data).map_err(malformed)?;
        let (directory, pattern) = self.pattern(asked.handle, asked.pattern.0)?;
        let place = (&directory, pattern.as_str());
        let (attributes, after) = (asked.attributes.into(), asked.after.into());
        let (place, found) = self.find(place, attributes, after, FIRST.into()).await?;
        let mut entry = Vec::new();
        file_entry(&found).emit(&mut entry);
        self.put_entry(place, 0, &entry);
        Ok(())
    }

    pub async fn begin_search(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Path::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        self.look_at_directory(&path).await?;
        let directory = self.searches.begin(path);
        Begun { volume: 0, directory, after: FIRST, rights: self.rights() }.emit(&mut self.head);
        Ok(())
    }

    pub async fn go_on_with_search(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = search::Continue::parse(data).map_err(malformed)?;
        let begun = self.searches.begun.iter().find(|(number, _)| *number == asked.directory);
        let (number, directory) = begun.cloned().ok_or(completion::NO_SUCH_PATH)?;
        let pattern = Self::text(asked.pattern.0);
        let place = (&directory, pattern.as_str());
        let (attributes, after) = (asked.attributes.into(), asked.after.into());
        let (place, found) = self.find(place, attributes, after, FIRST.into()).await?;
        let mut entry = Vec::new();
        if found.is_directory {
            directory_entry(&found, self.rights()).emit(&mut entry);
        } else {
            file_entry(&found).emit(&mut entry);
        }
        self.put_entry(place, number, &entry);
        Ok(())
    }

    fn put_entry(&mut self, place: u32, directory: u16, entry: &[u8]) {
        let place = place as u16;
        if let Some(entry) = entry.first_chunk().copied() {
            Entry { place, directory, entry }.emit(&mut self.head);
        }
    }

    /// Matching names of a directory after a given name, one page at a time.
    pub async fn page_of(
        &mut self,
        directory: &Names,
        pattern: &str,
        after: String,
    ) -> Result<(Vec<Found>, Option<String>), Refused> {
        let call = FileCall::List { path: directory.clone(), after, most: PAGE };
        let FileAnswer::Listed(listed) = self.ask(call).await? else {
            return Err(completion::IO_ERROR);
        };
        let last = listed.last().map(|found| found.name.clone());
        Ok((listed.into_iter().filter(|found| finds(pattern, 0, found)).collect(), last))
    }
}
