//! SMB 1 over `NetBEUI`, between two interfaces of this machine.

mod cable;
mod clockless;
mod goodput;
mod hostile;
#[path = "../../../stack/tests/support/memory_files.rs"]
mod memory_files;
mod offline;
mod scripted;
pub mod virtual_cable;

use lanlab_clients::connect;
use lanlab_files::ServiceKind::Smb1;
use lanlab_files::{
    Carrier, Class, Dialect, IpxSegment, LinkPlace, ServiceOptions, Session, Smb1Options, Target,
};
use lanlab_servers::{Offer, Serving, StationOffer, serve};
use lanlab_stack::node::CarrierKind;
use tempfile::TempDir;

use crate::multiplexed::{
    content, get, lists_many, moves_a_large_file, offer, path, put, run, target,
};
use cable::{Cable, place, runs_outside};
use virtual_cable::VirtualCable;

const NAME: &str = "CNCFILES";

fn over_nbf(target: Target, interface: &str) -> Target {
    Target {
        carrier: Carrier::NBF,
        link: Some(LinkPlace::Interface(interface.to_owned())),
        server_name: Some(NAME.to_owned()),
        address: None,
        port: None,
        share: Some("lanlab".to_owned()),
        ..target
    }
}

async fn served() -> (TempDir, Serving, Target) {
    let root = TempDir::new().unwrap();
    let station = Some(StationOffer {
        carrier: CarrierKind::Nbf,
        place: place("right"),
        ipx: IpxSegment::default(),
        name: NAME.to_owned(),
    });
    let serving = serve(&Offer { station, ..offer(Smb1, root.path()) }).await.unwrap();
    (root, serving, over_nbf(target(Smb1, 0), "left"))
}

/// What all services do alike is in [conformance](crate::conformance), in virtual time.
#[test]
fn long_files_and_listings_cross_real_interfaces() {
    if runs_outside("nbf::long_files_and_listings_cross_real_interfaces") {
        return;
    }
    let _cable = Cable::new();
    run(async {
        let (root, serving, target) = served().await;
        let session = connect(&target).await.unwrap();
        assert_eq!(session.facts().protocol, "SMB 1, NT LM 0.12, NTLMSSP login");
        assert_eq!(session.facts().no_delay, None);
        session.end().await.unwrap();
        moves_a_large_file(&target, root.path()).await;
        lists_many(&target, root.path()).await;
        serving.end().await;
    });
}

#[test]
fn every_dialect_keeps_files_intact_at_5_percent_frame_loss() {
    let cable = VirtualCable::new("dialects", 0.05);
    cable.run(async {
        let root = TempDir::new().unwrap();
        let station = StationOffer {
            carrier: CarrierKind::Nbf,
            place: place(&cable.interface(1)),
            ipx: IpxSegment::default(),
            name: NAME.to_owned(),
        };
        let offer = Offer { station: Some(station), ..offer(Smb1, root.path()) };
        let serving = serve(&offer).await.unwrap();
        let target = over_nbf(target(Smb1, 0), &cable.interface(0));
        for dialect in [Dialect::Core, Dialect::Lanman1, Dialect::Lm12x002, Dialect::Nt1] {
            let options = Smb1Options { dialect: Some(dialect), ..Smb1Options::default() };
            let target = Target { options: ServiceOptions::Smb1(options), ..target.clone() };
            let session = connect(&target).await.unwrap();
            let data = content(200_001, 5);
            put(&session, &path("file.dat"), &data).await;
            assert!(get(&session, &path("file.dat")).await == data, "{dialect:?}");
            session.remove(&path("file.dat")).await.unwrap();
            session.end().await.unwrap();
        }
        serving.end().await;
    });
    let (carried, lost) = cable.counts();
    assert!(lost * 40 > carried, "{lost} of {carried} lost");
}

#[test]
fn a_name_that_no_station_has_is_reported() {
    if runs_outside("nbf::a_name_that_no_station_has_is_reported") {
        return;
    }
    let _cable = Cable::new();
    run(async {
        let absent = over_nbf(target(Smb1, 0), "left");
        let fault = connect(&absent).await.unwrap_err();
        assert_eq!(fault.class, Class::Unreachable, "{fault}");
        assert!(fault.message.contains("no station answers"), "{fault}");
        let nowhere = over_nbf(target(Smb1, 0), "none");
        let fault = connect(&nowhere).await.unwrap_err();
        assert!(fault.message.contains("no such interface"), "{fault}");
        let fault = connect(&Target { link: None, ..nowhere }).await.unwrap_err();
        assert!(fault.message.contains("found no interface"), "{fault}");
    });
}
