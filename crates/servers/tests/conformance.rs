//! What every file service must do alike, on its embedded server: one suite, a line for each.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use lanlab_clients::connect;
use lanlab_files::{
    Access, Class, Credentials, Entry, ServiceKind, ServicePath, Session, Target, Trust,
};
use lanlab_servers::{Offer, Serving, StationOffer, serve};
use lanlab_stack::node::CarrierKind;
use tempfile::TempDir;

#[cfg(all(target_os = "linux", not(lanlab_portable)))]
use crate::nbf::virtual_cable::VirtualCable;
use crate::stage;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn path(text: &str) -> ServicePath {
    ServicePath::new(text).unwrap()
}

/// Octets that differ from place to place.
fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect()
}

fn user() -> Credentials {
    let (user, secret) = ("station".to_owned(), "a secret, with spaces & signs".to_owned());
    Credentials { user, secret, domain: None }
}

/// Interfaces of the client and the server, of a carrier on Ethernet.
type Interfaces = Option<[String; 2]>;

/// A server of the service on a directory, and how to reach it.
async fn served(
    service: ServiceKind,
    interfaces: &Interfaces,
    root: &Path,
) -> (Option<Serving>, Target) {
    let mut target = Target {
        address: Some(LOOPBACK.into()),
        credentials: Some(user()),
        timeout_ns: 10_000_000_000,
        ..Target::new(service)
    };
    if service == ServiceKind::Directory {
        target.directory = root.to_str().unwrap().to_owned();
        return (None, target);
    }
    let mut station = None;
    if let Some([client, server]) = interfaces {
        let name = "CONFORMS".to_owned();
        let place = lanlab_os::RawLinkPlace::Interface(server.clone());
        station = Some(StationOffer { carrier: CarrierKind::Nbf, place, name: name.clone() });
        target.carrier = lanlab_files::Carrier::NBF;
        target.link = Some(lanlab_files::LinkPlace::Interface(client.clone()));
        (target.server_name, target.address) = (Some(name), None);
    }
    let credentials = target.credentials.clone();
    let offer = Offer { credentials, station, ..stage::offer(service, root) };
    let serving = serve(&offer).await.unwrap();
    target.port = target.address.map(|_| serving.port());
    target.share = serving.share().map(str::to_owned);
    if let Some(hash) = serving.trust_sha256() {
        target.trust = Trust::Sha256(hash.to_owned());
    }
    (Some(serving), target)
}

async fn write_whole(session: &impl Session, name: &ServicePath, data: &[u8], block: usize) {
    let size_bytes = data.len() as u64;
    let file = session.open(name, Access::Create { size_bytes }).await.unwrap();
    for (number, part) in data.chunks(block).enumerate() {
        session.write_at(&file, (number * block) as u64, part).await.unwrap();
    }
    session.close(file).await.unwrap();
}

async fn read_whole(session: &impl Session, name: &ServicePath, block: usize) -> Vec<u8> {
    let file = session.open(name, Access::Read).await.unwrap();
    let (mut data, mut buffer) = (Vec::new(), vec![0; block]);
    loop {
        match session.read_at(&file, data.len() as u64, &mut buffer).await.unwrap() {
            0 => break,
            count => data.extend_from_slice(&buffer[..count]),
        }
    }
    session.close(file).await.unwrap();
    data
}

/// What is there is replaced only where that is asked for, by what is shorter, too.
async fn replaces_where_asked(session: &impl Session, name: &ServicePath, block: usize) {
    let (before, data) = (read_whole(session, name, block).await, content(1000, 99));
    for (access, is_allowed) in
        [(Access::Create { size_bytes: 1000 }, false), (Access::Replace { size_bytes: 1000 }, true)]
    {
        let replaced = async {
            let file = session.open(name, access).await?;
            session.write_at(&file, 0, &data).await?;
            session.close(file).await
        };
        match replaced.await {
            Ok(()) => assert!(is_allowed, "{access:?} overwrote a file"),
            Err(fault) => assert!(!is_allowed, "{access:?}: {fault}"),
        }
        let there = read_whole(session, name, block).await;
        assert!(there == if is_allowed { data.clone() } else { before.clone() }, "{access:?}");
    }
}

async fn conforms(service: ServiceKind, interfaces: Interfaces) {
    let root = TempDir::new().unwrap();
    let (serving, target) = served(service, &interfaces, root.path()).await;
    let session = connect(&target).await.unwrap();
    let manner = session.capabilities();
    assert!(manner.block_bytes >= 4096 && manner.depth >= 1);
    assert!(!manner.in_order || manner.depth == 1, "a stream has one call at a time");
    assert!(!session.facts().protocol.is_empty());

    // Files of every awkward size, in blocks that do not fit them.
    let folder = path("lanlab folder");
    session.make_directory(&folder).await.unwrap();
    let block = manner.block_bytes as usize;
    for (number, length) in [0, 1, 4095, 65_536, block, 3 * block + 17].into_iter().enumerate() {
        let name = folder.join(&format!("file {number}.bin")).unwrap();
        let data = content(length, number as u64 + 1);
        write_whole(&session, &name, &data, block).await;
        assert_eq!(std::fs::read(root.path().join(name.as_str())).unwrap(), data);
        assert!(read_whole(&session, &name, block).await == data, "{length} octets read back");
        assert!(read_whole(&session, &name, 10_007).await == data, "{length} octets in others");
    }

    // What is listed is what is there.
    let mut listed = session.list(Some(&folder)).await.unwrap();
    listed.sort();
    assert_eq!(listed.len(), 6);
    let first = Entry { name: "file 0.bin".to_owned(), size_bytes: 0, is_directory: false };
    assert_eq!(listed[0], first);
    assert_eq!(listed[5].size_bytes, (3 * block + 17) as u64);
    let top = session.list(None).await.unwrap();
    assert!(top.iter().any(|entry| entry.name == "lanlab folder" && entry.is_directory));

    replaces_where_asked(&session, &folder.join("file 4.bin").unwrap(), block).await;

    // Anywhere in a file, several calls at once.
    if manner.can_update {
        let name = folder.join("file 5.bin").unwrap();
        let mut data = content(3 * block + 17, 6);
        let file = session.open(&name, Access::Update).await.unwrap();
        let (new, mut one, mut two) = (content(1000, 77), vec![0; 700], vec![0; 700]);
        session.write_at(&file, block as u64 - 500, &new).await.unwrap();
        data[block - 500..block + 500].copy_from_slice(&new);
        let (a, b) = tokio::join!(
            session.read_at(&file, 5, &mut one),
            session.read_at(&file, 2 * block as u64, &mut two)
        );
        assert_eq!((a.unwrap(), b.unwrap()), (700, 700));
        assert!(one == data[5..705] && two == data[2 * block..2 * block + 700]);
        match session.sync(&file).await {
            Ok(()) => {}
            Err(fault) => assert_eq!(fault.class, Class::Unsupported, "{fault}"),
        }
        session.close(file).await.unwrap();
        assert!(std::fs::read(root.path().join(name.as_str())).unwrap() == data);
    }

    // What cannot be is told apart.
    let missing = session.open(&path("not there"), Access::Read).await;
    assert_eq!(missing.err().unwrap().class, Class::Missing);
    let nowhere = Access::Create { size_bytes: 1 };
    if !matches!(service, ServiceKind::S3 | ServiceKind::S3s) {
        let within = async {
            let file = session.open(&path("no folder/x"), nowhere).await?;
            session.write_at(&file, 0, b"x").await?;
            session.close(file).await
        };
        let fault = within.await.err().unwrap();
        assert!(
            matches!(fault.class, Class::Missing | Class::Denied | Class::Protocol),
            "{fault:?}"
        );
        // After a refusal the session goes on.
        assert!(session.list(None).await.is_ok());
    }

    // All that was made can be taken away.
    for number in 0..6 {
        session.remove(&folder.join(&format!("file {number}.bin")).unwrap()).await.unwrap();
    }
    session.remove_directory(&folder).await.unwrap();
    assert!(session.list(None).await.unwrap().iter().all(|entry| entry.name != "lanlab folder"));
    session.end().await.unwrap();

    let Some(serving) = serving else { return };
    assert!(serving.accepted() >= 1);

    // The secret is needed, where the service has one.
    if service != ServiceKind::Nfs {
        let secret = "not-this-one".to_owned();
        let wrong =
            Target { credentials: Some(Credentials { secret, ..user() }), ..target.clone() };
        let refused = async { connect(&wrong).await?.list(None).await };
        let fault = refused.await.expect_err("a wrong password was accepted");
        assert!(matches!(fault.class, Class::Login | Class::Denied), "{fault:?}");
        assert!(!fault.message.contains("not-this-one"), "{fault}");
    }
    // Another server than the one that is trusted gets no password.
    if serving.trust_sha256().is_some() {
        let other = Target { trust: Trust::Sha256("0".repeat(64)), ..target.clone() };
        let fault = connect(&other).await.expect_err("any certificate was accepted");
        assert_eq!(fault.class, Class::Certificate, "{fault}");
    }
    // A server that has ended is refused by the system; on Ethernet no station has its name.
    serving.end().await;
    let gone = connect(&target).await.expect_err("nobody listens");
    match interfaces {
        None => assert!(matches!(gone.class, Class::Refused | Class::Reset), "{gone:?}"),
        Some(_) => assert_eq!(gone.class, Class::Unreachable, "{gone:?}"),
    }
}

macro_rules! services {
    ($($test:ident: $service:ident,)+) => {
        $(
            #[test]
            fn $test() {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(conforms(ServiceKind::$service, None));
            }
        )+
    };
}

services! {
    directory: Directory,
    ftp: Ftp,
    ftps: Ftps,
    webdav: Webdav,
    webdavs: Webdavs,
    nfs: Nfs,
    smb: Smb,
    smb1: Smb1,
    sftp: Sftp,
    s3: S3,
    s3s: S3s,
}

#[cfg(all(target_os = "linux", not(lanlab_portable)))]
macro_rules! services_over_nbf {
    ($($test:ident: $service:ident, losing $lost_ratio:literal,)+) => {
        $(
            #[test]
            fn $test() {
                let cable = VirtualCable::new(stringify!($test), $lost_ratio);
                let interfaces = Some([cable.interface(0), cable.interface(1)]);
                cable.run(conforms(ServiceKind::$service, interfaces));
                let (carried, lost) = cable.counts();
                let lost_ratio = lost as f64 / (carried + lost) as f64;
                assert!(carried > 1000 && (lost_ratio - $lost_ratio).abs() < 0.02, "{lost_ratio}");
            }
        )+
    };
}

#[cfg(all(target_os = "linux", not(lanlab_portable)))]
services_over_nbf! {
    smb1_over_nbf: Smb1, losing 0.0,
    smb1_over_nbf_where_one_frame_in_twenty_is_lost: Smb1, losing 0.05,
}
