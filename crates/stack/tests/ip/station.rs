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
