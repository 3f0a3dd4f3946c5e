//! Converts a status of NFS 3 or 4 into a fault.

use lanlab_files::{Class, Fault};
use lanlab_wire::nfs3::Status;

pub const SYS_ALONE: &str =
    "NFS knows no password, and Kerberos is not spoken: allow `sec=sys` in the export";

pub fn fault_of(status: Status, version: u32) -> Fault {
    let words = match status.name(version) {
        Some(name) => format!("NFS{version}ERR_{name}"),
        None => format!("status {}", status.0),
    };
    let fault = Fault::new(class(status), words);
    match status {
        Status::GRACE => fault.hint(
            "the server has just started and waits for its earlier clients: try again in a minute, or \
             allow more by `--timeout`",
        ),
        Status::MINOR_VERS_MISMATCH => {
            fault.hint("the server lacks NFS 4.1: measure NFS 3 by `nfs://`")
        }
        Status::WRONGSEC => fault.hint(SYS_ALONE),
        Status::ROFS => fault.hint("the server exports it read-only: allow writing in the export"),
        Status::BADSESSION | Status::DEADSESSION | Status::EXPIRED | Status::STALE_CLIENTID => fault
            .hint("the server has restarted, or has heard nothing for longer than its lease: run again"),
        _ => fault,
    }
}

fn class(status: Status) -> Class {
    type S = Status;
    match status {
        S::PERM | S::ACCESS | S::ROFS | S::SHARE_DENIED | S::LOCKED | S::FILE_OPEN => Class::Denied,
        S::WRONGSEC | S::WRONG_CRED => Class::Login,
        S::NOENT | S::NOTDIR | S::STALE | S::SYMLINK | S::FHEXPIRED | S::NOT_SAME => Class::Missing,
        S::EXIST | S::ISDIR | S::NOTEMPTY | S::SAME | S::WRONG_TYPE => Class::Exists,
        S::XDEV | S::NODEV | S::REMOTE | S::NOTSUPP | S::BADTYPE | S::MOVED | S::ATTRNOTSUPP => {
            Class::Unsupported
        }
        S::MINOR_VERS_MISMATCH => Class::Unsupported,
        S::INVAL | S::NAMETOOLONG | S::BADCHAR | S::BADNAME => Class::Name,
        S::FBIG | S::NOSPC | S::MLINK | S::DQUOT => Class::NoSpace,
        S::DELAY | S::GRACE => Class::TimedOut,
        S::BADSESSION | S::DEADSESSION | S::EXPIRED | S::STALE_CLIENTID | S::ADMIN_REVOKED => {
            Class::Reset
        }
        _ => Class::Protocol,
    }
}
