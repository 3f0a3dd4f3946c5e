//! The shares of a server: `NetrShareEnum` ([MS-SRVS] section 3.1.4.8) over the pipe `srvsvc`.

use lanlab_files::{Class, Fault, Result, Target};
use smb2::msg::create::CreateDisposition;
use smb2::rpc::{self, srvsvc};
use smb2::types::FileId;
use smb2::types::flags::FileAccessMask as Mask;

use super::calls::Opening;
use super::{Session, connect};

/// The share for named pipes.
const PIPES: &str = "IPC$";
const PIPE: &str = "srvsvc";
const READ_OCTETS: usize = 1 << 16;
/// Header length of a DCE/RPC fragment, and the offsets of its flags and length.
const HEAD_OCTETS: usize = 24;
const FLAGS: usize = 3;
const LENGTH: usize = 8;
const IS_LAST: u8 = 2;

/// Names of the shares for files, without hidden ones.
pub async fn shares(target: &Target) -> Result<Vec<String>> {
    let pipes =
        Target { share: Some(PIPES.to_owned()), directory: String::new(), ..target.clone() };
    let session = connect(&pipes).await?;
    let access = Mask::FILE_READ_DATA | Mask::FILE_WRITE_DATA;
    let opening = Opening { access, disposition: CreateDisposition::FileOpen, options: 0 };
    let pipe = session.calls.create(PIPE, &opening).await?.file_id;
    let listed = list(&session, pipe, target).await;
    // A failed close does not invalidate the list.
    let _ = session.calls.close(pipe).await;
    let _ = lanlab_files::Session::end(session).await;
    listed
}

async fn list(session: &Session, pipe: FileId, target: &Target) -> Result<Vec<String>> {
    let garbled = |error: smb2::Error| {
        Fault::new(Class::Protocol, format!("list of shares: malformed answer: {error}"))
    };
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
            let message = "list of shares: longer than 64 KiB";
            return Err(Fault::new(Class::Protocol, message));
        };
        if is_last {
            // The crate expects a single fragment.
            whole[FLAGS] |= IS_LAST;
            whole[LENGTH..LENGTH + 2].copy_from_slice(&octets.to_le_bytes());
            break;
        }
    }
    let found = srvsvc::parse_net_share_enum_all_response(&whole).map_err(garbled)?;
    Ok(srvsvc::filter_disk_shares(found).into_iter().map(|share| share.name).collect())
}
