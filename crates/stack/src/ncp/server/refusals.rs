//! Mapping of errors to NCP completion codes.

use lanlab_wire::Error;
use lanlab_wire::ncp::completion as c;

use crate::file_server::open_files::OpenRefusal;
use crate::files::FileRefusal;

pub type Refused = u8;

pub const fn of_files(refusal: FileRefusal) -> Refused {
    match refusal {
        FileRefusal::Missing | FileRefusal::IsDirectory => c::FAILED,
        FileRefusal::NoPath => c::NO_SUCH_PATH,
        FileRefusal::Exists => c::NAMES_EXIST,
        FileRefusal::NotEmpty => c::DIRECTORY_NOT_EMPTY,
        FileRefusal::Denied => c::NO_OPEN_RIGHTS,
        FileRefusal::NoSpace => c::NO_SPACE,
        FileRefusal::Name => c::BAD_NAME,
        FileRefusal::TooMany => c::NO_FILE_HANDLES,
        FileRefusal::TooLong => c::OUT_OF_MEMORY,
        FileRefusal::Failed => c::IO_ERROR,
    }
}

pub const fn of_open(refusal: OpenRefusal) -> Refused {
    match refusal {
        OpenRefusal::IsDoomed => c::FAILED,
        OpenRefusal::IsShared => c::FILE_IN_USE,
    }
}

pub const fn malformed(_: Error) -> Refused {
    c::BAD_PACKET
}
