//! Any octets as frames of a segment, for the fuzz target and for the test that feeds it all seeds: the parsers of
//! ARP, IPX, SAP, UDP and the computer browser, and the observer of `lanlab listen`, whose lists stay bounded and
//! whose sums are right.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::{arp, browser, ipx, sap, udp_datagram};
use lanlab_workloads::listen::Observer;

const OWN: Mac = Mac([2, 0, 0, 0, 0, 99]);
/// Most entries of a list, as docs/virtual-lan.md says.
const MOST: usize = 1000;

/// Frames, each after two octets: its length, and how long after the one before it comes, in units of 16 ms.
pub fn heard_frames(octets: &[u8]) {
    let mut observer = Observer::new(OWN, Instant::ZERO);
    let (mut now, mut rest, mut frames, mut bytes) = (Instant::ZERO, octets, 0, 0);
    while let [length, wait, after @ ..] = rest {
        let (frame, next) = after.split_at(after.len().min(usize::from(*length)));
        rest = next;
        now = now.plus_nanos(u64::from(*wait) * 16_000_000);
        observer.see(now, frame);
        frames += 1;
        bytes += frame.len() as u64;
        parts(frame);
        parts(frame.get(14..).unwrap_or_default());
    }
    parts(octets);
    let heard = observer.heard(now);
    assert_eq!((heard.frames, heard.bytes), (frames, bytes));
    let listed: u64 = heard.protocols.iter().map(|protocol| protocol.frames).sum();
    assert_eq!(listed + heard.other_protocol_frames + heard.unreadable_frames, frames);
    let listed: u64 = heard.stations.iter().map(|station| station.frames).sum();
    assert_eq!(listed + heard.other_station_frames + heard.unreadable_frames, frames);
    for length in [
        heard.protocols.len(),
        heard.stations.len(),
        heard.names.len(),
        heard.servers.len(),
        heard.unanswered.len(),
    ] {
        assert!(length <= MOST, "a list of {length}");
    }
    assert!(heard.stations.iter().all(|station| station.addresses.len() <= 8));
    assert!(heard.stations.iter().all(|station| station.first_ns <= station.last_ns));
}

fn parts(packet: &[u8]) {
    let mut again = Vec::new();
    if let Ok(parsed) = arp::Packet::parse(packet) {
        parsed.emit(&mut again);
        assert_eq!(again, packet[..again.len()]);
    }
    if let Ok((header, data)) = ipx::Header::parse(packet) {
        again.clear();
        header.emit(data, &mut again).unwrap();
        assert_eq!(again, packet[..again.len()]);
        servers(data);
    }
    servers(packet);
    if let Ok(udp_datagram::Packet { datagram: Some(datagram), .. }) =
        udp_datagram::Packet::parse(packet)
    {
        let _ = browser::Announcement::parse(datagram.data);
    }
    let _ = browser::Announcement::parse(packet);
}

fn servers(data: &[u8]) {
    if let Ok(sap::Packet::Response { servers, .. }) = sap::Packet::parse(data) {
        for server in servers.iter() {
            assert!(server.name.len() <= 48 && server.name.is_ascii());
        }
    }
}
