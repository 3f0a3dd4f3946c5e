//! The shares of a server: `NetrShareEnum` ([MS-SRVS] section 3.1.4.8) over the pipe `srvsvc`.

use std::fmt::Display;

use lanlab_files::{Class, Fault, Result, Target};
use smb2::rpc::{self, srvsvc};
use smb2::types::FileId;
use smb2::types::flags::FileAccessMask as Mask;

use super::calls::Opening;
use super::{Session, connect};

const PIPES: &str = "IPC$";
const PIPE: &str = "srvsvc";
const READ_OCTETS: usize = 1 << 16;
/// Header length of a DCE/RPC fragment, and the offsets of its flags and length.
const HEAD_OCTETS: usize = 24;
const FLAGS: usize = 3;
const LENGTH: usize = 8;
const IS_LAST: u8 = 2;
/// Offset of the number of shares, and the length of each before its names.
const COUNT: usize = HEAD_OCTETS + 12;
const SHARE_OCTETS: usize = 12;

/// Names of the shares for files, without hidden ones.
pub async fn shares(target: &Target) -> Result<Vec<String>> {
    let pipes =
        Target { share: Some(PIPES.to_owned()), directory: String::new(), ..target.clone() };
    let session = connect(&pipes).await?;
    let access = Mask::FILE_READ_DATA | Mask::FILE_WRITE_DATA;
    let pipe = session.calls.create(PIPE, &Opening::existing(access, 0)).await?.file_id;
    let listed = list(&session, pipe, target).await;
    // A failed close does not invalidate the list.
    let _ = session.calls.close(pipe).await;
    let _ = lanlab_files::Session::end(session).await;
    listed
}

async fn list(session: &Session, pipe: FileId, target: &Target) -> Result<Vec<String>> {
    let calls = &session.calls;
    let mut buffer = vec![0; READ_OCTETS];
    calls.write(pipe, 0, &rpc::build_srvsvc_bind(1)).await?;
    let length = calls.read(pipe, 0, &mut buffer).await?;
    rpc::parse_bind_ack(&buffer[..length]).map_err(garbled)?;
    let name = format!(r"\\{}", target.server_name.as_deref().unwrap_or_default());
    calls.write(pipe, 0, &srvsvc::build_net_share_enum_all(2, &name)).await?;
    let mut whole: Vec<u8> = Vec::new();
    loop {
        let length = calls.read(pipe, 0, &mut buffer).await?;
        let (stub, is_last) = rpc::parse_response_fragment(&buffer[..length]).map_err(garbled)?;
        if whole.is_empty() {
            whole.extend_from_slice(&buffer[..HEAD_OCTETS]);
        }
        whole.extend_from_slice(stub);
        let Ok(octets) = u16::try_from(whole.len()) else {
            return Err(garbled("longer than 64 KiB"));
        };
        if is_last {
            // The crate expects a single fragment.
            whole[FLAGS] |= IS_LAST;
            whole[LENGTH..LENGTH + 2].copy_from_slice(&octets.to_le_bytes());
            return read(&whole);
        }
    }
}

fn garbled(why: impl Display) -> Fault {
    Fault::new(Class::Protocol, format!("list of shares: malformed answer: {why}"))
}

fn read(whole: &[u8]) -> Result<Vec<String>> {
    // The crate reserves memory for this number of shares before it reads one.
    let count = whole.get(COUNT..).and_then(|rest| rest.first_chunk());
    let count = count.map_or(0, |octets| u32::from_le_bytes(*octets)) as usize;
    if count > whole.len() / SHARE_OCTETS {
        return Err(garbled(format!("{count} shares in {} octets", whole.len())));
    }
    let found = srvsvc::parse_net_share_enum_all_response(whole).map_err(garbled)?;
    Ok(srvsvc::filter_disk_shares(found).into_iter().map(|share| share.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [MS-SRVS] section 2.2.4.32, after the head of a DCE/RPC response.
    #[test]
    fn more_shares_than_the_answer_has_room_for_are_refused() {
        let of = |count: u32| {
            let head = [5, 0, 2, 3, 16, 0, 0, 0, 56, 0, 0, 0, 1, 0, 0, 0];
            let words = [32, 0, 1, 1, 1, count, 1, count, 0, 0];
            let words = words.into_iter().flat_map(u32::to_le_bytes);
            read(&head.into_iter().chain(words).collect::<Vec<u8>>())
        };
        assert_eq!(of(0), Ok(vec![]));
        let fault = of(u32::MAX).unwrap_err();
        assert!(fault.message.contains("4294967295 shares in 56 octets"), "{}", fault.message);
    }
}
