//! The start of a session: finds the ports of the services, and the handle of the export.

use std::time::Duration;

use lanlab_files::{Class, Fault, Result, Target};
use lanlab_wire::nfs3::xdr::{Garbled, Reader, Writer};
use lanlab_wire::nfs3::{
    MAX_EXPORT_OCTETS, MAX_HANDLE_OCTETS, MOUNT, NFS, PORTMAP, PORTMAP_PORT, Status, mount,
    portmap, rpc,
};

use crate::transport;

use super::connection::Connection;
use super::status::{SYS_ALONE, fault_of};

/// Maximum number of authentication flavors of an export.
const MAX_FLAVORS: u32 = 64;

pub struct Mounted {
    pub nfs: Connection,
    pub mount: Option<Connection>,
    pub export: String,
    pub root: Vec<u8>,
}

pub async fn mounted(target: &Target) -> Result<Mounted> {
    let export = target.share.clone().ok_or_else(|| {
        Fault::new(Class::Missing, "found no export").hint("name one, as `/export`")
    })?;
    let nfs_port = match target.port {
        Some(port) => port,
        None => ask_port(target, NFS, "NFS").await?,
    };
    let nfs = connect_to(target, nfs_port).await?;
    let path = |writer: &mut Writer| writer.opaque(export.as_bytes());
    let what = format!("mount `{export}`");
    let about = |fault: Fault| Fault { message: format!("{what}: {}", fault.message), ..fault };
    // A given port is the NFS port. Many servers have the mount service on the same port.
    let at_same_port = match target.port {
        Some(_) => match nfs.call(MOUNT, mount::MNT, path, &[]).await {
            Err(fault) if fault.class == Class::Unsupported => None,
            answer => Some(answer.map_err(about)?),
        },
        None => None,
    };
    let (answer, mount) = if let Some(answer) = at_same_port {
        (answer, None)
    } else {
        let mount = connect_to(target, ask_port(target, MOUNT, "mount").await?).await?;
        let answer = mount.call(MOUNT, mount::MNT, path, &[]).await.map_err(about)?;
        (answer, Some(mount))
    };
    let root = read_root(&mut answer.reader(), nfs.is_from_low_port).map_err(about)?;
    Ok(Mounted { nfs, mount, export, root })
}

pub fn read_root(reader: &mut Reader<'_>, is_from_low_port: bool) -> Result<Vec<u8>> {
    match Status(reader.u32()?) {
        Status::OK => {}
        // `mountstat3` uses the numbers and meanings of `nfsstat3`.
        status @ (Status::ACCESS | Status::PERM) => {
            return Err(with_reason(fault_of(status, MOUNT.1), is_from_low_port));
        }
        status => return Err(fault_of(status, MOUNT.1)),
    }
    let root = reader.opaque(MAX_HANDLE_OCTETS)?.to_vec();
    let count = reader.u32()?;
    if count > MAX_FLAVORS {
        return Err(Fault::new(Class::Protocol, format!("{count} flavors of authentication")));
    }
    let flavors = (0..count).map(|_| reader.u32()).collect::<std::result::Result<Vec<_>, _>>()?;
    // AUTH_NONE in the list means that any flavor is accepted, as in Linux.
    if flavors.is_empty()
        || flavors.iter().any(|one| matches!(*one, rpc::AUTH_SYS | rpc::AUTH_NONE))
    {
        Ok(root)
    } else {
        let message = format!(
            "found flavors of authentication {flavors:?}; known: 0 (AUTH_NONE), 1 (AUTH_SYS)"
        );
        Err(Fault::new(Class::Login, message).hint(SYS_ALONE))
    }
}

/// Add the likely reason why an export is denied.
pub fn with_reason(denied: Fault, is_from_low_port: bool) -> Fault {
    if is_from_low_port {
        return denied.hint("check the path of the export, and that it allows this host");
    }
    denied.hint(
        "the server may want a port below 1024, which needs root or CAP_NET_BIND_SERVICE: run lanlab \
         so, or allow others (`insecure`) in the export",
    )
}

/// The paths that the mount service lists.
pub async fn exported(target: &Target) -> Result<Vec<String>> {
    let mount = connect_to(target, ask_port(target, MOUNT, "mount").await?).await?;
    let answer = mount.call(MOUNT, mount::EXPORT, |_| {}, &[]).await?;
    Ok(read_exported(&mut answer.reader())?)
}

pub fn read_exported(reader: &mut Reader<'_>) -> std::result::Result<Vec<String>, Garbled> {
    let mut found = Vec::new();
    while reader.boolean()? {
        let path = reader.opaque(MAX_EXPORT_OCTETS)?;
        found.extend(String::from_utf8(path.to_vec()));
        while reader.boolean()? {
            reader.opaque(MAX_EXPORT_OCTETS)?; // Who may mount it.
        }
    }
    Ok(found)
}

pub async fn connect_to(target: &Target, port: u16) -> Result<Connection> {
    let peer = transport::peer(target, port)?;
    let stream = transport::connect_from_low_port(target, peer).await?;
    let is_from_low_port = stream.local_addr().is_ok_and(|address| address.port() < 1024);
    let (user, group) = lanlab_os::user_and_group();
    let user = rpc::auth_sys(0, "lanlab", user, group);
    let patience = Duration::from_nanos(target.timeout_ns);
    Ok(Connection::new(stream, user, patience, is_from_low_port))
}

async fn ask_port(target: &Target, program: (u32, u32), name: &str) -> Result<u16> {
    let portmapper = connect_to(target, PORTMAP_PORT).await?;
    let arguments = |writer: &mut Writer| {
        for word in [program.0, program.1, portmap::TCP, 0] {
            writer.u32(word);
        }
    };
    let answer = portmapper.call(PORTMAP, portmap::GETPORT, arguments, &[]).await?;
    match u16::try_from(answer.reader().u32()?) {
        Ok(0) => {
            let message = format!("{name} version {} over TCP is not registered there", program.1);
            Err(Fault::new(Class::Refused, message)
                .hint("for NFS 4.1 use nfs4://; else check that an NFSv3 server runs there"))
        }
        Ok(port) => Ok(port),
        Err(_) => Err(Fault::new(Class::Protocol, format!("{name} has no port"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(flavors: &[u32]) -> Vec<u8> {
        let mut words = vec![0, 4, 0x6162_6364, flavors.len() as u32];
        words.extend(flavors);
        words.into_iter().flat_map(u32::to_be_bytes).collect()
    }

    #[test]
    fn an_empty_authentication_list_allows_any() {
        let of = |flavors: &[u32]| read_root(&mut Reader::new(&mounted(flavors)), true);
        for flavors in [&[][..], &[0], &[1], &[390_003, 1], &[0, 390_003]] {
            assert_eq!(of(flavors).unwrap(), b"abcd", "{flavors:?}");
        }
        let fault = of(&[390_003]).unwrap_err();
        assert_eq!((fault.class, fault.hint.as_deref()), (Class::Login, Some(SYS_ALONE)));
    }

    #[test]
    fn errors_name_the_port_if_it_may_be_the_cause() {
        let refused = 13_u32.to_be_bytes();
        let hint = |is_from_low_port| {
            read_root(&mut Reader::new(&refused), is_from_low_port).unwrap_err().hint.unwrap()
        };
        assert!(hint(false).contains("CAP_NET_BIND_SERVICE"));
        assert_eq!(hint(true), "check the path of the export, and that it allows this host");
    }
}
