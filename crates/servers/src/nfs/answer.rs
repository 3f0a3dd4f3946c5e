//! Replies to calls.

use lanlab_wire::nfs3::rpc::{self, Accepted, Call};
use lanlab_wire::nfs3::xdr::{Garbled, Writer};
use lanlab_wire::nfs3::{
    MAX_EXPORT_OCTETS, MOUNT, NFS, PORTMAP, Status, mount, portmap, procedure as p,
};

use super::files::{Failed, Files};
use super::handles::ROOT;
use super::{EXPORT, read_procedures, write_procedures};
use crate::visits::READ_ONLY;

/// The reply to a record, in a reused buffer; `None` if the record is not a call.
pub fn answer(files: &Files, record: &[u8], memory: Vec<u8>) -> Option<Vec<u8>> {
    let call = rpc::read_call(record).ok()?;
    let mut writer = rpc::begin_reply(memory, call.xid, Accepted::Success);
    let accepted = if call.is_understood() {
        done(files, &call, &mut writer)
    } else {
        Accepted::NoRpcVersion(2, 2)
    };
    if accepted != Accepted::Success {
        writer = rpc::begin_reply(writer.into_octets(), call.xid, accepted);
    }
    Some(rpc::finish(writer, 0))
}

pub fn refused(record: &[u8], reply: &[u8]) -> Option<String> {
    let (_, mut results) = rpc::read_reply(reply.get(4..)?).ok()?;
    let status = Status(results.u32().ok()?);
    if status == Status::ROFS {
        return Some(READ_ONLY.to_owned());
    }
    let mut call = rpc::read_call(record).ok()?;
    if (call.program, call.procedure, status) != (MOUNT, mount::MNT, Status::NOENT) {
        return None;
    }
    let path = String::from_utf8_lossy(call.arguments.opaque(MAX_EXPORT_OCTETS).ok()?);
    Some(format!("the export `{path}`: `{EXPORT}` is served"))
}

pub fn is_listing(record: &[u8]) -> bool {
    let call = rpc::read_call(record).map(|call| (call.program, call.procedure));
    matches!(call, Ok((NFS, p::READDIR | p::READDIRPLUS)))
}

/// Maximum data bytes in the reply to a call.
pub fn longest(record: &[u8]) -> usize {
    let Ok(mut call) = rpc::read_call(record) else { return 0 };
    match (call.program, call.procedure) {
        (NFS, p::READ) => read_procedures::octets_wanted(&mut call.arguments).unwrap_or(0),
        (NFS, p::READDIR | p::READDIRPLUS) => read_procedures::MAX_PAGE_OCTETS,
        _ => 0,
    }
}

fn done(files: &Files, call: &Call<'_>, writer: &mut Writer) -> Accepted {
    let done = match call.program {
        NFS => return nfs(files, call, writer),
        MOUNT => mounting(files, call, writer),
        PORTMAP => mapping(files, call, writer),
        (number, _) if number == NFS.0 || number == MOUNT.0 => {
            return Accepted::NoVersion(3, 3);
        }
        _ => return Accepted::NoProgram,
    };
    match done {
        Ok(true) => Accepted::Success,
        Ok(false) => Accepted::NoProcedure,
        Err(Garbled) => Accepted::GarbageArguments,
    }
}

/// The portmapper (RFC 1833, section 3), for clients that query it at our port: every program is here.
fn mapping(files: &Files, call: &Call<'_>, writer: &mut Writer) -> Result<bool, Garbled> {
    let mut arguments = call.arguments;
    let mapped = [NFS, MOUNT, PORTMAP];
    match call.procedure {
        portmap::NULL => {}
        portmap::GETPORT => {
            let wanted = (arguments.u32()?, arguments.u32()?);
            let is_here = mapped.contains(&wanted) && arguments.u32()? == portmap::TCP;
            writer.u32(if is_here { files.port.into() } else { 0 });
        }
        portmap::DUMP => {
            for (program, version) in mapped {
                for word in [1, program, version, portmap::TCP, files.port.into()] {
                    writer.u32(word);
                }
            }
            writer.boolean(false);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The mount protocol (RFC 1813, appendix I).
fn mounting(files: &Files, call: &Call<'_>, writer: &mut Writer) -> Result<bool, Garbled> {
    let mut arguments = call.arguments;
    match call.procedure {
        mount::NULL | mount::UMNTALL => {}
        mount::MNT => {
            let path = arguments.opaque(MAX_EXPORT_OCTETS)?;
            let path = path.strip_suffix(b"/").unwrap_or(path);
            if path == EXPORT.as_bytes() {
                writer.u32(Status::OK.0);
                files.write_handle(ROOT, writer);
                writer.u32(1);
                writer.u32(rpc::AUTH_SYS);
            } else {
                writer.u32(Status::NOENT.0);
            }
        }
        mount::UMNT => {
            arguments.opaque(MAX_EXPORT_OCTETS)?;
        }
        mount::DUMP => writer.boolean(false),
        mount::EXPORT => {
            writer.boolean(true);
            writer.opaque(EXPORT.as_bytes());
            writer.boolean(false); // For everybody.
            writer.boolean(false);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn nfs(files: &Files, call: &Call<'_>, writer: &mut Writer) -> Accepted {
    let before = writer.octets().len();
    writer.u32(Status::OK.0);
    let mut arguments = call.arguments;
    let arguments = &mut arguments;
    let done = match call.procedure {
        p::NULL => {
            writer.truncate(before);
            return Accepted::Success;
        }
        p::GETATTR => read_procedures::getattr(files, arguments, writer),
        p::LOOKUP => read_procedures::lookup(files, arguments, writer),
        p::ACCESS => read_procedures::access(files, arguments, writer),
        p::READLINK => read_procedures::readlink(files, arguments, writer),
        p::READ => read_procedures::read(files, arguments, writer),
        p::READDIR => read_procedures::readdir(files, arguments, writer, false),
        p::READDIRPLUS => read_procedures::readdir(files, arguments, writer, true),
        p::FSINFO => read_procedures::fsinfo(files, arguments, writer),
        p::PATHCONF => read_procedures::pathconf(files, arguments, writer),
        p::SETATTR => write_procedures::setattr(files, arguments, writer),
        p::WRITE => write_procedures::write(files, arguments, writer),
        p::CREATE => write_procedures::create(files, arguments, writer),
        p::MKDIR => write_procedures::mkdir(files, arguments, writer),
        p::REMOVE => write_procedures::remove(files, arguments, writer, false),
        p::RMDIR => write_procedures::remove(files, arguments, writer, true),
        p::RENAME => write_procedures::rename(files, arguments, writer),
        p::COMMIT => write_procedures::commit(files, arguments, writer),
        p::FSSTAT => read_procedures::fsstat(files, arguments, writer),
        // Links and devices are not supported.
        p::SYMLINK | p::MKNOD | p::LINK => Err(Status::NOTSUPP.into()),
        _ => return Accepted::NoProcedure,
    };
    match done {
        Ok(()) => Accepted::Success,
        Err(Failed::Garbled) => Accepted::GarbageArguments,
        Err(Failed::With(status)) => {
            writer.truncate(before);
            writer.u32(status.0);
            (0..words_after_failure(call.procedure)).for_each(|_| writer.boolean(false));
            Accepted::Success
        }
    }
}

/// Optional attributes of a failed call's reply, all absent here: one word each.
fn words_after_failure(procedure: u32) -> usize {
    match procedure {
        p::GETATTR => 0,
        p::LOOKUP
        | p::ACCESS
        | p::READLINK
        | p::READ
        | p::READDIR
        | p::READDIRPLUS
        | p::FSSTAT
        | p::FSINFO
        | p::PATHCONF => 1,
        p::LINK => 3,
        p::RENAME => 4,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_malformed_call_gets_a_reply(
            procedure in 0_u32..24, program in 0_u32..3, arguments: Vec<u8>,
        ) {
            let root = tempfile::TempDir::new().unwrap();
            let files = Files::new(root.path(), false).unwrap();
            let program = [NFS, MOUNT, (NFS.0, 4)][program as usize];
            let mut writer = rpc::begin_call(5, program, procedure, &[]);
            // A valid handle lets the parser reach further fields.
            files.write_handle(ROOT, &mut writer);
            writer.fixed(&arguments);
            let record = rpc::finish(writer, 0);
            let reply = answer(&files, &record[4..], vec![1; 3]).unwrap();
            let (length, last) = rpc::fragment(reply[..4].try_into().unwrap());
            prop_assert!(last && length == reply.len() - 4);
            prop_assert_eq!(rpc::xid(&reply[4..]), Some(5));
            prop_assert!(rpc::read_reply(&reply[4..]).is_ok());
        }
    }
}
