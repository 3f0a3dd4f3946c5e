//! Mapping of errors to SMB status codes.

use lanlab_wire::Error;
use lanlab_wire::smb1::status::error::{self, Row};

use crate::file_server::locks::LockRefusal;
use crate::file_server::open_files::OpenRefusal;
use crate::files::FileRefusal;

pub type Refused = Row;

impl From<FileRefusal> for Refused {
    fn from(refusal: FileRefusal) -> Self {
        match refusal {
            FileRefusal::Missing => error::OBJECT_NAME_NOT_FOUND,
            FileRefusal::NoPath => error::OBJECT_PATH_NOT_FOUND,
            FileRefusal::Exists => error::OBJECT_NAME_COLLISION,
            FileRefusal::NotEmpty => error::DIRECTORY_NOT_EMPTY,
            FileRefusal::IsDirectory => error::FILE_IS_A_DIRECTORY,
            FileRefusal::Denied => error::ACCESS_DENIED,
            FileRefusal::NoSpace => error::DISK_FULL,
            FileRefusal::Name => error::OBJECT_NAME_INVALID,
            FileRefusal::TooMany => error::TOO_MANY_OPENED_FILES,
            FileRefusal::TooLong => error::INSUFFICIENT_RESOURCES,
            FileRefusal::Failed => error::UNSUCCESSFUL_IO,
        }
    }
}

impl From<OpenRefusal> for Refused {
    fn from(refusal: OpenRefusal) -> Self {
        match refusal {
            OpenRefusal::IsDoomed => error::DELETE_PENDING,
            OpenRefusal::IsShared => error::SHARING_VIOLATION,
        }
    }
}

impl From<LockRefusal> for Refused {
    fn from(refusal: LockRefusal) -> Self {
        match refusal {
            LockRefusal::Conflict(_) => error::LOCK_NOT_GRANTED,
            LockRefusal::Range => error::INVALID_LOCK_RANGE,
            LockRefusal::NotLocked => error::RANGE_NOT_LOCKED,
            LockRefusal::TooMany => error::INSUFFICIENT_RESOURCES,
        }
    }
}

pub fn malformed(_: Error) -> Refused {
    error::INVALID_SMB
}
