//! The operations of one call, and their results up to the first that failed.

use lanlab_files::{Class, Fault, Result};
use lanlab_wire::nfs3::xdr::{Reader, Writer};
use lanlab_wire::nfs4::operation::{self as op, PLAIN};
use lanlab_wire::nfs4::{MAX_HANDLE_OCTETS, NFS, Status, attribute};

use crate::nfs::status::fault_of;

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
            let operation = self.0.u32()?;
            let status = Status(self.0.u32()?);
            if status != Status::OK {
                return Err(fault_of(status, NFS.1));
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

    pub fn handle(&mut self) -> Result<Vec<u8>> {
        Ok(self.of(op::GETFH)?.opaque(MAX_HANDLE_OCTETS)?.to_vec())
    }
}

/// Read the head of an answer, before its results: the status of the last operation.
pub fn read_status(reader: &mut Reader<'_>) -> Result<Status> {
    let status = Status(reader.u32()?);
    reader.opaque(reader.rest().len())?; // Tag.
    if reader.u32()? == 0 {
        return Err(fault_of(status, NFS.1));
    }
    Ok(status)
}

pub const OF_FILE: [u32; 2] = [attribute::TYPE, attribute::SIZE];
