//! The operations of one call, and their results up to the first that failed.

use lanlab_files::{Class, Fault, Result};
use lanlab_wire::nfs3::xdr::{Reader, Writer};
use lanlab_wire::nfs4::operation::{self as op, PLAIN};
use lanlab_wire::nfs4::{Status, attribute};

use crate::nfs::connection::{SYS_ALONE, garbled};

#[derive(Debug, Default)]
pub struct Compound {
    writer: Writer,
    pub count: u32,
}

impl Compound {
    /// Begin at a handle, or at the root of the server's exports.
    pub fn at(handle: Option<&[u8]>) -> Self {
        match handle {
            Some(handle) => Self::default().op(op::PUTFH, |writer| writer.opaque(handle)),
            None => Self::default().op(op::PUTROOTFH, |_| {}),
        }
    }

    #[must_use]
    pub fn op(mut self, operation: u32, arguments: impl FnOnce(&mut Writer)) -> Self {
        self.writer.u32(operation);
        arguments(&mut self.writer);
        self.count += 1;
        self
    }

    /// An operation whose only argument is a name.
    #[must_use]
    pub fn named(self, operation: u32, name: &str) -> Self {
        self.op(operation, |writer| writer.opaque(name.as_bytes()))
    }

    #[must_use]
    pub fn lookups(self, names: &[&str]) -> Self {
        names.iter().fold(self, |compound, name| compound.named(op::LOOKUP, name))
    }

    #[must_use]
    pub fn then(mut self, other: &Self) -> Self {
        self.writer.fixed(other.octets());
        self.count += other.count;
        self
    }

    pub fn octets(&self) -> &[u8] {
        self.writer.octets()
    }
}

/// The results of a compound, in order.
pub struct Results<'a>(pub Reader<'a>);

impl<'a> Results<'a> {
    /// Skip results that are only a status, and return the result of operation `wanted`.
    pub fn of(&mut self, wanted: u32) -> Result<&mut Reader<'a>> {
        loop {
            let operation = self.0.u32().map_err(garbled)?;
            let status = Status(self.0.u32().map_err(garbled)?);
            if status != Status::OK {
                return Err(fault_of(status));
            }
            if operation == wanted {
                return Ok(&mut self.0);
            }
            if !PLAIN.contains(&operation) {
                let message = format!("the result of operation {operation}; wanted: {wanted}");
                return Err(Fault::new(Class::Protocol, message));
            }
        }
    }
}

/// Read the head of an answer, before its results: the status of the last operation.
pub fn read_status(reader: &mut Reader<'_>) -> Result<Status> {
    let status = Status(reader.u32().map_err(garbled)?);
    reader.opaque(reader.rest().len()).map_err(garbled)?; // Tag.
    if reader.u32().map_err(garbled)? == 0 {
        return Err(fault_of(status));
    }
    Ok(status)
}

pub fn fault_of(status: Status) -> Fault {
    let words = match status.name() {
        Some(name) => format!("NFS4ERR_{name}"),
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
        S::XDEV | S::NOTSUPP | S::BADTYPE | S::MOVED | S::ATTRNOTSUPP | S::MINOR_VERS_MISMATCH => {
            Class::Unsupported
        }
        S::INVAL | S::NAMETOOLONG | S::BADCHAR | S::BADNAME => Class::Name,
        S::FBIG | S::NOSPC | S::MLINK | S::DQUOT => Class::NoSpace,
        S::DELAY | S::GRACE => Class::TimedOut,
        S::BADSESSION | S::DEADSESSION | S::EXPIRED | S::STALE_CLIENTID | S::ADMIN_REVOKED => {
            Class::Reset
        }
        _ => Class::Protocol,
    }
}

/// The attributes of a file that is found or listed.
pub const OF_FILE: [u32; 2] = [attribute::TYPE, attribute::SIZE];
