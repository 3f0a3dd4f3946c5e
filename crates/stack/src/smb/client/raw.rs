//! Raw reads and writes, whose messages are pure data, as LAN Manager redirectors used them.
//!
//! Source: [MS-CIFS] 2.2.4.22 and 2.2.4.25. No other request may be in flight, as the data has no header that
//! identifies it.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::{command, read_raw, write_raw};

use super::agreed::Agreed;
use super::calls::fid;
use super::refusals::{malformed, protocol, refused};
use super::state::{Client, Step};
use crate::redirector::{CallId, Done, FileId, Refusal};

impl Client {
    pub(super) fn read_raw(
        &mut self,
        id: CallId,
        agreed: &Agreed,
        file: FileId,
        offset: u64,
        count: u32,
    ) {
        let wide = agreed.has_large_files();
        let (max_count, min_count) = (count as u16, 0);
        let request =
            read_raw::Request { fid: fid(file), offset, max_count, min_count, timeout_ms: 0, wide };
        let step = Step::ReadRaw { file, offset, count };
        self.ask(id, command::READ_RAW, step, |writer| request.emit(writer));
    }

    /// Take the data. An empty message means end of file or a refusal; an ordinary read determines
    /// which.
    pub(super) fn took_raw(&mut self, mid: u16, message: &mut Vec<u8>) -> Result<(), Refusal> {
        let (Some(pending), Some(agreed)) = (self.pending.remove(&mid), self.agreed.clone()) else {
            return Err(protocol("raw data of no request"));
        };
        let Step::ReadRaw { file, offset, count } = pending.step else {
            return Err(protocol("raw data of another request"));
        };
        self.raw_is_over();
        if message.is_empty() {
            self.read_framed(pending.call, &agreed, file, offset, count);
            return Ok(());
        }
        if message.len() > count as usize {
            let refusal = protocol(format!("raw data of {} octets of {count}", message.len()));
            self.calls.end(pending.call, Err(refusal.clone()));
            return Err(refusal);
        }
        self.calls.end_with(pending.call, Ok(Done::Read(0..message.len())), message);
        Ok(())
    }

    pub(super) fn write_raw(
        &mut self,
        id: CallId,
        agreed: &Agreed,
        file: FileId,
        offset: u64,
        parts: [&[u8]; 2],
    ) {
        let mut data = self.calls.memory();
        data.extend_from_slice(parts[0]);
        data.extend_from_slice(parts[1]);
        let request = write_raw::Request {
            fid: fid(file),
            total_count: data.len() as u16,
            offset,
            timeout_ms: 0,
            // Without this bit, no response would report the bytes written.
            mode: write_raw::WRITE_THROUGH,
            wide: agreed.has_large_files(),
            data: &[],
        };
        let step = Step::WriteRaw { file, offset, data };
        self.ask(id, command::WRITE_RAW, step, |writer| request.emit(writer));
    }

    pub(super) fn may_write_raw(
        &mut self,
        mid: u16,
        block: &Block<'_>,
        (call, file, offset, data): (CallId, FileId, u64, Vec<u8>),
    ) -> Result<(), Refusal> {
        if !block.header().status.is_success() {
            self.raw_is_over();
            let Some(agreed) = self.agreed.clone() else { return Err(refused(block)) };
            self.write_framed(call, &agreed, file, offset, [&data, &[]]);
            self.calls.keep(data);
            return Ok(());
        }
        let step = Step::WriteRest { count: data.len() as u32 };
        self.raw_rest = Some(data);
        self.await_again(mid, call, command::WRITE_COMPLETE, step);
        Ok(())
    }

    pub(super) fn wrote_raw(&mut self, block: &Block<'_>, count: u32) -> Result<Done, Refusal> {
        self.raw_is_over();
        if !block.header().status.is_success() {
            return Err(refused(block));
        }
        let written = u32::from(write_raw::Response::parse(block).map_err(malformed)?.count);
        if written == 0 || written > count {
            return Err(protocol(format!("{written} raw octets written of {count}")));
        }
        Ok(Done::Written(written))
    }

    fn raw_is_over(&mut self) {
        self.raw = None;
    }
}
