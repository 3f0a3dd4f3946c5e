//! Renaming one file, or all that match a pattern.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::{rename, wildcard, wildcard_rename};

use super::names::below;
use super::refusals::{Refused, malformed};
use super::search::Search;
use super::state::State;
use crate::dos_names::check;
use crate::file_server::sharing::Sharing;
use crate::files::{FileCall, Found, Names};

/// Maximum bytes of names matching a pattern: all are collected before the first rename, so that no file is found
/// again under its new name.
const MAX_NAMES_BYTES: usize = 64 << 10;

impl State {
    pub async fn rename(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = rename::Request::parse(block).map_err(malformed)?;
        let (directory, old) = Self::pattern(request.old_name)?;
        let (target, new) = Self::pattern(request.new_name)?;
        if old.is_empty() || new.is_empty() {
            return Err(error::ACCESS_DENIED);
        }
        if new.contains(['<', '>', '"']) {
            return Err(error::OBJECT_NAME_INVALID);
        }
        if wildcard::is_pattern(&old) {
            let search = Search::new(directory.clone(), &old, request.search_attributes, self.tid);
            // As in DOS, files before the first failure stay renamed.
            for name in self.names_of(search).await? {
                let from = below(&directory, &name);
                let found = self.look(&from).await?;
                self.rename_one(from, &found, &target, &new).await?;
            }
        } else {
            let from = below(&directory, &old);
            let found = self.look(&from).await?;
            self.rename_one(from, &found, &target, &new).await?;
        }
        self.put_nothing()
    }

    async fn names_of(&mut self, mut search: Search) -> Result<Vec<String>, Refused> {
        let (mut names, mut bytes) = (Vec::new(), 0);
        loop {
            let page = self.page(&mut search).await?;
            if page.is_empty() {
                break;
            }
            for (position, found) in page {
                search.position = position;
                if !matches!(found.name.as_str(), "." | "..") {
                    bytes += size_of::<String>() + found.name.len();
                    names.push(found.name);
                }
                if bytes > MAX_NAMES_BYTES {
                    return Err(error::INSUFFICIENT_RESOURCES);
                }
            }
        }
        if names.is_empty() { Err(error::NO_SUCH_FILE) } else { Ok(names) }
    }

    async fn rename_one(
        &mut self,
        from: Names,
        found: &Found,
        target: &Names,
        new: &str,
    ) -> Result<(), Refused> {
        let to = if wildcard::is_pattern(new) {
            let name = wildcard_rename::renamed(&found.name, new);
            if name.is_empty() {
                return Err(error::OBJECT_NAME_INVALID);
            }
            check(&name)?;
            below(target, &name)
        } else {
            below(target, new)
        };
        match self.look(&to).await {
            // Only the case changes.
            Ok(other) if other.number == found.number => {}
            Ok(_) => return Err(error::OBJECT_NAME_COLLISION),
            Err(error::OBJECT_NAME_NOT_FOUND) => {}
            Err(refused) => return Err(refused),
        }
        self.open_files.lets(found.number, Sharing::RENAME)?;
        if found.is_directory {
            self.check_nothing_open_below(found, from.len()).await?;
        }
        let call = FileCall::Rename { from: from.clone(), to: to.clone() };
        self.change(call).await?;
        self.open_files.renamed(found.number, &from, &to);
        Ok(())
    }

    /// Windows renames no directory with open files below it, whose paths would become wrong.
    async fn check_nothing_open_below(
        &mut self,
        found: &Found,
        depth: usize,
    ) -> Result<(), Refused> {
        for path in self.open_files.above_open_files(depth) {
            // The paths may differ in case, or one may be a short name.
            if self.look(&path).await.is_ok_and(|there| there.number == found.number) {
                return Err(error::ACCESS_DENIED);
            }
        }
        Ok(())
    }
}
