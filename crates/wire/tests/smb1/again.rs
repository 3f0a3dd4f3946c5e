//! Reads a message block by block and writes it again.

use lanlab_wire::Error;
use lanlab_wire::smb1::andx::{Block, Chain};
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::smb1::{
    close, command, echo, find, locking_andx, logoff_andx, multiplexed, negotiate, nt_create_andx,
    open, open_andx, path, query_information, query_information_disk, query_information2, read,
    read_andx, read_raw, rename, search, seek, session_setup_andx, transaction, tree_connect,
    tree_connect_andx, write, write_andx, write_raw,
};

/// Read `message` of a client or of a server and write it again. `None` if a block of it is of a
/// command that is not read.
pub fn again(message: &[u8], from_client: bool) -> Result<Option<Vec<u8>>, Error> {
    let header = Header::parse(message)?;
    let mut out = Vec::with_capacity(message.len());
    let mut writer = Writer::begin(&mut out, &header);
    for (at, block) in Chain::new(&header, message).enumerate() {
        let block = block?;
        if at > 0 {
            writer.chain(block.command());
        }
        let known = if from_client {
            request(&block, &mut writer)?
        } else {
            response(&block, &mut writer)?
        };
        if !known {
            return Ok(None);
        }
    }
    Ok(Some(out))
}

macro_rules! read_and_write {
    ($block:ident, $writer:ident, $($kind:ty),*) => {
        { $(<$kind>::parse($block)?.emit($writer);)* }
    };
}

fn request(block: &Block<'_>, w: &mut Writer<'_>) -> Result<bool, Error> {
    match block.command() {
        command::CREATE_DIRECTORY
        | command::DELETE_DIRECTORY
        | command::CHECK_DIRECTORY
        | command::QUERY_INFORMATION => read_and_write!(block, w, path::Request<'_>),
        command::OPEN => read_and_write!(block, w, open::Request<'_>),
        command::CREATE | command::CREATE_NEW | command::CREATE_TEMPORARY => {
            read_and_write!(block, w, open::Create<'_>);
        }
        command::CLOSE => read_and_write!(block, w, close::Request),
        command::FLUSH => read_and_write!(block, w, close::Flush),
        command::DELETE => read_and_write!(block, w, path::Delete<'_>),
        command::RENAME => read_and_write!(block, w, rename::Request<'_>),
        command::SET_INFORMATION => read_and_write!(block, w, query_information::SetRequest<'_>),
        command::READ => read_and_write!(block, w, read::Request),
        command::WRITE => read_and_write!(block, w, write::Request<'_>),
        command::LOCK_BYTE_RANGE | command::UNLOCK_BYTE_RANGE => {
            read_and_write!(block, w, read::Range);
        }
        command::SEEK => read_and_write!(block, w, seek::Request),
        command::READ_RAW | command::READ_MPX => read_and_write!(block, w, read_raw::Request),
        command::WRITE_RAW => read_and_write!(block, w, write_raw::Request<'_>),
        command::WRITE_MPX => read_and_write!(block, w, multiplexed::Write<'_>),
        command::SET_INFORMATION2 => read_and_write!(block, w, query_information2::SetRequest),
        command::QUERY_INFORMATION2 => read_and_write!(block, w, query_information2::Request),
        command::LOCKING_ANDX => {
            let request = locking_andx::Request::parse(block)?;
            let ranges = |ranges: locking_andx::Ranges<'_>| ranges.iter().collect::<Vec<_>>();
            let (unlocks, locks) = (ranges(request.unlocks), ranges(request.locks));
            assert_eq!((unlocks.len(), locks.len()), (request.unlocks.len(), request.locks.len()));
            locking_andx::emit_request(&request.head, &unlocks, &locks, w);
        }
        command::TRANSACTION | command::TRANSACTION2 => {
            read_and_write!(block, w, transaction::Request<'_>);
        }
        command::TRANSACTION_SECONDARY | command::TRANSACTION2_SECONDARY => {
            read_and_write!(block, w, transaction::Secondary<'_>);
        }
        command::ECHO => read_and_write!(block, w, echo::Echo<'_>),
        command::WRITE_AND_CLOSE => read_and_write!(block, w, write::WriteAndClose<'_>),
        command::OPEN_ANDX => read_and_write!(block, w, open_andx::Request<'_>),
        command::READ_ANDX => read_and_write!(block, w, read_andx::Request),
        command::WRITE_ANDX => read_and_write!(block, w, write_andx::Request<'_>),
        command::FIND_CLOSE2 => read_and_write!(block, w, find::Close2),
        command::TREE_CONNECT => read_and_write!(block, w, tree_connect::Request<'_>),
        command::NEGOTIATE => {
            let request = negotiate::Request::parse(block)?;
            let dialects: Vec<_> = request.dialects().map(String::from_utf8_lossy).collect();
            let dialects: Vec<_> = dialects.iter().map(|dialect| &**dialect).collect();
            negotiate::emit_request(&dialects, w);
        }
        command::SESSION_SETUP_ANDX => {
            read_and_write!(block, w, session_setup_andx::Request<'_>);
        }
        command::LOGOFF_ANDX => {
            logoff_andx::parse(block)?;
            logoff_andx::emit(w);
        }
        command::TREE_CONNECT_ANDX => read_and_write!(block, w, tree_connect_andx::Request<'_>),
        command::SEARCH | command::FIND | command::FIND_UNIQUE | command::FIND_CLOSE => {
            read_and_write!(block, w, search::Request<'_>);
        }
        command::NT_CREATE_ANDX => read_and_write!(block, w, nt_create_andx::Request<'_>),
        command::TREE_DISCONNECT | command::PROCESS_EXIT | command::QUERY_INFORMATION_DISK => {
            w.empty();
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn response(block: &Block<'_>, w: &mut Writer<'_>) -> Result<bool, Error> {
    if block.is_empty() {
        w.empty();
        return Ok(true);
    }
    match block.command() {
        command::OPEN => read_and_write!(block, w, open::Response),
        command::CREATE | command::CREATE_NEW => read_and_write!(block, w, open::Created),
        command::CREATE_TEMPORARY => read_and_write!(block, w, open::CreatedTemporary<'_>),
        command::QUERY_INFORMATION => read_and_write!(block, w, query_information::Response),
        command::READ => read_and_write!(block, w, read::Response<'_>),
        command::WRITE | command::WRITE_AND_CLOSE => read_and_write!(block, w, write::Response),
        command::SEEK => read_and_write!(block, w, seek::Response),
        command::READ_MPX => read_and_write!(block, w, multiplexed::Response<'_>),
        command::WRITE_MPX => read_and_write!(block, w, multiplexed::Written),
        command::WRITE_RAW | command::WRITE_COMPLETE => {
            read_and_write!(block, w, write_raw::Response);
        }
        command::QUERY_INFORMATION2 => read_and_write!(block, w, query_information2::Response),
        command::LOCKING_ANDX => {
            logoff_andx::parse(block)?;
            locking_andx::emit_response(w);
        }
        command::TRANSACTION | command::TRANSACTION2 => {
            read_and_write!(block, w, transaction::Response<'_>);
        }
        command::ECHO => read_and_write!(block, w, echo::Echo<'_>),
        command::OPEN_ANDX => read_and_write!(block, w, open_andx::Response),
        command::READ_ANDX => read_and_write!(block, w, read_andx::Response<'_>),
        command::WRITE_ANDX => read_and_write!(block, w, write_andx::Response),
        command::TREE_CONNECT => read_and_write!(block, w, tree_connect::Response),
        command::NEGOTIATE => read_and_write!(block, w, negotiate::Response<'_>),
        command::SESSION_SETUP_ANDX => {
            read_and_write!(block, w, session_setup_andx::Response<'_>);
        }
        command::LOGOFF_ANDX => {
            logoff_andx::parse(block)?;
            logoff_andx::emit(w);
        }
        command::TREE_CONNECT_ANDX => read_and_write!(block, w, tree_connect_andx::Response<'_>),
        command::QUERY_INFORMATION_DISK => {
            read_and_write!(block, w, query_information_disk::Response);
        }
        command::SEARCH | command::FIND | command::FIND_UNIQUE | command::FIND_CLOSE => {
            let response = search::Response::parse(block)?;
            let entries: Vec<_> = response.entries().collect();
            assert_eq!(entries.len(), response.len());
            search::emit_response(&entries, w);
        }
        command::NT_CREATE_ANDX => read_and_write!(block, w, nt_create_andx::Response),
        _ => return Ok(false),
    }
    Ok(true)
}
