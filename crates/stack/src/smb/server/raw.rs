//! Raw reads and writes: data in messages of their own, without a header.

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

    /// Any error is answered by a message of nothing ([MS-CIFS] 2.2.4.22.2).
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
            // Said with the next request for the file: no response follows.
            Ok(None) => {}
            Ok(Some(count)) => {
                self.put(|writer| write_raw::Response { count: count as u16 }.emit(writer));
                self.finish_as(command::WRITE_COMPLETE, Ok(())).await;
            }
            Err(refused) => {
                self.put_nothing();
                self.finish_as(command::WRITE_COMPLETE, Err(refused)).await;
            }
        }
        Ok(Answer::Sent)
    }

    /// Octets that were written, or nothing where the client does not want to hear it.
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
        // Also where it has none of the data: a write that is to be refused is refused before they come.
        let part = Writing { is_through: false, ..writing.clone() };
        if self.store(&part, message).await? < first {
            return Err(error::DISK_FULL);
        }
        let left = writing.total - first;
        if left == 0 {
            return Ok(Some(first));
        }
        let response = write_raw::Response { count: read_andx::NOT_A_PIPE };
        self.put(|writer| response.emit(writer));
        self.finish(Ok(())).await;

        // The request stays as it is: what comes has no header.
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
