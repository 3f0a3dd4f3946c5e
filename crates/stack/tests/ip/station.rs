//! Stations, which find each other by ARP or by what comes from the other.

use std::net::{Ipv4Addr, SocketAddr};

use lanlab_stack::ip::{Event, Mac, Reach, Station, StationConfig};
use lanlab_units::Instant;

use super::{PORT, profile};

const MACS: [Mac; 2] = [[2, 0x77, 0, 0, 0, 1], [2, 0x77, 0, 0, 0, 2]];
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

fn client(now: Instant) -> Station {
    station(0, CLIENT, Some(SERVER), now)
}

fn server(now: Instant) -> Station {
    let mut server = station(1, SERVER, None, now);
    server.interface.listen(PORT);
    server
}

fn station(index: usize, address: Ipv4Addr, peer: Option<Ipv4Addr>, now: Instant) -> Station {
    let (mac, tcp) = (MACS[index], profile(1460));
    Station::new(StationConfig { mac, address, peer, tcp, connections: 2, seed: 7 }, now)
}

/// Bring frames from one to the other, without time on the way, until `end` or as long as `goes_on`.
fn run(
    stations: &mut [Station; 2],
    from: Instant,
    end: Instant,
    goes_on: impl Fn(&[Station; 2]) -> bool,
) -> Instant {
    let (mut now, mut frame) = (from, Vec::new());
    while now <= end && goes_on(stations) {
        let mut is_idle = true;
        for host in 0..2 {
            while stations[host].poll_transmit(now, &mut frame) {
                stations[1 - host].handle_frame(now, &frame);
                is_idle = false;
            }
        }
        if !is_idle {
            continue;
        }
        let Some(next) = stations.iter().filter_map(Station::poll_timeout).min() else { break };
        now = now.max(next);
        for station in stations.iter_mut() {
            station.handle_timeout(now);
        }
    }
    now
}

fn until(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

fn opens(stations: &mut [Station; 2], now: Instant) -> bool {
    let to = SocketAddr::new(SERVER.into(), PORT);
    let opened = stations[0].interface.connect(now, 1024, to).unwrap();
    run(stations, now, now.plus_nanos(1_000_000_000), |_| true);
    let mut accepted = 0;
    while let Some(event) = stations[1].interface.poll_event() {
        accepted += usize::from(matches!(event, Event::Accepted(_, PORT)));
    }
    stations[0].interface.is_open(opened) && accepted == 1
}

#[test]
fn a_station_without_a_peer_accepts_whoever_resolves_its_address() {
    let mut stations = [client(Instant::ZERO), server(Instant::ZERO)];
    let is_asking =
        |stations: &[Station; 2]| stations.iter().any(|station| station.reach() == Reach::Asking);
    let now = run(&mut stations, Instant::ZERO, until(5), is_asking);
    assert_eq!(stations.each_ref().map(Station::reach), [Reach::Known, Reach::Known]);
    assert!(opens(&mut stations, now));
    for station in &stations {
        assert!(station.held_bytes() <= Station::most_bytes(&profile(1460), 2, 64));
    }
}

#[test]
fn a_restarted_station_answers_known_peers() {
    let mut stations = [client(Instant::ZERO), server(Instant::ZERO)];
    let is_asking =
        |stations: &[Station; 2]| stations.iter().any(|station| station.reach() == Reach::Asking);
    let now = run(&mut stations, Instant::ZERO, until(5), is_asking);
    stations[1] = server(now);
    let now = run(&mut stations, now, now.plus_nanos(5_000_000_000), is_asking);
    assert!(opens(&mut stations, now));
}

/// By ping of iputils 20221126 on Linux 6.18, 2026-11-30, with 8 bytes of data; the second by the kernel.
const ECHO: &str = "02770000000202770000000108004500002\
    4f46140004001 31db 0a4d0001 0a4d0002 080087dc641200010001020304050607";

#[test]
fn a_station_answers_ping_as_the_kernel_does() {
    let mut stations = [client(Instant::ZERO), server(Instant::ZERO)];
    let mut request = hex::decode(ECHO.replace(' ', "")).unwrap();
    let mut reply = Vec::new();
    stations[1].handle_frame(Instant::ZERO, &request);
    while stations[1].poll_transmit(Instant::ZERO, &mut reply) {
        assert_eq!(reply[12..14], [8, 6], "the address is not its own yet");
    }
    let is_asking = |stations: &[Station; 2]| stations[1].reach() == Reach::Asking;
    let now = run(&mut stations, Instant::ZERO, until(5), is_asking);
    for _ in 0..9 {
        stations[1].handle_frame(now, &request);
    }
    let mut replies = Vec::new();
    while stations[1].poll_transmit(now, &mut reply) {
        replies.push(reply.clone());
    }
    assert_eq!(replies.len(), 4, "the queue is bounded");
    // The kernel's reply has the same ICMP octets; its IP header has an identification of its own.
    assert_eq!(hex::encode(&replies[0][34..]), "00008fdc641200010001020304050607");
    assert_eq!(replies[0][..14], [&MACS[0][..], &MACS[1], &[8, 0]].concat());
    assert_eq!(replies[0][26..34], [10, 77, 0, 2, 10, 77, 0, 1]);
    // Neither a reply, nor a damaged request, nor one from a group is answered.
    request[35] ^= 1;
    for frame in [replies[0].clone(), request] {
        stations[1].handle_frame(now, &frame);
        stations[0].handle_frame(now, &frame);
    }
    assert!(!stations.iter_mut().any(|station| station.poll_transmit(now, &mut reply)));
}
