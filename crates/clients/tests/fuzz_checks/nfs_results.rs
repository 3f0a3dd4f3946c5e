//! What the result of each procedure of NFS looks like, by RFC 1813: read to its end.

use lanlab_wire::nfs3::rpc::Accepted;
use lanlab_wire::nfs3::xdr::{Garbled, Reader};
use lanlab_wire::nfs3::{
    Attributes, MAX_EXPORT_OCTETS, MAX_HANDLE_OCTETS, MAX_NAME_OCTETS, Status, mount,
    procedure as p, skip_wcc,
};

use crate::nfs::listing::read_page;
use crate::nfs::read_data;

/// Read what follows the head of an answer; nothing follows where a call was not done. A read has
/// at most `most_data` octets.
///
/// # Errors
/// It is not as the specification says.
pub fn nfs_result(
    (is_mount, procedure): (bool, u32),
    accepted: Accepted,
    reader: &mut Reader<'_>,
    most_data: usize,
) -> Result<(), Garbled> {
    match accepted {
        Accepted::Success if is_mount => read_mount(procedure, reader),
        Accepted::Success => read_nfs(procedure, reader, most_data),
        _ => Ok(()),
    }
}

/// Appendix I, section 5.2.
fn read_mount(procedure: u32, reader: &mut Reader<'_>) -> Result<(), Garbled> {
    match procedure {
        mount::MNT if Status(reader.u32()?) == Status::OK => {
            reader.opaque(MAX_HANDLE_OCTETS)?;
            for _ in 0..reader.u32()? {
                reader.u32()?;
            }
        }
        mount::DUMP => {
            while reader.boolean()? {
                reader.opaque(255)?;
                reader.opaque(MAX_EXPORT_OCTETS)?;
            }
        }
        mount::EXPORT => {
            while reader.boolean()? {
                reader.opaque(MAX_EXPORT_OCTETS)?;
                while reader.boolean()? {
                    reader.opaque(255)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Section 3.3.
fn read_nfs(procedure: u32, reader: &mut Reader<'_>, most_data: usize) -> Result<(), Garbled> {
    if procedure == p::NULL {
        return Ok(());
    }
    if Status(reader.u32()?) != Status::OK {
        return read_failure(procedure, reader);
    }
    match procedure {
        p::GETATTR => drop(Attributes::read(reader)?),
        p::LOOKUP => {
            reader.opaque(MAX_HANDLE_OCTETS)?;
            Attributes::read_optional(reader)?;
            Attributes::read_optional(reader)?;
        }
        p::ACCESS => {
            Attributes::read_optional(reader)?;
            reader.u32()?;
        }
        p::READLINK => {
            Attributes::read_optional(reader)?;
            reader.opaque(MAX_NAME_OCTETS)?;
        }
        p::READ => drop(read_data(reader, most_data).map_err(|_| Garbled)?),
        p::WRITE => {
            skip_wcc(reader)?;
            reader.fixed(16)?; // Count, whether it is on the disk, verifier.
        }
        p::CREATE | p::MKDIR => {
            if reader.boolean()? {
                reader.opaque(MAX_HANDLE_OCTETS)?;
            }
            Attributes::read_optional(reader)?;
            skip_wcc(reader)?;
        }
        p::RENAME => {
            skip_wcc(reader)?;
            skip_wcc(reader)?;
        }
        p::READDIR => {
            Attributes::read_optional(reader)?;
            reader.fixed(8)?;
            while reader.boolean()? {
                reader.u64()?;
                reader.opaque(MAX_NAME_OCTETS)?;
                reader.u64()?;
            }
            reader.boolean()?;
        }
        p::READDIRPLUS => drop(read_page(reader)?),
        p::FSSTAT => {
            Attributes::read_optional(reader)?;
            reader.fixed(6 * 8 + 4)?;
        }
        p::FSINFO => {
            Attributes::read_optional(reader)?;
            reader.fixed(7 * 4 + 8 + 8 + 4)?;
        }
        p::PATHCONF => {
            Attributes::read_optional(reader)?;
            reader.fixed(6 * 4)?;
        }
        p::COMMIT => {
            skip_wcc(reader)?;
            reader.fixed(8)?;
        }
        // SETATTR, REMOVE, RMDIR; the others are never done.
        _ => skip_wcc(reader)?,
    }
    Ok(())
}

fn read_failure(procedure: u32, reader: &mut Reader<'_>) -> Result<(), Garbled> {
    let (attributes, changes) = match procedure {
        p::GETATTR => (0, 0),
        p::RENAME => (0, 2),
        p::LINK => (1, 1),
        p::SETATTR | p::COMMIT | p::WRITE..=p::RMDIR => (0, 1),
        _ => (1, 0),
    };
    for _ in 0..attributes {
        Attributes::read_optional(reader)?;
    }
    for _ in 0..changes {
        skip_wcc(reader)?;
    }
    Ok(())
}
