//! Multiplexed reads and writes on a connectionless carrier, which numbers their packets and combines the masks.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::multiplexed::{Response, Written};
use lanlab_wire::smb1::read_andx::NOT_A_PIPE;
use lanlab_wire::smb1::read_raw;
use lanlab_wire::smb1::status::error;

use super::refusals::{Refused, malformed};
use super::state::{Answer, State};
use super::transferring::Writing;

impl State {
    fn check_multiplexed(&self) -> Result<(), Refused> {
        // Other carriers use reads and writes as long as their messages ([MS-CIFS] 3.3.5.18).
        if self.carrier.is_connectionless() { Ok(()) } else { Err(error::SMB_USE_STANDARD) }
    }

    pub async fn read_multiplexed(&mut self, block: &Block<'_>) -> Result<Answer, Refused> {
        let request = read_raw::Request::parse(block).map_err(malformed)?;
        self.check_multiplexed()?;
        let count = self.fetch(request.fid, request.offset, request.max_count.into()).await?;
        let data = std::mem::take(&mut self.data);
        let part_bytes = (self.small() as usize).max(1);
        for at in (0..count.max(1)).step_by(part_bytes) {
            let response = Response {
                offset: request.offset as u32 + at as u32,
                count: count as u16,
                remaining: NOT_A_PIPE,
                data: &data[at..count.min(at + part_bytes)],
            };
            self.put(|writer| response.emit(writer))?;
            self.finish(Ok(())).await;
        }
        Ok(Answer::Sent)
    }

    pub async fn write_multiplexed(
        &mut self,
        writing: &Writing,
        message: &mut Vec<u8>,
    ) -> Result<(), Refused> {
        self.check_multiplexed()?;
        let count = writing.data.len() as u32;
        if count > 0 && self.store(writing, message).await? < count {
            return Err(error::DISK_FULL);
        }
        self.put(|writer| Written { mask: writing.mask }.emit(writer))
    }
}
