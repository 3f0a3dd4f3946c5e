//! Converts an NFS status into a fault.

use lanlab_files::Class;
use lanlab_wire::nfs3::Status;

pub fn class(status: Status) -> Class {
    match status {
        Status::PERM | Status::ACCES | Status::ROFS => Class::Denied,
        Status::NOENT | Status::NOTDIR | Status::STALE => Class::Missing,
        Status::EXIST | Status::ISDIR | Status::NOTEMPTY => Class::Exists,
        Status::XDEV | Status::NODEV | Status::REMOTE | Status::NOTSUPP | Status::BADTYPE => {
            Class::Unsupported
        }
        Status::INVAL | Status::NAMETOOLONG => Class::Name,
        Status::FBIG | Status::NOSPC | Status::MLINK | Status::DQUOT => Class::NoSpace,
        _ => Class::Protocol,
    }
}
