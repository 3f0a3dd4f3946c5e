//! Calls of a session ([MS-SMB2] section 2.2): one message and one answer each.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lanlab_files::{Class, Fault, Result};
use smb2::msg::close::CloseRequest;
use smb2::msg::create::{
    CreateDisposition, CreateRequest, CreateResponse, ImpersonationLevel, ShareAccess,
};
use smb2::msg::header::Header;
use smb2::pack::{Pack, ReadCursor, Unpack, WriteCursor};
use smb2::types::flags::FileAccessMask;
use smb2::types::status::NtStatus;
use smb2::types::{
    Command, CreditCharge, Dialect, FileId, MessageId, OplockLevel, SessionId, TreeId,
};

use crate::multiplex::Multiplex;

use super::handshake::{Agreed, CREDIT_OCTETS};
use super::protect::{HEADER_OCTETS, Protection};
use super::status;

/// Number of credits to request, so that the calls of a whole file need not wait for each other.
const WANTED_CREDITS: u16 = 512;

const MAX_OTHER_OCTETS: usize = 1 << 17;

/// Length of a WRITE before its data (section 2.2.21).
const WRITE_OCTETS: u16 = 48;

pub struct Calls {
    calls: Multiplex<Protection>,
    next_message_id: AtomicU64,
    tree_id: TreeId,
    /// Whether a call states its credit charge, which SMB 2.0.2 does not have.
    has_charges: bool,
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").finish_non_exhaustive()
    }
}

pub struct Answer {
    message: Vec<u8>,
    pub status: NtStatus,
}

impl Answer {
    pub fn body(&self) -> &[u8] {
        &self.message[HEADER_OCTETS..]
    }

    pub fn read<T: Unpack>(&self) -> Result<T> {
        T::unpack(&mut ReadCursor::new(self.body())).map_err(|_| garbled())
    }

    /// `length` bytes of the message from `begin`, counted from the start of the header.
    fn part(&self, begin: usize, length: usize) -> Option<&[u8]> {
        self.message.get(begin..begin.checked_add(length)?)
    }

    fn done(self) -> Result<Self> {
        if self.status == NtStatus::SUCCESS { Ok(self) } else { Err(status::refused(self.status)) }
    }
}

fn garbled() -> Fault {
    Fault::new(Class::Protocol, "an answer that cannot be understood")
}

pub struct Opening {
    pub access: u32,
    pub disposition: CreateDisposition,
    pub options: u32,
}

impl Opening {
    pub const fn existing(access: u32, options: u32) -> Self {
        Self { access, disposition: CreateDisposition::FileOpen, options }
    }
}

impl Calls {
    pub fn new(agreed: Agreed, patience: Duration) -> Self {
        let longest = agreed.read_octets as usize + MAX_OTHER_OCTETS;
        let protection = Protection::new(
            agreed.session_id,
            longest,
            agreed.credits,
            agreed.signing,
            agreed.encryption,
        );
        Self {
            calls: Multiplex::new(agreed.stream, protection, patience),
            next_message_id: AtomicU64::new(agreed.next_message_id),
            tree_id: agreed.tree_id,
            has_charges: agreed.dialect != Dialect::Smb2_0_2,
        }
    }

    pub fn protection(&self) -> &Protection {
        &self.calls.wire
    }

    /// Make one call that transfers at most `moved_octets` in one direction.
    async fn call(
        &self,
        command: Command,
        body: &[u8],
        data: &[u8],
        moved_octets: usize,
    ) -> Result<Answer> {
        let protection = self.protection();
        let charge = moved_octets.div_ceil(CREDIT_OCTETS as usize).max(1) as u16;
        let credits = protection.credits.acquire_many(u32::from(charge));
        match self.calls.within(credits).await? {
            Ok(credits) => credits.forget(),
            Err(_) => return Err(Fault::new(Class::Reset, "the session has ended")),
        }
        let left = protection.credits.available_permits().min(usize::from(WANTED_CREDITS));
        let wanted = charge + WANTED_CREDITS - left as u16;
        let plain = protection.is_plain();
        let begin = || {
            let ids = u64::from(charge);
            let message_id = self.next_message_id.fetch_add(ids, Ordering::Relaxed);
            let mut header = Header::new_request(command);
            header.message_id = MessageId(message_id);
            header.credit_charge = CreditCharge(if self.has_charges { charge } else { 0 });
            header.credits = wanted;
            header.session_id = SessionId(protection.session_id);
            header.tree_id = Some(self.tree_id);
            if protection.signing.is_some() {
                header.flags.set_signed();
            }
            let mut message = packed(&header);
            message.extend_from_slice(body);
            let head = if plain {
                message
            } else {
                message.extend_from_slice(data);
                protection.seal(message, message_id)?
            };
            let length = (head.len() + if plain { data.len() } else { 0 }) as u32;
            Ok((message_id, [&length.to_be_bytes(), &head[..]].concat()))
        };
        let message = self.calls.call(begin, if plain { data } else { &[] }).await?;
        // The header was read on arrival, so the message has at least 12 bytes.
        let word = message.get(8..12).and_then(|word| word.try_into().ok()).ok_or_else(garbled)?;
        Ok(Answer { message, status: NtStatus(u32::from_le_bytes(word)) })
    }

    pub async fn small(&self, command: Command, body: &dyn Pack) -> Result<Answer> {
        self.call(command, &packed(body), &[], 0).await?.done()
    }

    /// As [`Self::small`], for an answer of up to one credit's bytes. The caller checks its status.
    pub async fn judged(&self, command: Command, body: &dyn Pack) -> Result<Answer> {
        self.call(command, &packed(body), &[], CREDIT_OCTETS as usize).await
    }

    /// CREATE (section 2.2.13) with full sharing: stations do not exclude each other.
    pub async fn create(&self, name: &str, how: &Opening) -> Result<CreateResponse> {
        let share = ShareAccess::FILE_SHARE_READ
            | ShareAccess::FILE_SHARE_WRITE
            | ShareAccess::FILE_SHARE_DELETE;
        let request = CreateRequest {
            // Nothing is cached here, so no oplock is needed.
            requested_oplock_level: OplockLevel::None,
            impersonation_level: ImpersonationLevel::Impersonation,
            desired_access: FileAccessMask::new(how.access),
            file_attributes: 0,
            share_access: ShareAccess(share),
            create_disposition: how.disposition,
            create_options: how.options,
            name: name.to_owned(),
            create_contexts: Vec::new(),
        };
        self.small(Command::Create, &request).await?.read()
    }

    /// CLOSE (section 2.2.15).
    pub async fn close(&self, file_id: FileId) -> Result<()> {
        self.small(Command::Close, &CloseRequest { flags: 0, file_id }).await.map(drop)
    }

    /// READ (section 2.2.19): returns the number of bytes read; zero at the end.
    pub async fn read(&self, file_id: FileId, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let mut body = WriteCursor::with_capacity(49);
        body.write_u16_le(49);
        body.write_u8(80); // Requested data offset: right after the header.
        body.write_u8(0);
        body.write_u32_le(buffer.len() as u32);
        body.write_u64_le(offset);
        body.write_u64_le(file_id.persistent);
        body.write_u64_le(file_id.volatile);
        body.write_zeros(17); // No minimum count, no channel, nothing remaining.
        let answer = self.call(Command::Read, body.as_bytes(), &[], buffer.len()).await?;
        if answer.status == NtStatus::END_OF_FILE {
            return Ok(0);
        }
        let answer = answer.done()?;
        let mut cursor = ReadCursor::new(answer.body());
        let mut begin_and_length = || -> smb2::Result<(usize, usize)> {
            cursor.skip(2)?;
            let begin = usize::from(cursor.read_u8()?);
            cursor.skip(1)?;
            Ok((begin, cursor.read_u32_le()? as usize))
        };
        let (begin, length) = begin_and_length().map_err(|_| garbled())?;
        match answer.part(begin, length) {
            Some(data) if length <= buffer.len() => {
                buffer[..length].copy_from_slice(data);
                self.calls.give_back(answer.message);
                Ok(length)
            }
            _ => {
                let (asked, sent) = (buffer.len(), answer.body().len());
                let message = format!("{asked} octets asked for, {length} named, {sent} sent");
                Err(Fault::new(Class::Length, message))
            }
        }
    }

    /// WRITE (section 2.2.21): returns the number of bytes written.
    pub async fn write(&self, file_id: FileId, offset: u64, data: &[u8]) -> Result<usize> {
        let mut body = WriteCursor::with_capacity(usize::from(WRITE_OCTETS));
        body.write_u16_le(49);
        body.write_u16_le(HEADER_OCTETS as u16 + WRITE_OCTETS);
        body.write_u32_le(data.len() as u32);
        body.write_u64_le(offset);
        body.write_u64_le(file_id.persistent);
        body.write_u64_le(file_id.volatile);
        body.write_zeros(16); // No channel, nothing remaining, no flags.
        let answer = self.call(Command::Write, body.as_bytes(), data, data.len()).await?.done()?;
        let mut cursor = ReadCursor::new(answer.body());
        let count = cursor.skip(4).and_then(|()| cursor.read_u32_le()).map_err(|_| garbled())?;
        if count == 0 || count as usize > data.len() {
            let message = format!("{} octets sent, {count} taken", data.len());
            return Err(Fault::new(Class::Length, message));
        }
        Ok(count as usize)
    }
}

fn packed(what: &dyn Pack) -> Vec<u8> {
    let mut cursor = WriteCursor::new();
    what.pack(&mut cursor);
    cursor.into_inner()
}
