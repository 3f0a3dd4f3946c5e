//! Multiplexed reads and writes: carriers without connections cut them into packets.
//!
//! Source: [MS-CIFS] 2.2.4.23 and 2.2.4.26. A server that announces support may still refuse these
//! commands; the client then uses others for the rest of the session.

use std::sync::Arc;

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::multiplexed::Write;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::{command, read_raw};

use super::calls::fid;
use super::refusals::{protocol, refused};
use super::state::{Client, Step};
use super::{agreed::Agreed, answers};
use crate::redirector::{CallId, Done, FileId, Refusal};

impl Client {
    pub(super) fn read_multiplexed(&mut self, id: CallId, file: FileId, offset: u64, count: u32) {
        let (fid, max_count) = (fid(file), count as u16);
        let request = read_raw::Request { fid, offset, max_count, ..Default::default() };
        let step = Step::ReadMultiplexed { file, offset, count };
        self.ask(id, command::READ_MPX, step, |writer| request.emit(writer));
    }

    pub(super) fn write_multiplexed(
        &mut self,
        id: CallId,
        file: FileId,
        offset: u64,
        parts: [&[u8]; 2],
    ) {
        let mut data = self.calls.memory();
        data.extend_from_slice(parts[0]);
        data.extend_from_slice(parts[1]);
        // The carrier fills in the mask of each part.
        let (fid, offset_low, total_count) = (fid(file), offset as u32, data.len() as u16);
        let request =
            Write { fid, offset: offset_low, total_count, data: &data, ..Write::default() };
        let (header, mut message) = (self.header(command::WRITE_MPX), self.calls.memory());
        request.emit(&mut lanlab_wire::smb1::writer::Writer::begin(&mut message, &header));
        let step = Step::WriteMultiplexed { file, offset, data };
        self.send(id, command::WRITE_MPX, step, message);
    }

    fn is_to_leave(&mut self, block: &Block<'_>) -> Option<Arc<Agreed>> {
        if !block.header().status.is(error::SMB_USE_STANDARD) {
            return None;
        }
        let agreed = self.agreed.as_mut()?;
        Arc::make_mut(agreed).leave_multiplexed();
        Some(Arc::clone(agreed))
    }

    pub(super) fn took_multiplexed(
        &mut self,
        block: &Block<'_>,
        (call, file, offset, count): (CallId, FileId, u64, u32),
    ) -> Option<Result<Done, Refusal>> {
        if let Some(agreed) = self.is_to_leave(block) {
            self.read_framed(call, &agreed, file, offset, count.min(agreed.framed_bytes));
            return None;
        }
        Some(answers::read(block, count))
    }

    pub(super) fn wrote_multiplexed(
        &mut self,
        block: &Block<'_>,
        (call, file, offset, data): (CallId, FileId, u64, Vec<u8>),
    ) {
        if let Some(agreed) = self.is_to_leave(block) {
            self.write_framed(call, &agreed, file, offset, [&data, &[]]);
        } else if !block.header().status.is_success() {
            self.calls.end(call, Err(refused(block)));
        } else {
            let written = u32::try_from(data.len()).map_err(|_| protocol("too long a write"));
            self.calls.end(call, written.map(Done::Written));
        }
        self.calls.keep(data);
    }
}
