//! Raw reads and writes: messages of pure data, without a header.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::{command, read_andx, read_raw, write_raw};

use super::refusals::{Refused, malformed};
use super::state::{Answer, State};
use super::transferring::Writing;

impl State {
    fn has_raw(&self) -> bool {
        self.carrier.keeps_raw && self.signing.is_none()
    }

    /// Errors are answered with an empty message ([MS-CIFS] 2.2.4.22.2).
    pub async fn read_raw(&mut self, block: &Block<'_>) -> Result<Answer, Refused> {
        let request = read_raw::Request::parse(block).map_err(malformed)?;
        if !self.has_raw() {
            return Err(error::SMB_USE_STANDARD);
        }
        let count = u32::from(request.max_count).min(self.carrier.longest_message);
        if self.fetch(request.fid, request.offset, count).await.is_err() {
            self.data.clear();
        }
        self.send_raw().await;
        Ok(Answer::Sent)
    }

    pub async fn write_raw(
        &mut self,
        writing: Writing,
        message: &mut Vec<u8>,
    ) -> Result<Answer, Refused> {
        match self.store_raw(&writing, message).await {
            // The next request for the file reports the error: this write gets no response.
            Ok(None) => {}
            Ok(Some(count)) => {
                self.put(|writer| write_raw::Response { count: count as u16 }.emit(writer))?;
                self.finish_as(command::WRITE_COMPLETE, Ok(())).await;
            }
            Err(refused) => {
                self.put_nothing()?;
                self.finish_as(command::WRITE_COMPLETE, Err(refused)).await;
            }
        }
        Ok(Answer::Sent)
    }

    /// The number of bytes written, or nothing if the client wants no response.
    async fn store_raw(
        &mut self,
        writing: &Writing,
        message: &mut Vec<u8>,
    ) -> Result<Option<u32>, Refused> {
        if !self.has_raw() {
            return Err(error::SMB_USE_STANDARD);
        }
        let first = writing.data.len() as u32;
        let is_through = writing.is_through;
        // Called even without data: an invalid write is refused before its data is sent.
        let part = Writing { is_through: false, ..writing.clone() };
        if self.store(&part, message).await? < first {
            return Err(error::DISK_FULL);
        }
        let left = writing.total - first;
        if left == 0 {
            return Ok(Some(first));
        }
        let response = write_raw::Response { count: read_andx::NOT_A_PIPE };
        self.put(|writer| response.emit(writer))?;
        self.finish(Ok(())).await;

        // Keep the request: the data that follows has no header.
        let used = std::mem::take(message);
        let Some(next) = self.channel.next_message(used).await else { return Ok(None) };
        *message = next;
        let stored = if message.len() == left as usize {
            let rest = Writing {
                offset: writing.offset + u64::from(first),
                data: 0..message.len(),
                ..writing.clone()
            };
            let stored = self.store(&rest, message).await;
            stored.and_then(|count| if count == left { Ok(()) } else { Err(error::DISK_FULL) })
        } else {
            Err(error::INVALID_SMB)
        };
        match stored {
            _ if is_through => stored.map(|()| Some(writing.total)),
            Ok(()) => Ok(None),
            Err(refused) => {
                if let Ok(open) = self.open(writing.fid) {
                    open.deferred = Some(refused);
                }
                Ok(None)
            }
        }
    }
}
