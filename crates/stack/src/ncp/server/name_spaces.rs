//! Name space calls (57h) for the DOS name space, which NetWare 3 clients use instead of the old calls.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::file_entry::attribute;
use lanlab_wire::ncp::name_space::{
    Changes, DOS, Entry, FIRST, Numbered, Opened, Path, Progress, Request, WholePath, begin, mask,
    open,
};
use lanlab_wire::smb1::time::DateTime;

use super::entries::attributes_of;
use super::numbers::ROOT;
use super::opening::sharing_of;
use super::refusals::{Refused, malformed};
use super::search::is_of_kind;
use super::state::State;
use crate::files::{FileCall, Found, Names};

const AROUND_ENTRIES: usize = 64;
const ENTRY_BYTES: usize = 76 + 1 + 12;
/// Search attributes of the old calls; higher bits are DOS attributes.
const SAYS_KIND: u16 = attribute::DIRECTORY as u16;

impl State {
    pub async fn name_space(&mut self, part: u8, data: &[u8]) -> Result<(), Refused> {
        match Request::parse(part, data).map_err(malformed)? {
            Request::Open { mode, mask, attributes, access, path } => {
                self.open_entry((mode, access), mask, attributes, &path).await?;
            }
            Request::BeginSearch { path } => {
                let path = self.ns_path(&path)?;
                self.look_at_directory(&path).await?;
                Progress { volume: 0, directory: self.entry_number(&path), after: FIRST }
                    .emit(&mut self.head);
            }
            Request::Search { is_set, search, mask, most, from, pattern } => {
                self.search_entries(is_set, (search, mask, most), from, pattern).await?;
            }
            Request::Rename { search, from, to } => self.rename_entry(search, &from, &to).await?,
            Request::Look { mask, path } => {
                let path = self.ns_path(&path)?;
                let found = self.look(&path).await?;
                self.put_ns_entry(&path, &found, mask)?;
            }
            Request::Change { mask, changes, path } => {
                self.change_entry(mask, changes, &path).await?;
            }
            Request::Remove { search, path } => self.remove_entries(search, &path).await?,
            Request::SetHandle { handle, path } => {
                let path = self.ns_path(&path)?;
                self.set_handle_to(handle, path).await?;
            }
            Request::Allocate { is_temporary, path } => {
                let path = self.ns_path(&path)?;
                self.look_at_directory(&path).await?;
                let handle = self.new_handle(path, None, is_temporary)?;
                self.head.extend_from_slice(&[handle, 0, 0, 0, 0, 0]);
            }
            Request::PathOfHandle { handle } => self.put_path_of(handle)?,
            Request::Number { path } => {
                let path = self.ns_path(&path)?;
                self.look(&path).await?;
                let number = self.entry_number(&path);
                Numbered { number, dos_number: number, volume: 0 }.emit(&mut self.head);
            }
            Request::Spaces { volume: 0 } => self.head.extend_from_slice(&[1, 0, DOS]),
            Request::Spaces { .. } => return Err(completion::NO_SUCH_VOLUME),
            Request::WholePath { path } => self.put_whole_path(&path).await?,
            Request::Rights { mask, path } => {
                let path = self.ns_path(&path)?;
                let found = self.look(&path).await?;
                let rights = u16::from(self.rights());
                self.head.extend_from_slice(&rights.to_le_bytes());
                self.put_ns_entry(&path, &found, mask)?;
            }
            Request::OtherSpace => return Err(completion::OTHER_NAME_SPACE),
            Request::Unknown => return Err(completion::UNSUPPORTED),
        }
        Ok(())
    }

    fn entry_number(&self, path: &Names) -> u32 {
        self.numbers().number(path)
    }

    /// The path of a request, whose last name may be a pattern.
    fn ns_pattern(&self, path: &Path<'_>) -> Result<(Names, String), Refused> {
        let below = |names: &[&[u8]]| names.join(&b'\\');
        match (path.begin, &path.names[..]) {
            (begin::HANDLE, names) => self.pattern(path.volume, &below(names)),
            (begin::NUMBER, names) if path.volume == 0 => {
                let start = self.numbers().path(path.number).ok_or(completion::NO_SUCH_PATH)?;
                self.pattern_below(start, &Self::text(&below(names)))
            }
            (begin::NOTHING, [volume, names @ ..]) => {
                let volume = volume.strip_suffix(b":").unwrap_or(volume);
                let names = [&[volume, b":"].concat(), &below(names)[..]].concat();
                self.pattern(0, &names)
            }
            _ => Err(completion::NO_SUCH_VOLUME),
        }
    }

    fn ns_path(&self, path: &Path<'_>) -> Result<Names, Refused> {
        self.ns_pattern(path).and_then(Self::without_pattern)
    }

    fn put_ns_entry(&mut self, path: &Names, found: &Found, wanted: u32) -> Result<(), Refused> {
        if wanted & mask::COMPRESSED != 0 {
            return Err(completion::UNSUPPORTED);
        }
        let moment = |since_1970_s: u64| DateTime::from_unix(since_1970_s.cast_signed());
        let (written, accessed) = (moment(found.modified_s), moment(found.accessed_s));
        let number = self.entry_number(path);
        let size = u32::try_from(found.size_bytes).unwrap_or(u32::MAX);
        let attributes = u32::from(attributes_of(found));
        let entry = Entry {
            allocated: size,
            attributes,
            flags: attributes as u16,
            size,
            total_size: size,
            streams: 1,
            created_time: written.time,
            created_date: written.date,
            written_time: written.time,
            written_date: written.date,
            accessed_date: accessed.date,
            rights: u16::from(self.rights()),
            number,
            dos_number: number,
            name_space: DOS.into(),
            ..Entry::default()
        };
        entry.emit(&mut self.head);
        if wanted & mask::NAME != 0 {
            let name = if number == ROOT {
                self.offer.volume.to_ascii_uppercase().into_bytes()
            } else {
                found.short_name.clone().into_bytes()
            };
            self.head.push(name.len() as u8);
            self.head.extend_from_slice(&name);
        }
        Ok(())
    }

    async fn open_entry(
        &mut self,
        (mode, access): (u8, u16),
        wanted: u32,
        attributes: u32,
        path: &Path<'_>,
    ) -> Result<(), Refused> {
        let path = self.ns_path(path)?;
        let is_there = match self.look(&path).await {
            Ok(_) => true,
            Err(completion::FAILED) if mode & open::CREATE != 0 => false,
            Err(refused) => return Err(refused),
        };
        let is_read_only = attributes & u32::from(attribute::READ_ONLY) != 0;
        let (file, action) = if attributes & u32::from(attribute::DIRECTORY) != 0 {
            self.make_directory_at(path.clone()).await?;
            ([0; 4], open::CREATED)
        } else if is_there && mode & (open::OPEN | open::REPLACE) == open::OPEN {
            let (number, _) = self.open_at(path.clone(), sharing_of(access as u8)).await?;
            (number, open::OPEN)
        } else {
            let is_new = mode & open::REPLACE == 0;
            let (number, _) = self
                .create_at(path.clone(), is_new, is_read_only, sharing_of(access as u8))
                .await?;
            (number, if is_there { open::REPLACED } else { open::CREATED })
        };
        Opened { file, action, reserved: 0 }.emit(&mut self.head);
        let found = self.look(&path).await?;
        self.put_ns_entry(&path, &found, wanted)
    }

    async fn search_entries(
        &mut self,
        is_set: bool,
        (search, wanted, most): (u16, u32, u16),
        from: Progress,
        pattern: &[u8],
    ) -> Result<(), Refused> {
        let start = Path {
            volume: from.volume,
            number: from.directory,
            begin: begin::NUMBER,
            names: vec![],
        };
        let directory = self.ns_path(&start)?;
        let pattern = Self::text(pattern);
        let begin = self.head.len();
        let room = self.carrier.longest_message as usize;
        let (mut after, mut count, mut is_end) = (from.after, 0_u16, false);
        while count < most && self.head.len() + AROUND_ENTRIES + ENTRY_BYTES <= room.max(512) {
            match self.find((&directory, &pattern), search, after, FIRST).await {
                Ok((place, found)) => {
                    let path = super::paths::below(&directory, &found.short_name);
                    self.put_ns_entry(&path, &found, wanted)?;
                    (after, count) = (place, count + 1);
                }
                Err(completion::FAILED) => {
                    is_end = true;
                    break;
                }
                Err(refused) => return Err(refused),
            }
        }
        if count == 0 {
            return Err(completion::FAILED);
        }
        let entries = self.head.split_off(begin);
        Progress { after, ..from }.emit(&mut self.head);
        self.head.push(if is_set && !is_end { 0xff } else { 0 });
        if is_set {
            self.head.extend_from_slice(&count.to_le_bytes());
        }
        self.head.extend_from_slice(&entries);
        Ok(())
    }

    async fn rename_entry(
        &mut self,
        search: u16,
        from: &Path<'_>,
        to: &Path<'_>,
    ) -> Result<(), Refused> {
        let from = self.ns_path(from)?;
        let to = Self::new_name(self.ns_path(to)?)?;
        let found = self.look(&from).await?;
        if !is_of_kind(search, &found) {
            return Err(completion::FAILED);
        }
        if found.is_directory {
            self.is_idle(&from, &found).await?;
        }
        self.rename_to(from, &found, to).await
    }

    async fn change_entry(
        &mut self,
        wanted: u32,
        changes: Changes,
        path: &Path<'_>,
    ) -> Result<(), Refused> {
        let path = self.ns_path(path)?;
        let found = self.look(&path).await?;
        let is_read_only = (wanted & mask::ATTRIBUTES != 0 && !found.is_directory)
            .then_some(changes.attributes & u32::from(attribute::READ_ONLY) != 0);
        let DateTime { date, time } = DateTime::from_unix(found.modified_s.cast_signed());
        let has = |bit| wanted & bit != 0;
        let written = DateTime {
            date: if has(mask::WRITTEN_DATE) { changes.written_date } else { date },
            time: if has(mask::WRITTEN_TIME) { changes.written_time } else { time },
        };
        let modified_s = if has(mask::WRITTEN_DATE | mask::WRITTEN_TIME) {
            Some(super::changing::seconds_of(written)?)
        } else {
            None
        };
        // Owners, rights and other dates are not stored.
        let call = FileCall::Change { path, modified_s, is_read_only };
        self.change(call, completion::NO_MODIFY_RIGHTS).await
    }

    async fn remove_entries(&mut self, search: u16, path: &Path<'_>) -> Result<(), Refused> {
        let (directory, name) = self.ns_pattern(path)?;
        let whole = Self::without_pattern((directory.clone(), name.clone()));
        if let Ok(path) = whole
            && self.look(&path).await?.is_directory
        {
            if search & (super::search::ALSO_DIRECTORIES | SAYS_KIND) == 0 {
                return Err(completion::FAILED);
            }
            return self.remove_directory_at(path).await;
        }
        self.erase_all(directory, name).await
    }

    async fn put_whole_path(&mut self, path: &Path<'_>) -> Result<(), Refused> {
        let path = self.ns_path(path)?;
        let is_file = u16::from(!self.look(&path).await?.is_directory);
        let mut names = Vec::new();
        let volume = self.offer.volume.to_ascii_uppercase();
        for name in path.iter().rev().chain([&volume]) {
            let name = Self::octets(name)?;
            names.push(name.len() as u8);
            names.extend_from_slice(&name);
        }
        let (bytes, count) = (names.len() as u16, path.len() as u16 + 1);
        let cookies = [u32::MAX; 2];
        WholePath { is_file, cookies, bytes, names: count }.emit(&mut self.head);
        self.head.extend_from_slice(&names);
        Ok(())
    }
}
