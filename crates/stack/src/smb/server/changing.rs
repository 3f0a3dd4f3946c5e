//! Requests about names: directories, delete, rename, attributes, and disk space.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::time::seconds_to_utc;
use lanlab_wire::smb1::{
    command, path, query_information, query_information_disk, query_information2, wildcard,
};

use super::found::{attributes_of, moment, read_only_to_set, size_of, time_to_set, written_s};
use super::names::below;
use super::refusals::{Refused, malformed};
use super::search::Search;
use super::state::State;
use crate::file_server::Remark;
use crate::file_server::sharing::Sharing;
use crate::files::{FileAnswer, FileCall, Found, Names};

impl State {
    pub async fn change(&mut self, call: FileCall) -> Result<FileAnswer, Refused> {
        self.may_change()?;
        self.ask(call).await
    }

    pub fn may_change(&self) -> Result<(), Refused> {
        if !self.offer.read_only {
            return Ok(());
        }
        self.channel.remark(Remark::ReadOnly);
        Err(error::ACCESS_DENIED)
    }

    pub async fn of_directory(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = path::Request::parse(block).map_err(malformed)?;
        let path = Self::path(request.name)?;
        match block.command() {
            command::CREATE_DIRECTORY => {
                self.change(FileCall::MakeDirectory { path }).await?;
            }
            command::DELETE_DIRECTORY => self.remove_directory(path).await?,
            _ => {
                if !self.look(&path).await?.is_directory {
                    return Err(error::OBJECT_PATH_NOT_FOUND);
                }
            }
        }
        self.put_nothing()
    }

    async fn remove_directory(&mut self, path: Names) -> Result<(), Refused> {
        let found = self.look(&path).await?;
        if !found.is_directory {
            return Err(error::NOT_A_DIRECTORY);
        }
        self.open_files.lets(found.number, Sharing::RENAME)?;
        self.change(FileCall::RemoveDirectory { path }).await.map(drop)
    }

    pub async fn delete(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = path::Delete::parse(block).map_err(malformed)?;
        let (directory, name) = Self::pattern(request.name)?;
        if !wildcard::is_pattern(&name) {
            let path = below(&directory, &name);
            let found = self.look(&path).await?;
            self.remove(path, &found).await?;
            return self.put_nothing();
        }
        let attributes = request.search_attributes;
        let mut search = Search::new(directory.clone(), &name, attributes, self.tid);
        let mut removed = 0_u64;
        loop {
            let page = self.page(&mut search).await?;
            if page.is_empty() {
                break;
            }
            for (position, found) in page {
                if matches!(found.name.as_str(), "." | "..") {
                    return Err(error::OBJECT_NAME_INVALID);
                }
                let path = below(&directory, &found.name);
                self.remove(path, &found).await?;
                removed += 1;
                search.position = position;
            }
        }
        if removed == 0 {
            return Err(error::NO_SUCH_FILE);
        }
        self.put_nothing()
    }

    async fn remove(&mut self, path: Names, found: &Found) -> Result<(), Refused> {
        if found.is_directory {
            return Err(error::FILE_IS_A_DIRECTORY);
        }
        if found.is_read_only {
            return Err(error::CANNOT_DELETE);
        }
        self.open_files.lets(found.number, Sharing::REMOVE)?;
        self.change(FileCall::Remove { path }).await.map(drop)
    }

    pub async fn query_information(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = path::Request::parse(block).map_err(malformed)?;
        let path = Self::path(request.name)?;
        let found = self.look_up(&path).await?;
        let response = query_information::Response {
            attributes: attributes_of(&found),
            last_write_time: written_s(&found),
            size: size_of(&found),
        };
        self.put(|writer| response.emit(writer))
    }

    pub async fn set_information(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = query_information::SetRequest::parse(block).map_err(malformed)?;
        let path = Self::path(request.name)?;
        let found = self.look(&path).await?;
        let modified_s = time_to_set(seconds_to_utc(request.last_write_time, 0));
        let is_read_only = read_only_to_set(&found, request.attributes);
        self.change(FileCall::Change { path, modified_s, is_read_only }).await?;
        self.put_nothing()
    }

    pub async fn query_open(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = query_information2::Request::parse(block).map_err(malformed)?;
        let path = self.open(request.fid)?.opened.path();
        let found = self.look(&path).await?;
        let response = query_information2::Response {
            creation: moment(found.modified_s),
            last_access: moment(found.accessed_s),
            last_write: moment(found.modified_s),
            size: size_of(&found),
            allocation_size: size_of(&found),
            attributes: attributes_of(&found),
        };
        self.put(|writer| response.emit(writer))
    }

    pub async fn set_open(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = query_information2::SetRequest::parse(block).map_err(malformed)?;
        let path = self.open(request.fid)?.opened.path();
        let modified_s = time_to_set(request.last_write.to_unix());
        self.change(FileCall::Change { path, modified_s, is_read_only: None }).await?;
        self.put_nothing()
    }

    pub async fn space(&mut self) -> Result<(u64, u64), Refused> {
        match self.ask(FileCall::Space).await? {
            FileAnswer::Space { total_bytes, free_bytes } => Ok((total_bytes, free_bytes)),
            _ => Err(error::UNSUCCESSFUL_IO),
        }
    }

    pub async fn query_disk(&mut self) -> Result<(), Refused> {
        let (total, free) = self.space().await?;
        let response = query_information_disk::Response::of_bytes(total, free);
        self.put(|writer| response.emit(writer))
    }
}
