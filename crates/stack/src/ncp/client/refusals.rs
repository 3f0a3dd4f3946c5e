//! Mapping of NCP completion codes to reasons.

use lanlab_wire::ncp::completion as c;
use lanlab_wire::ncp::function::{self, Function};

use crate::redirector::{Reason, Refusal};
pub(super) use crate::redirector::{malformed, protocol};

pub fn refused(asked: Function, code: u8) -> Refusal {
    let meaning = c::name(code).unwrap_or("unknown code");
    let message = format!("{}: {meaning} ({code:#04x})", asked.name());
    Refusal::new(reason(asked, code), message)
}

fn reason(asked: Function, code: u8) -> Reason {
    match code {
        // The directory to be made already exists, or the one to be removed is not empty.
        c::FAILED if asked == function::MAKE_DIRECTORY => Reason::Exists,
        c::NO_CREATE_OR_DELETE_RIGHTS | c::NAMES_EXIST | c::DIRECTORY_NOT_EMPTY => Reason::Exists,
        c::FAILED | c::NO_SUCH_PATH | c::NO_SUCH_VOLUME => Reason::Missing,
        c::FILE_IN_USE
        | c::NO_OPEN_RIGHTS
        | c::NO_CREATE_RIGHTS
        | c::NO_DELETE_RIGHTS
        | c::NO_RENAME_RIGHTS
        | c::NO_MODIFY_RIGHTS
        | c::ALL_IN_USE
        | c::ALL_READ_ONLY
        | c::NO_READ_RIGHTS
        | c::NO_WRITE_RIGHTS
        | c::DIRECTORY_ACTIVE
        | c::LOCKED
        | c::NO_RIGHTS
        | c::NOT_PERMITTED => Reason::Denied,
        c::LOGIN_DENIED | c::PASSWORD_EXPIRED | c::NO_SUCH_OBJECT => Reason::Login,
        c::NO_SPACE | c::DIRECTORY_FULL => Reason::NoSpace,
        c::BAD_NAME => Reason::Name,
        c::UNSUPPORTED => Reason::Unsupported,
        _ => Reason::Protocol,
    }
}
