//! SMB 2 and 3 ([MS-SMB2]): messages and cryptography of the `smb2` crate on our own connections
//! and calls.
//!
//! Messages are signed or encrypted only if the server requires it, as in other clients; the record
//! states which.

use std::time::Duration;

use lanlab_files as files;
use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Target, TransferCapabilities, is_name,
};
use lanlab_stack::redirector::ListingLimits;
use smb2::client::Cipher;
use smb2::crypto::signing::SigningAlgorithm;
use smb2::msg::create::CreateDisposition;
use smb2::msg::directory_info::parse_entries;
use smb2::msg::echo::EchoRequest;
use smb2::msg::flush::FlushRequest;
use smb2::msg::logoff::LogoffRequest;
use smb2::msg::query_directory::{
    FileInformationClass, QueryDirectoryFlags, QueryDirectoryRequest, QueryDirectoryResponse,
};
use smb2::msg::set_info::{InfoType, SetInfoRequest};
use smb2::types::flags::{FileAccessMask as Mask, FileAttributes};
use smb2::types::status::NtStatus;
use smb2::types::{Command, Dialect, FileId};

use lanlab_files::fault::during;

mod calls;
mod handshake;
mod protect;
mod shares;
mod status;

use calls::{Calls, Opening};
use handshake::CREDIT_OCTETS;

pub use shares::shares;

/// Maximum data length of a call: the limit of Windows and Samba.
const MAX_DATA_OCTETS: u32 = 8 << 20;

/// Bytes per call and calls in flight when a whole file is transferred. Measured with Samba 4.17
/// uploads on loopback: 8 calls of 1 MiB were faster than 2, 4 or 16, than 8 of 512 KiB and than 2
/// of 8 MiB.
const BLOCK_BYTES: u32 = 1 << 20;
const DEPTH: u16 = 8;

// Options of CREATE (section 2.2.13).
const DIRECTORY_FILE: u32 = 0x01;
const NON_DIRECTORY_FILE: u32 = 0x40;
const DELETE_ON_CLOSE: u32 = 0x1000;

/// `FileDispositionInformation` ([MS-FSCC] section 2.4.11).
const DISPOSITION: u8 = 13;

/// `FileRenameInformation` ([MS-FSCC] section 2.4.42.2).
const RENAME: u8 = 10;

/// Characters that are not allowed in a name ([MS-FSCC] section 2.1.5); `/` and `\` separate names.
const FORBIDDEN: [char; 7] = ['"', '*', ':', '<', '>', '?', '|'];

#[derive(Debug)]
pub struct Session {
    calls: Calls,
    /// Working directory in the server's form: empty, or ending with `\`.
    base: String,
    facts: Facts,
    read_octets: usize,
    write_octets: usize,
    list_octets: u32,
}

#[derive(Debug)]
pub struct File {
    id: FileId,
    /// Bytes in the file when it was opened, if it was opened for reading.
    size_bytes: Option<u64>,
}

pub async fn connect(target: &Target) -> Result<Session> {
    let mut base = String::new();
    for name in target.directory.split('/').filter(|name| !name.is_empty()) {
        check_name(name).map_err(during("directory", &target.directory))?;
        base.push_str(name);
        base.push('\\');
    }
    let agreed = handshake::agree(target).await?;
    let mut session = Session {
        base,
        facts: facts(&agreed),
        read_octets: agreed.read_octets as usize,
        write_octets: agreed.write_octets as usize,
        list_octets: agreed.list_octets,
        calls: Calls::new(agreed, Duration::from_nanos(target.timeout_ns)),
    };
    session.keep_to_credits().await?;
    if !session.base.is_empty() {
        let looked = session.open_directory(session.base.trim_end_matches('\\'), 0).await;
        let id = looked.map_err(during("directory", &target.directory))?;
        session.calls.close(id).await.map_err(during("directory", &target.directory))?;
    }
    Ok(session)
}

fn facts(agreed: &handshake::Agreed) -> Facts {
    let version = match agreed.dialect {
        Dialect::Smb2_0_2 => "2.0.2",
        Dialect::Smb2_1 => "2.1",
        Dialect::Smb3_0 => "3.0",
        Dialect::Smb3_0_2 => "3.0.2",
        Dialect::Smb3_1_1 => "3.1.1",
    };
    let protection = match (&agreed.encryption, &agreed.signing) {
        (Some((Cipher::Aes128Ccm, ..)), _) => "encrypted, AES-128-CCM",
        (Some((Cipher::Aes128Gcm, ..)), _) => "encrypted, AES-128-GCM",
        (Some((Cipher::Aes256Ccm, ..)), _) => "encrypted, AES-256-CCM",
        (Some((Cipher::Aes256Gcm, ..)), _) => "encrypted, AES-256-GCM",
        (None, Some((SigningAlgorithm::HmacSha256, _))) => "signed, HMAC-SHA256",
        (None, Some((SigningAlgorithm::AesCmac, _))) => "signed, AES-128-CMAC",
        (None, Some((SigningAlgorithm::AesGmac, _))) => "signed, AES-128-GMAC",
        (None, None) => "none",
    };
    Facts::new(&format!("SMB {version}"), protection, Some(true))
}

fn check_name(name: &str) -> Result<()> {
    if name.contains(FORBIDDEN) || name.ends_with([' ', '.']) {
        let message = format!(
            "SMB cannot hold the name `{name}`; allowed: none of {}, and no space or dot at its end",
            FORBIDDEN.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(" ")
        );
        return Err(Fault::new(Class::Name, message));
    }
    Ok(())
}

/// Whether the entries of a page ([MS-FSCC] section 2.4.8) do not overlap: the crate would read parts of a page again and
/// again.
fn follow_each_other(mut page: &[u8]) -> bool {
    const ENTRY_OCTETS: usize = 94;
    while let Some(entry) = page.first_chunk::<ENTRY_OCTETS>() {
        let word =
            |at| u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
        let (next, name_octets) = (word(0) as usize, word(60) as usize);
        if next == 0 {
            break;
        }
        if next < ENTRY_OCTETS + name_octets {
            return false;
        }
        page = page.get(next..).unwrap_or_default();
    }
    true
}

impl Session {
    /// Obtain enough credits for a call of a whole block. A server that never grants them gets
    /// shorter calls, because waiting would be useless.
    async fn keep_to_credits(&mut self) -> Result<()> {
        let block = self.read_octets.max(self.write_octets).min(BLOCK_BYTES as usize);
        let wanted = block.div_ceil(CREDIT_OCTETS as usize);
        let mut credits = self.calls.protection().credits.available_permits();
        while credits < wanted {
            self.calls.small(Command::Echo, &EchoRequest).await?;
            let now = self.calls.protection().credits.available_permits();
            if now <= credits {
                let most = now.max(1) * CREDIT_OCTETS as usize;
                self.read_octets = self.read_octets.min(most);
                self.write_octets = self.write_octets.min(most);
                break;
            }
            credits = now;
        }
        Ok(())
    }

    fn name(&self, path: &ServicePath) -> Result<String> {
        path.names().try_for_each(check_name)?;
        Ok(format!("{}{}", self.base, path.as_str().replace('/', "\\")))
    }

    async fn open_directory(&self, name: &str, access: u32) -> Result<FileId> {
        let access = access | Mask::FILE_READ_ATTRIBUTES | Mask::SYNCHRONIZE;
        let how = Opening::existing(access, DIRECTORY_FILE);
        Ok(self.calls.create(name, &how).await?.file_id)
    }

    async fn set_and_close(&self, file_id: FileId, class: u8, buffer: Vec<u8>) -> Result<()> {
        let request = SetInfoRequest {
            info_type: InfoType::File,
            file_info_class: class,
            additional_information: 0,
            file_id,
            buffer,
        };
        let set = self.calls.small(Command::SetInfo, &request).await;
        let closed = self.calls.close(file_id).await;
        set.map(drop).and(closed)
    }

    async fn entries(&self, file_id: FileId) -> Result<Vec<Entry>> {
        let class = FileInformationClass::FileBothDirectoryInformation;
        let (mut entries, mut limits) = (Vec::new(), ListingLimits::default());
        loop {
            let request = QueryDirectoryRequest {
                file_information_class: class,
                flags: QueryDirectoryFlags(0),
                file_index: 0,
                file_id,
                output_buffer_length: self.list_octets,
                file_name: "*".to_owned(),
            };
            let answer = self.calls.judged(Command::QueryDirectory, &request).await?;
            match answer.status {
                NtStatus::SUCCESS => {}
                NtStatus::NO_MORE_FILES | NtStatus::NO_SUCH_FILE => return Ok(entries),
                other => return Err(status::refused(other)),
            }
            let page: QueryDirectoryResponse = answer.read()?;
            if !follow_each_other(&page.output_buffer) {
                return Err(Fault::new(Class::Protocol, "a listing with overlapping entries"));
            }
            let page = parse_entries(class, &page.output_buffer)
                .map_err(|error| Fault::new(Class::Protocol, error.to_string()))?;
            limits
                .take(page.len(), page.iter().map(|entry| entry.file_name.len()).sum())
                .map_err(|endless| Fault::new(Class::Protocol, endless))?;
            for entry in page {
                if !is_name(&entry.file_name) {
                    continue;
                }
                let is_directory = entry.file_attributes & FileAttributes::DIRECTORY != 0;
                let size_bytes = if is_directory { 0 } else { entry.end_of_file };
                entries.push(Entry { name: entry.file_name, size_bytes, is_directory });
            }
        }
    }
}

impl files::Session for Session {
    type File = File;

    fn capabilities(&self) -> TransferCapabilities {
        let octets = self.read_octets.min(self.write_octets) as u32;
        TransferCapabilities::calls(octets.min(BLOCK_BYTES), DEPTH)
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        let look = Mask::FILE_READ_ATTRIBUTES | Mask::SYNCHRONIZE;
        let read = Mask::FILE_READ_DATA;
        // Extending a file is a separate right ([MS-SMB2] section 3.3.5.13).
        let write = Mask::FILE_WRITE_DATA | Mask::FILE_APPEND_DATA | Mask::FILE_WRITE_ATTRIBUTES;
        let (access, disposition, to_read) = match access {
            Access::Read => (look | read, CreateDisposition::FileOpen, true),
            Access::Update => (look | read | write, CreateDisposition::FileOpen, false),
            Access::Create { .. } => (look | write, CreateDisposition::FileCreate, false),
            Access::Replace { .. } => (look | write, CreateDisposition::FileOverwriteIf, false),
        };
        let how = Opening { access, disposition, options: NON_DIRECTORY_FILE };
        let opened = self.calls.create(&self.name(path)?, &how).await?;
        let size_bytes = to_read.then_some(opened.end_of_file);
        Ok(File { id: opened.file_id, size_bytes })
    }

    async fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let wanted = buffer.len().min(self.read_octets);
        let count = self.calls.read(file.id, offset, &mut buffer[..wanted]).await?;
        match file.size_bytes {
            Some(size_bytes) if count == 0 && wanted > 0 && offset < size_bytes => {
                let message = format!("nothing at {offset} of a file of {size_bytes} octets");
                Err(Fault::new(Class::Length, message))
            }
            _ => Ok(count),
        }
    }

    async fn write_at(&self, file: &File, mut offset: u64, mut data: &[u8]) -> Result<()> {
        while !data.is_empty() {
            let part = &data[..data.len().min(self.write_octets)];
            let count = self.calls.write(file.id, offset, part).await?;
            offset += count as u64;
            data = &data[count..];
        }
        Ok(())
    }

    async fn sync(&self, file: &File) -> Result<()> {
        self.calls.small(Command::Flush, &FlushRequest { file_id: file.id }).await.map(drop)
    }

    async fn close(&self, file: File) -> Result<()> {
        self.calls.close(file.id).await
    }

    /// A file is removed with its last handle, which is this one unless other clients have it open.
    async fn remove(&self, path: &ServicePath) -> Result<()> {
        let how = Opening::existing(Mask::DELETE, NON_DIRECTORY_FILE | DELETE_ON_CLOSE);
        let id = self.calls.create(&self.name(path)?, &how).await?.file_id;
        self.calls.close(id).await
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let name = match path {
            Some(path) => self.name(path)?,
            None => self.base.trim_end_matches('\\').to_owned(),
        };
        let id = self.open_directory(&name, Mask::FILE_READ_DATA).await?;
        let listed = self.entries(id).await;
        let closed = self.calls.close(id).await;
        listed.and_then(|entries| closed.map(|()| entries))
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        let how = Opening {
            access: Mask::FILE_READ_ATTRIBUTES | Mask::SYNCHRONIZE,
            disposition: CreateDisposition::FileCreate,
            options: DIRECTORY_FILE,
        };
        let id = self.calls.create(&self.name(path)?, &how).await?.file_id;
        self.calls.close(id).await
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        let id = self.open_directory(&self.name(path)?, Mask::DELETE).await?;
        self.set_and_close(id, DISPOSITION, vec![1]).await
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let how = Opening::existing(Mask::FILE_READ_ATTRIBUTES | Mask::SYNCHRONIZE, 0);
        let found = self.calls.create(&self.name(path)?, &how).await?;
        self.calls.close(found.file_id).await?;
        let is_directory = found.file_attributes & FileAttributes::DIRECTORY != 0;
        let size_bytes = if is_directory { 0 } else { found.end_of_file };
        Ok(Entry { name: path.name().to_owned(), size_bytes, is_directory })
    }

    /// An existing file is not replaced.
    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        let how = Opening::existing(Mask::DELETE | Mask::SYNCHRONIZE, 0);
        let new: Vec<u8> = self.name(to)?.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let id = self.calls.create(&self.name(from)?, &how).await?.file_id;
        // Whether to replace, reserved, no directory handle, then the name after its length.
        let mut buffer = vec![0; 16];
        buffer.extend((new.len() as u32).to_le_bytes());
        buffer.extend(new);
        self.set_and_close(id, RENAME, buffer).await
    }

    async fn end(self) -> Result<()> {
        // The handle ends with its connection anyway.
        let _ = self.calls.small(Command::Logoff, &LogoffRequest).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_entries_of_a_listing_are_refused() {
        let page = |next: u32| {
            let mut page = vec![0; 3 * 104];
            page[..4].copy_from_slice(&next.to_le_bytes());
            page[60] = 10;
            page
        };
        assert!(follow_each_other(&[]));
        for next in [0, 104, 208, 10_000] {
            assert!(follow_each_other(&page(next)), "{next}");
        }
        for next in [8, 103] {
            assert!(!follow_each_other(&page(next)), "{next}");
        }
    }
}
