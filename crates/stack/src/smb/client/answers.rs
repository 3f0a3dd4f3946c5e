//! Parsing of responses to calls.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::{
    attributes, command, multiplexed, nt_create_andx, open, open_andx, query_information, read,
    read_andx, write, write_andx,
};

use super::refusals::{malformed, protocol, refused};
use crate::redirector::{Done, FileId, Refusal};

fn check(block: &Block<'_>) -> Result<(), Refusal> {
    if block.header().status.is_success() { Ok(()) } else { Err(refused(block)) }
}

pub fn nothing(block: &Block<'_>) -> Result<Done, Refusal> {
    check(block).map(|()| Done::Nothing)
}

pub fn opened(block: &Block<'_>) -> Result<Done, Refusal> {
    check(block)?;
    let (fid, size_bytes) = match block.command() {
        command::NT_CREATE_ANDX => {
            let response = nt_create_andx::Response::parse(block).map_err(malformed)?;
            (response.fid, response.end_of_file)
        }
        command::OPEN_ANDX => {
            let response = open_andx::Response::parse(block).map_err(malformed)?;
            (response.fid, u64::from(response.size))
        }
        command::OPEN => {
            let response = open::Response::parse(block).map_err(malformed)?;
            (response.fid, u64::from(response.size))
        }
        _ => (open::Created::parse(block).map_err(malformed)?.fid, 0),
    };
    Ok(Done::Opened { file: FileId(u32::from(fid)), size_bytes })
}

pub fn read(block: &Block<'_>, count: u32) -> Result<Done, Refusal> {
    check(block)?;
    let data = match block.command() {
        command::READ => read::Response::parse(block).map_err(malformed)?.data,
        command::READ_MPX => multiplexed::Response::parse(block).map_err(malformed)?.data,
        _ => read_andx::Response::parse(block).map_err(malformed)?.data,
    };
    let at = block.offset_of(data);
    if data.len() > count as usize {
        let found = data.len();
        return Err(protocol(format!("{}: found {found} octets of {count}", block.format())));
    }
    Ok(Done::Read(at..at + data.len()))
}

pub fn written(block: &Block<'_>, count: u32) -> Result<Done, Refusal> {
    check(block)?;
    let written = if block.command() == command::WRITE {
        u32::from(write::Response::parse(block).map_err(malformed)?.count)
    } else {
        write_andx::Response::parse(block).map_err(malformed)?.count
    };
    if written > count || written == 0 && count > 0 {
        let name = block.format();
        return Err(protocol(format!("{name}: the server wrote {written} octets of {count}")));
    }
    Ok(Done::Written(written))
}

/// The size of a directory is 0.
pub fn found(block: &Block<'_>) -> Result<Done, Refusal> {
    check(block)?;
    let response = query_information::Response::parse(block).map_err(malformed)?;
    let is_directory = response.attributes & attributes::DIRECTORY != 0;
    let size_bytes = if is_directory { 0 } else { u64::from(response.size) };
    Ok(Done::Found { size_bytes, is_directory })
}
