//! Read, write, size and commit.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::files::{self, FileHandle, OfFile, Read, Size, WRITE_LEN, Write};
use lanlab_wire::ncp::function::Function;
use lanlab_wire::ncp::records::Copying;

use super::refusals::{Refused, malformed, of_files};
use super::state::State;
use crate::files::{FileAnswer, FileCall};

/// Bytes read at a time by a copy within the server.
const COPY_PIECE: u32 = 32 << 10;

impl State {
    pub async fn read(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Read::parse(data).map_err(malformed)?;
        let most = asked.count.min(self.data_bytes);
        let count = self.read_octets(asked.file, asked.offset, most.into()).await?;
        files::emit_before_data(asked.offset, count as u16, &mut self.head);
        Ok(())
    }

    /// Read bytes into the reply. Returns their number.
    pub async fn read_octets(
        &mut self,
        file: FileHandle,
        offset: u32,
        count: u32,
    ) -> Result<u32, Refused> {
        let (_, open) = self.opened(file)?;
        if !open.reads {
            return Err(completion::NO_READ_RIGHTS);
        }
        self.check_locks(file, (offset.into(), count.into()), false)?;
        let call = FileCall::Read { handle: open.handle, offset: offset.into(), count };
        let mut read = std::mem::take(&mut self.data);
        let answer = self.channel.call(call, &mut read).await;
        match answer {
            FileAnswer::Read if read.len() <= count as usize => {
                self.data = read;
                Ok(self.data.len() as u32)
            }
            FileAnswer::Refused(refusal) => Err(of_files(refusal)),
            _ => Err(completion::IO_ERROR),
        }
    }

    /// Write the bytes of a message; an empty write sets the file size.
    pub async fn write(&mut self, message: &mut Vec<u8>) -> Result<(), Refused> {
        let (_, data) = Function::parse(message).map_err(malformed)?;
        let asked = Write::parse(data).map_err(malformed)?;
        let count = asked.octets().map_err(malformed)?.len();
        let (file, offset, begin) = (asked.file, asked.offset.into(), 1 + WRITE_LEN);
        message.truncate(begin + count);
        self.write_octets(file, offset, begin, message).await
    }

    pub async fn write_octets(
        &mut self,
        file: FileHandle,
        offset: u64,
        begin: usize,
        message: &mut Vec<u8>,
    ) -> Result<(), Refused> {
        let ((_, open), count) = (self.opened(file)?, message.len() - begin);
        if !open.writes {
            return Err(completion::NO_WRITE_RIGHTS);
        }
        let handle = open.handle;
        self.check_locks(file, (offset, count as u64), true)?;
        if count == 0 {
            let call = FileCall::SetSize { handle, size_bytes: offset };
            return self.change(call, completion::NO_WRITE_RIGHTS).await;
        }
        if offset + count as u64 > u64::from(u32::MAX) {
            return Err(completion::NO_SPACE);
        }
        let mut done = 0;
        while done < count {
            let (at, data) = (offset + done as u64, begin + done..begin + count);
            let call = FileCall::Write { handle, offset: at, data };
            match self.channel.call(call, message).await {
                FileAnswer::Written(written)
                    if (1..=count - done).contains(&(written as usize)) =>
                {
                    done += written as usize;
                }
                FileAnswer::Refused(refusal) => return Err(of_files(refusal)),
                _ => return Err(completion::IO_ERROR),
            }
        }
        Ok(())
    }

    pub async fn copy(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Copying::parse(data).map_err(malformed)?;
        self.opened(asked.from)?;
        self.opened(asked.to)?;
        let mut copied = 0;
        while copied < asked.count {
            let (from, to) =
                (asked.from_offset.checked_add(copied), asked.to_offset.checked_add(copied));
            let (Some(from), Some(to)) = (from, to) else { return Err(completion::NO_SPACE) };
            let count =
                self.read_octets(asked.from, from, COPY_PIECE.min(asked.count - copied)).await?;
            let mut piece = std::mem::take(&mut self.data);
            if count == 0 {
                break;
            }
            self.write_octets(asked.to, to.into(), 0, &mut piece).await?;
            copied += count;
        }
        self.data.clear();
        Size { size: copied }.emit(&mut self.head);
        Ok(())
    }

    pub async fn size(&mut self, data: &[u8]) -> Result<(), Refused> {
        let OfFile { file, .. } = OfFile::parse(data).map_err(malformed)?;
        let path = self.opened(file)?.1.opened.path();
        let size_bytes = self.look(&path).await?.size_bytes;
        let size = u32::try_from(size_bytes).unwrap_or(u32::MAX);
        Size { size }.emit(&mut self.head);
        Ok(())
    }

    pub async fn commit(&mut self, data: &[u8]) -> Result<(), Refused> {
        let OfFile { file, .. } = OfFile::parse(data).map_err(malformed)?;
        let handle = self.opened(file)?.1.handle;
        self.ask(FileCall::Flush { handle }).await.map(drop)
    }
}
