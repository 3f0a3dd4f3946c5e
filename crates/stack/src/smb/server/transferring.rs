//! Reads, writes and related requests.

use std::ops::Range;

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::flags2;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::{
    close, command, multiplexed, read, read_andx, seek, write, write_andx, write_raw,
};

use super::refusals::{Refused, malformed};
use super::state::{AROUND_DATA, MAX_BUFFER, State};
use crate::file_server::locks::Owner;
use crate::files::{FileAnswer, FileCall, Handle};

/// Longest data of a large read: it fits a 17-bit length with its header, and clients request it.
pub const MAX_DATA: u32 = 64 << 10;

#[derive(Debug, Clone)]
pub struct Writing {
    pub command: u8,
    pub fid: u16,
    pub offset: u64,
    pub data: Range<usize>,
    pub total: u32,
    pub is_through: bool,
    pub mask: u32,
    pub last_write_time: u32,
}

impl Writing {
    pub fn parse(block: &Block<'_>) -> Result<Self, Refused> {
        let command = block.command();
        let mut writing = Self {
            command,
            fid: 0,
            offset: 0,
            data: 0..0,
            total: 0,
            is_through: false,
            mask: 0,
            last_write_time: close::KEEP_TIME,
        };
        let data = match command {
            command::WRITE => {
                let request = write::Request::parse(block).map_err(malformed)?;
                (writing.fid, writing.offset) = (request.fid, u64::from(request.offset));
                request.data
            }
            command::WRITE_AND_CLOSE => {
                let request = write::WriteAndClose::parse(block).map_err(malformed)?;
                (writing.fid, writing.offset) = (request.fid, u64::from(request.offset));
                writing.last_write_time = request.last_write_time;
                request.data
            }
            command::WRITE_ANDX => {
                let request = write_andx::Request::parse(block).map_err(malformed)?;
                (writing.fid, writing.offset) = (request.fid, request.offset);
                writing.is_through = request.mode & write_andx::WRITE_THROUGH != 0;
                request.data
            }
            command::WRITE_MPX => {
                let request = multiplexed::Write::parse(block).map_err(malformed)?;
                (writing.fid, writing.offset) = (request.fid, u64::from(request.offset));
                writing.is_through = request.mode & write_raw::WRITE_THROUGH != 0;
                writing.mask = request.mask;
                request.data
            }
            _ => {
                let request = write_raw::Request::parse(block).map_err(malformed)?;
                (writing.fid, writing.offset) = (request.fid, request.offset);
                writing.is_through = request.mode & write_raw::WRITE_THROUGH != 0;
                writing.total = u32::from(request.total_count);
                request.data
            }
        };
        let at = block.offset_of(data);
        writing.data = at..at + data.len();
        Ok(writing)
    }
}

impl State {
    fn range(
        &mut self,
        fid: u16,
        offset: u64,
        count: u64,
        writes: bool,
    ) -> Result<Handle, Refused> {
        let pid = self.request.pid as u16;
        let executes = self.request.flags2 & flags2::PAGING_IO != 0;
        let open = self.open(fid)?;
        let reads = open.reads && (executes || !open.only_executes);
        let may = if writes { open.writes } else { reads };
        let Some(handle) = open.handle else { return Err(error::FILE_IS_A_DIRECTORY) };
        if !may {
            return Err(error::ACCESS_DENIED);
        }
        let owner = Owner { open: open.opened.number, pid };
        let file = open.opened.file();
        // An empty read conflicts with no lock.
        let lets = file.locks.is_empty()
            || count == 0 && !writes
            || file.locks.lets(owner, offset, count, writes);
        if lets { Ok(handle) } else { Err(error::FILE_LOCK_CONFLICT) }
    }

    pub async fn fetch(&mut self, fid: u16, offset: u64, count: u32) -> Result<usize, Refused> {
        let handle = self.range(fid, offset, u64::from(count), false)?;
        let mut data = std::mem::take(&mut self.data);
        let call = FileCall::Read { handle, offset, count };
        let answer = self.channel.call(call, &mut data).await;
        self.data = data;
        match answer {
            FileAnswer::Read if self.data.len() <= count as usize => Ok(self.data.len()),
            answer => {
                self.data.clear();
                match answer {
                    FileAnswer::Refused(refusal) => Err(refusal.into()),
                    _ => Err(error::UNSUCCESSFUL_IO),
                }
            }
        }
    }

    pub fn small(&self) -> u32 {
        let buffer = self.client_buffer.min(usize::from(MAX_BUFFER));
        buffer.saturating_sub(AROUND_DATA) as u32
    }

    pub async fn read(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = read::Request::parse(block).map_err(malformed)?;
        let count = u32::from(request.count).min(self.small());
        let count = self.fetch(request.fid, u64::from(request.offset), count).await?;
        let data = std::mem::take(&mut self.data);
        self.put(|writer| read::Response::emit_before_data(count as u16, writer))?;
        self.data = data;
        Ok(())
    }

    pub async fn read_andx(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = read_andx::Request::parse(block).map_err(malformed)?;
        let most = if self.has_large_reads { MAX_DATA } else { self.small() };
        let count = request.max_count(self.has_large_reads).min(most);
        let count = self.fetch(request.fid, request.offset, count).await?;
        let data = std::mem::take(&mut self.data);
        let response = read_andx::Response {
            available: read_andx::NOT_A_PIPE,
            data_compaction_mode: 0,
            data: &[],
        };
        self.put(|writer| response.emit_before_data(count, writer))?;
        self.data = data;
        Ok(())
    }

    pub async fn store(
        &mut self,
        writing: &Writing,
        message: &mut Vec<u8>,
    ) -> Result<u32, Refused> {
        let count = writing.data.len() as u64;
        if writing.offset.checked_add(count).is_none_or(|end| end > i64::MAX as u64) {
            return Err(error::INVALID_PARAMETER);
        }
        let handle = self.range(writing.fid, writing.offset, count, true)?;
        let (offset, data) = (writing.offset, writing.data.clone());
        let call = FileCall::Write { handle, offset, data };
        let written = match self.channel.call(call, message).await {
            FileAnswer::Written(written) if u64::from(written) <= count => written,
            FileAnswer::Refused(refusal) => return Err(refusal.into()),
            _ => return Err(error::UNSUCCESSFUL_IO),
        };
        if writing.is_through {
            self.ask(FileCall::Flush { handle }).await?;
        }
        Ok(written)
    }

    pub async fn write(&mut self, writing: Writing, message: &mut Vec<u8>) -> Result<(), Refused> {
        let is_andx = writing.command == command::WRITE_ANDX;
        let count = if writing.data.is_empty() {
            let handle = self.range(writing.fid, writing.offset, 0, true)?;
            if writing.command == command::WRITE {
                // An empty write sets the size ([MS-CIFS] 2.2.4.12).
                let size_bytes = writing.offset;
                self.change(FileCall::SetSize { handle, size_bytes }).await?;
            }
            0
        } else {
            self.store(&writing, message).await?
        };
        // An empty write does not close the file, as in Windows.
        if writing.command == command::WRITE_AND_CLOSE && !writing.data.is_empty() {
            self.close_at(writing.fid, writing.last_write_time).await?;
        }
        if is_andx {
            let response = write_andx::Response { count, available: read_andx::NOT_A_PIPE };
            self.put(|writer| response.emit(writer))?;
        } else {
            self.put(|writer| write::Response { count: count as u16 }.emit(writer))?;
        }
        Ok(())
    }

    pub async fn seek(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = seek::Request::parse(block).map_err(malformed)?;
        let open = self.open(request.fid)?;
        let (path, position) = (open.opened.path(), open.position);
        let from = match request.mode {
            seek::mode::START => 0,
            seek::mode::CURRENT => position,
            seek::mode::END => self.look(&path).await?.size_bytes,
            _ => return Err(error::INVALID_PARAMETER),
        };
        // Positions before the start become the start ([MS-CIFS] 2.2.4.19).
        let position = from.saturating_add_signed(i64::from(request.offset)).min(u32::MAX.into());
        self.open(request.fid)?.position = position;
        let response = seek::Response { offset: position as u32 };
        self.put(|writer| response.emit(writer))
    }

    pub async fn flush(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = close::Flush::parse(block).map_err(malformed)?;
        let handles: Vec<Handle> = if request.fid == close::ALL_FILES {
            let pid = self.request.pid;
            let of_process = self.opens.values().filter(|open| open.pid == pid && open.writes);
            of_process.filter_map(|open| open.handle).collect()
        } else {
            self.open(request.fid)?.handle.into_iter().collect()
        };
        for handle in handles {
            self.ask(FileCall::Flush { handle }).await?;
        }
        self.put_nothing()
    }
}
