//! Making and removing directories, erasing files, and renaming.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::directories::{self, Allocate};
use lanlab_wire::ncp::file_entry::attribute;
use lanlab_wire::ncp::files::{self, OfPath};
use lanlab_wire::ncp::records::{SetAttributes, SetDate};
use lanlab_wire::smb1::time::DateTime;
use lanlab_wire::smb1::wildcard;

use super::paths::below;
use super::refusals::{Refused, malformed, of_open};
use super::state::State;
use crate::file_server::sharing::Sharing;
use crate::files::{FileCall, Found, Names};

/// Apply an operation to a file, or to each file in a directory that matches a pattern.
macro_rules! for_each_file {
    ($state:ident, $directory:ident, $name:ident, |$path:ident, $found:ident| $act:expr) => {{
        if !wildcard::is_pattern(&$name) {
            let $path = Self::without_pattern(($directory, $name))?;
            let $found = &$state.look(&$path).await?;
            return $act.await;
        }
        let (mut after, mut is_any) = (String::new(), false);
        loop {
            let (page, last) = $state.page_of(&$directory, &$name, after).await?;
            for found in &page {
                let ($path, $found) = (below(&$directory, &found.name), found);
                $act.await?;
                is_any = true;
            }
            let Some(last) = last else { break };
            after = last;
        }
        if is_any { Ok(()) } else { Err(completion::FAILED) }
    }};
}

impl State {
    pub async fn make_directory(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Allocate::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        self.make_directory_at(path).await
    }

    pub async fn make_directory_at(&mut self, path: Names) -> Result<(), Refused> {
        let path = Self::new_name(path)?;
        let made =
            self.change(FileCall::MakeDirectory { path }, completion::NO_CREATE_RIGHTS).await;
        // The directory already exists.
        made.map_err(|refused| match refused {
            completion::NAMES_EXIST => completion::FAILED,
            other => other,
        })
    }

    pub async fn remove_directory(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Allocate::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        self.remove_directory_at(path).await
    }

    pub async fn remove_directory_at(&mut self, path: Names) -> Result<(), Refused> {
        if path.is_empty() {
            return Err(completion::NO_DELETE_RIGHTS);
        }
        let found = self.look_at_directory(&path).await?;
        self.open_files.lets(found.number, Sharing::RENAME).map_err(of_open)?;
        let call = FileCall::RemoveDirectory { path: path.clone() };
        self.change(call, completion::NO_DELETE_RIGHTS).await?;
        self.numbers().removed(&path);
        Ok(())
    }

    pub async fn rename_directory(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = directories::Rename::parse(data).map_err(malformed)?;
        let from = self.path(asked.handle, asked.path.0)?;
        let found = self.look_at_directory(&from).await?;
        let Some((_, parent)) = from.split_last() else { return Err(completion::NO_SUCH_PATH) };
        let is_name = !asked.new.0.iter().any(|octet| b"\\/:".contains(octet));
        let to = self.new_path(asked.handle, asked.new.0)?;
        let name = to.last().filter(|_| is_name).ok_or(completion::BAD_NAME)?;
        let to = below(parent, name);
        self.is_idle(&from, &found).await?;
        self.rename_to(from, &found, to).await
    }

    pub async fn is_idle(&mut self, directory: &Names, found: &Found) -> Result<(), Refused> {
        for path in self.open_files.above_open_files(directory.len()) {
            // The paths may differ in case, or one may be a short name.
            if self.look(&path).await.is_ok_and(|there| there.number == found.number) {
                return Err(completion::DIRECTORY_ACTIVE);
            }
        }
        Ok(())
    }

    pub async fn rename(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = files::Rename::parse(data).map_err(malformed)?;
        let from = self.path(asked.handle, asked.path.0)?;
        let to = self.new_path(asked.new_handle, asked.new_path.0)?;
        let found = self.look(&from).await?;
        // Directories have a separate function.
        if found.is_directory {
            return Err(completion::FAILED);
        }
        self.rename_to(from, &found, to).await
    }

    pub async fn rename_to(
        &mut self,
        from: Names,
        found: &Found,
        to: Names,
    ) -> Result<(), Refused> {
        match self.look(&to).await {
            // Only the case changes.
            Ok(other) if other.number == found.number => {}
            Ok(_) => return Err(completion::NAMES_EXIST),
            Err(completion::FAILED) => {}
            Err(refused) => return Err(refused),
        }
        self.open_files.lets(found.number, Sharing::RENAME).map_err(of_open)?;
        let call = FileCall::Rename { from: from.clone(), to: to.clone() };
        self.change(call, completion::NO_RENAME_RIGHTS).await?;
        self.open_files.renamed(found.number, &from, &to);
        self.numbers().renamed(&from, &to);
        Ok(())
    }

    pub async fn erase(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = OfPath::parse(data).map_err(malformed)?;
        let (directory, name) = self.pattern(asked.handle, asked.path.0)?;
        self.erase_all(directory, name).await
    }

    pub async fn erase_all(&mut self, directory: Names, name: String) -> Result<(), Refused> {
        for_each_file!(self, directory, name, |path, found| self.erase_one(path, found))
    }

    /// Set attributes of a file, or of all that match a pattern. Only read-only is stored.
    pub async fn set_attributes(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = SetAttributes::parse(data).map_err(malformed)?;
        let is_read_only = Some(asked.attributes & attribute::READ_ONLY != 0);
        let (directory, name) = self.pattern(asked.handle, asked.path.0)?;
        for_each_file!(self, directory, name, |path, _found| {
            let call = FileCall::Change { path, modified_s: None, is_read_only };
            self.change(call, completion::NO_MODIFY_RIGHTS)
        })
    }

    pub async fn set_date(&mut self, data: &[u8]) -> Result<(), Refused> {
        let SetDate { file, time, date, .. } = SetDate::parse(data).map_err(malformed)?;
        let path = self.opened(file)?.1.opened.path();
        let modified_s = Some(seconds_of(DateTime { date, time })?);
        let call = FileCall::Change { path, modified_s, is_read_only: None };
        self.change(call, completion::NO_MODIFY_RIGHTS).await
    }

    async fn erase_one(&mut self, path: Names, found: &Found) -> Result<(), Refused> {
        if found.is_directory {
            return Err(completion::FAILED);
        }
        if found.is_read_only {
            return Err(completion::NO_DELETE_RIGHTS);
        }
        self.open_files.lets(found.number, Sharing::REMOVE).map_err(of_open)?;
        let call = FileCall::Remove { path: path.clone() };
        self.change(call, completion::NO_DELETE_RIGHTS).await?;
        self.numbers().removed(&path);
        Ok(())
    }
}

/// Convert a DOS date to seconds since 1970.
pub fn seconds_of(moment: DateTime) -> Result<u64, Refused> {
    let since_1970_s = moment.to_unix().and_then(|seconds| u64::try_from(seconds).ok());
    since_1970_s.ok_or(completion::FAILED)
}
