//! What every file service must do alike, on its embedded server: one suite, a line for each.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use lanlab_clients::connect;
use lanlab_files::{
    Access, Class, Credentials, Dialect, IpxSegment, ServerOptions, ServiceKind, ServiceOptions,
    ServicePath, Session, Smb1Options, Smb1ServerOptions, SystemProfile, Target, Trust,
};
use lanlab_servers::{Bounds, Offer, Serving, StationOffer, serve};
use lanlab_stack::node::CarrierKind;
use lanlab_stack::systems::by_name;
use tempfile::TempDir;

use crate::nbf::virtual_cable::VirtualCable;
use crate::stage;

#[path = "../../sessions/tests/support/behaviour.rs"]
mod behaviour;
use behaviour::behaves;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn user() -> Credentials {
    let (user, secret) = ("station".to_owned(), "a secret, with spaces & signs".to_owned());
    Credentials { user, secret, domain: None, passphrase: None }
}

/// A carrier on Ethernet, the interfaces of the client and the server, the only dialect to speak, and the system of
/// the time that both ends are.
type Wired = Option<(CarrierKind, [String; 2], Option<Dialect>, Option<SystemProfile>)>;

/// A server of the service on a directory, and how to reach it.
async fn served(service: ServiceKind, wired: &Wired, root: &Path) -> (Option<Serving>, Target) {
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
    let (mut station, mut server_options) = (None, ServerOptions::None);
    if let Some((carrier, [client, server], dialect, profile)) = wired {
        let name = "CONFORMS".to_owned();
        let place = lanlab_os::RawLinkPlace::Interface(server.clone());
        station = Some(StationOffer {
            carrier: *carrier,
            place,
            ipx: IpxSegment::default(),
            name: name.clone(),
        });
        if service == ServiceKind::Smb1 {
            let (dialect, profile) = (*dialect, *profile);
            let options = Smb1Options { dialect, profile, ..Smb1Options::default() };
            target.options = ServiceOptions::Smb1(options);
            let options = Smb1ServerOptions { profile, ..Smb1ServerOptions::default() };
            server_options = ServerOptions::Smb1(options);
        }
        target.carrier = lanlab_files::Carrier::Frames(*carrier);
        target.link = Some(lanlab_files::LinkPlace::Interface(client.clone()));
        (target.server_name, target.address) = (Some(name), None);
    }
    let credentials = target.credentials.clone();
    let options = server_options;
    let offer = Offer { credentials, station, options, ..stage::offer(service, root) };
    let serving = serve(&offer).await.unwrap();
    target.port = target.address.map(|_| serving.port());
    target.share = serving.share().map(str::to_owned);
    if let Some(hash) = serving.trust_sha256() {
        target.trust = Trust::Sha256(hash.to_owned());
    }
    (Some(serving), target)
}

fn said(serving: &Serving) -> Vec<String> {
    serving.seen(std::time::Duration::from_hours(1)).into_iter().map(|seen| seen.what).collect()
}

async fn conforms(service: ServiceKind, wired: Wired) {
    let root = TempDir::new().unwrap();
    let (serving, target) = served(service, &wired, root.path()).await;
    let session = connect(&target).await.unwrap();
    // Names of NetWare and of the core dialect are short, and in upper case.
    let is_core = target.options.smb1().dialect == Some(Dialect::Core);
    let is_short = service == ServiceKind::Ncp || is_core;
    let on_disk = |name: &ServicePath| {
        let name = if is_short { name.as_str().to_uppercase() } else { name.as_str().to_owned() };
        std::fs::read(root.path().join(name)).ok()
    };
    let has_directories = !matches!(service, ServiceKind::S3 | ServiceKind::S3s);
    behaves(&session, on_disk, has_directories, is_short).await;
    if service == ServiceKind::Ncp {
        // A burst of 64 KiB has 8 bytes before the data of a read, and 24 before the data of a write.
        let blocks = [true, false].map(|reads| session.one_way_capabilities(reads).block_bytes);
        assert_eq!(blocks, [65_528, 65_512]);
    }
    session.end().await.unwrap();

    let Some(serving) = serving else { return };
    assert!(serving.accepted() >= 1);
    let has_logins = service != ServiceKind::Nfs;
    // The core dialect has no users: a share has a password.
    let has_users = has_logins && !is_core;
    let is_in = match (has_users, has_logins) {
        (true, _) => "logged in as station",
        (false, true) => "gave the password of the share",
        (false, false) => "served without a login",
    };
    let said = said(&serving);
    // A user of NetWare is written in upper case.
    assert!(said.iter().any(|line| line.to_lowercase().contains(is_in)), "{said:?}");

    // The secret is needed, where the service has one.
    if has_logins {
        let secret = "not-this-one".to_owned();
        let wrong =
            Target { credentials: Some(Credentials { secret, ..user() }), ..target.clone() };
        let refused = async { connect(&wrong).await?.list(None).await };
        let fault = refused.await.expect_err("a wrong password was accepted");
        assert!(matches!(fault.class, Class::Login | Class::Denied), "{fault:?}");
        assert!(!fault.message.contains("not-this-one"), "{fault}");
        let said = self::said(&serving);
        assert!(said.iter().any(|line| line.contains("refused: wrong ")), "{said:?}");
        assert!(!said.iter().any(|line| line.contains("not-this-one")), "{said:?}");
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
    match wired {
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

macro_rules! services_over_frames {
    ($(
        $test:ident: $service:ident, $carrier:ident $(by $dialect:ident)? $(as $system:literal)?,
        $medium:ident losing $lost_ratio:literal $($mix:ident)?,
    )+) => {
        $(
            #[test]
            fn $test() {
                let cable = VirtualCable::$medium(stringify!($test), $lost_ratio);
                $(cable.$mix();)?
                let interfaces = [cable.interface(0), cable.interface(1)];
                let dialect = None$(.or(Some(Dialect::$dialect)))?;
                let system = None$(.or(Some($system)))?;
                let system = system.and_then(by_name).map(SystemProfile);
                let wired = Some((CarrierKind::$carrier, interfaces, dialect, system));
                cable.run(conforms(ServiceKind::$service, wired));
                let (carried, lost) = cable.counts();
                let lost_ratio = lost as f64 / (carried + lost) as f64;
                println!("{carried} carried, {lost} lost");
                // Of NCP there are fewer the sooner a thread has done what the server asks it for.
                assert!(carried > 500 && (lost_ratio - $lost_ratio).abs() < 0.02, "{carried} {lost}");
            }
        )+
    };
}

services_over_frames! {
    smb1_over_nbf: Smb1, Nbf, new losing 0.0,
    smb1_over_nbf_where_frames_are_lost_doubled_and_late: Smb1, Nbf, new losing 0.05 mix,
    smb1_over_ipx: Smb1, Ipx, new losing 0.0,
    smb1_over_ipx_where_frames_are_lost_doubled_and_late: Smb1, Ipx, new losing 0.05 mix,
    smb1_over_nbipx: Smb1, Nbipx, new losing 0.0,
    smb1_over_nbipx_where_frames_are_lost_doubled_and_late: Smb1, Nbipx, new losing 0.05 mix,
    smb1_of_three_plus: Smb1, Spp by Core as "three-plus", new losing 0.0,
    smb1_over_spp: Smb1, Spp, new losing 0.0,
    smb1_over_spp_where_frames_are_lost_doubled_and_late: Smb1, Spp, new losing 0.05 mix,
    smb1_of_the_pc_lan_program_on_broadband: Smb1, Nbf by Core as "pc-lan-program",
        broadband losing 0.0,
    smb1_of_the_pc_lan_program_where_frames_are_lost_doubled_and_late: Smb1,
        Nbf by Core as "pc-lan-program", broadband losing 0.05 mix,
    ncp_over_ipx: Ncp, Ncp, new losing 0.0,
    ncp_over_ipx_where_frames_are_lost_doubled_and_late: Ncp, Ncp, new losing 0.05 mix,
}

#[test]
fn changing_a_read_only_directory_is_refused_and_reported() {
    use ServiceKind as S;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // SMB 2 and 3 are served by a crate that does not say it.
    for service in [S::Ftp, S::Ftps, S::Webdav, S::Webdavs, S::Nfs, S::Smb1, S::Sftp, S::S3, S::S3s]
    {
        runtime.block_on(async {
            let root = TempDir::new().unwrap();
            let offer = Offer { read_only: true, ..stage::offer(service, root.path()) };
            let (serving, target) = stage::served_within(&offer, &Bounds::default()).await;
            let session = connect(&target).await.unwrap();
            let path = ServicePath::new("new").unwrap();
            let writing = async {
                let file = session.open(&path, Access::Create { size_bytes: 3 }).await?;
                session.write_at(&file, 0, b"abc").await?;
                session.close(file).await
            };
            writing.await.expect_err("it is read-only");
            let said = said(&serving);
            let is_said = said.iter().any(|line| line.contains("served read-only"));
            assert!(is_said, "{service:?}: {said:?}");
            serving.end().await;
        });
    }
}
