//! Directories that are made and removed, files that are erased, and other names.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::directories::{self, Allocate};
use lanlab_wire::ncp::files::{self, OfPath};
use lanlab_wire::smb1::wildcard;

use super::paths::below;
use super::refusals::{Refused, malformed, of_open};
use super::state::State;
use crate::file_server::sharing::Sharing;
use crate::files::{FileCall, Found, Names};

impl State {
    pub async fn make_directory(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Allocate::parse(data).map_err(malformed)?;
        let path = self.new_path(asked.handle, asked.path.0)?;
        let made =
            self.change(FileCall::MakeDirectory { path }, completion::NO_CREATE_RIGHTS).await;
        // One that is there already.
        made.map_err(|refused| match refused {
            completion::NAMES_EXIST => completion::FAILED,
            other => other,
        })
    }

    pub async fn remove_directory(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Allocate::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        if path.is_empty() {
            return Err(completion::NO_DELETE_RIGHTS);
        }
        let found = self.look_at_directory(&path).await?;
        self.open_files.lets(found.number, Sharing::RENAME).map_err(of_open)?;
        let call = FileCall::RemoveDirectory { path };
        self.change(call, completion::NO_DELETE_RIGHTS).await
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
        for path in self.open_files.above_open_files(from.len()) {
            // A path may be another case of its names, or short ones.
            if self.look(&path).await.is_ok_and(|there| there.number == found.number) {
                return Err(completion::DIRECTORY_ACTIVE);
            }
        }
        self.rename_to(from, &found, to).await
    }

    pub async fn rename(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = files::Rename::parse(data).map_err(malformed)?;
        let from = self.path(asked.handle, asked.path.0)?;
        let to = self.new_path(asked.new_handle, asked.new_path.0)?;
        let found = self.look(&from).await?;
        // Directories have a function of their own.
        if found.is_directory {
            return Err(completion::FAILED);
        }
        self.rename_to(from, &found, to).await
    }

    async fn rename_to(&mut self, from: Names, found: &Found, to: Names) -> Result<(), Refused> {
        match self.look(&to).await {
            // Another case of the same name.
            Ok(other) if other.number == found.number => {}
            Ok(_) => return Err(completion::NAMES_EXIST),
            Err(completion::FAILED) => {}
            Err(refused) => return Err(refused),
        }
        self.open_files.lets(found.number, Sharing::RENAME).map_err(of_open)?;
        let call = FileCall::Rename { from: from.clone(), to: to.clone() };
        self.change(call, completion::NO_RENAME_RIGHTS).await?;
        self.open_files.renamed(found.number, &from, &to);
        Ok(())
    }

    /// Erase a file, or all that a pattern finds.
    pub async fn erase(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = OfPath::parse(data).map_err(malformed)?;
        let (directory, name) = self.pattern(asked.handle, asked.path.0)?;
        if !wildcard::is_pattern(&name) {
            let path = self.path(asked.handle, asked.path.0)?;
            let found = self.look(&path).await?;
            return self.erase_one(path, &found).await;
        }
        let (mut after, mut erased) = (String::new(), 0_u64);
        loop {
            let (page, last) = self.page_of(&directory, &name, after).await?;
            for found in page {
                self.erase_one(below(&directory, &found.name), &found).await?;
                erased += 1;
            }
            let Some(last) = last else { break };
            after = last;
        }
        if erased == 0 { Err(completion::FAILED) } else { Ok(()) }
    }

    async fn erase_one(&mut self, path: Names, found: &Found) -> Result<(), Refused> {
        if found.is_directory {
            return Err(completion::FAILED);
        }
        if found.is_read_only {
            return Err(completion::NO_DELETE_RIGHTS);
        }
        self.open_files.lets(found.number, Sharing::REMOVE).map_err(of_open)?;
        self.change(FileCall::Remove { path }, completion::NO_DELETE_RIGHTS).await
    }
}
