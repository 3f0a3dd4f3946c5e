//! Mapping of SMB errors to reasons.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::status::{self, Status};

use crate::redirector::{Reason, Refusal};
pub(super) use crate::redirector::{malformed, protocol};

pub fn refused(block: &Block<'_>) -> Refusal {
    let found = block.header().status;
    // DOS reports "access denied" for a directory that exists, and for one that is not empty.
    let of_directory = [command::CREATE_DIRECTORY, command::DELETE_DIRECTORY];
    let is_taken =
        found == Status::Dos { class: 1, code: 5 } && of_directory.contains(&block.command());
    let reason = if is_taken { Reason::Exists } else { reason(found) };
    Refusal::new(reason, format!("{}: {found}", block.format()))
}

pub fn reason(found: Status) -> Reason {
    use status::error as e;
    // "Denied" comes first: DOS errors use the same code for directories.
    let rows: [(Reason, &[e::Row]); 7] = [
        (
            Reason::Missing,
            &[
                e::NO_SUCH_FILE,
                e::OBJECT_NAME_NOT_FOUND,
                e::OBJECT_PATH_NOT_FOUND,
                e::NOT_A_DIRECTORY,
                e::BAD_NETWORK_NAME,
                e::DELETE_PENDING,
            ],
        ),
        (
            Reason::Denied,
            &[
                e::ACCESS_DENIED,
                e::CANNOT_DELETE,
                e::SHARING_VIOLATION,
                e::FILE_LOCK_CONFLICT,
                e::LOCK_NOT_GRANTED,
                e::NETWORK_ACCESS_DENIED,
                e::MEDIA_WRITE_PROTECTED,
            ],
        ),
        (
            Reason::Exists,
            &[e::OBJECT_NAME_COLLISION, e::DIRECTORY_NOT_EMPTY, e::FILE_IS_A_DIRECTORY],
        ),
        (Reason::Login, &[e::LOGON_FAILURE, e::WRONG_PASSWORD]),
        (Reason::NoSpace, &[e::DISK_FULL]),
        (Reason::Name, &[e::OBJECT_NAME_INVALID, e::NAME_TOO_LONG]),
        (Reason::Unsupported, &[e::NOT_SUPPORTED, e::INVALID_FUNCTION, e::SMB_BAD_COMMAND]),
    ];
    let known = rows.iter().find(|(_, rows)| rows.iter().any(|row| found.is(*row)));
    known.map_or(Reason::Protocol, |(reason, _)| *reason)
}
