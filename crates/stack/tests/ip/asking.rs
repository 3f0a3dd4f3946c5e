//! What a station asks and answers by ARP, and what it learns of who asks: by hand, in virtual time.

use std::net::{Ipv4Addr, SocketAddr};

use lanlab_stack::ip::small::{Asked, Facts, RECEIVED_FRAME_BYTES};
use lanlab_stack::ip::{FramedStation, Interface, Mac, Reach, Station, StationConfig, TcpProfile};
use lanlab_units::Instant;
use lanlab_wire::arp::Packet;

use super::profile;

const OWN: Mac = [2, 0x77, 0, 0, 0, 1];
const OTHER: Mac = [2, 0x77, 0, 0, 0, 9];
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
const NONE: Ipv4Addr = Ipv4Addr::UNSPECIFIED;

fn ms(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

fn host(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, last)
}

fn station(peer: Option<Ipv4Addr>) -> Station {
    let (mac, address, tcp) = (OWN, ADDRESS, profile(1460));
    let config = StationConfig { mac, address, peer, tcp, connections: 2, seed: 7 };
    Station::new(config, Instant::ZERO)
}

fn sent(station: &mut Station, now: Instant) -> Vec<(Mac, Packet)> {
    let (mut frame, mut all) = (vec![], vec![]);
    while station.poll_transmit(now, &mut frame) {
        assert_eq!((&frame[6..12], &frame[12..14]), (&OWN[..], &[8, 6][..]));
        assert_eq!(frame.len(), 42);
        all.push((frame[..6].try_into().unwrap(), Packet::parse(&frame[14..]).unwrap()));
    }
    all
}

fn questions(station: &mut Station, until: Instant) -> Vec<(Instant, Packet)> {
    let (mut now, mut all) = (Instant::ZERO, vec![]);
    loop {
        for (to, packet) in sent(station, now) {
            assert_eq!(to, [0xff; 6]);
            all.push((now, packet));
        }
        match station.poll_timeout().filter(|at| *at <= until) {
            Some(at) => now = at,
            None => return all,
        }
        station.handle_timeout(now);
    }
}

fn frame(to: Mac, from: Mac, kind: [u8; 2], payload: &[u8]) -> Vec<u8> {
    [&to[..], &from, &kind, payload].concat()
}

fn hear(station: &mut Station, now: Instant, packet: Packet) {
    let mut octets = vec![];
    packet.emit(&mut octets);
    station.handle_frame(now, &frame([0xff; 6], packet.sender_mac, [8, 6], &octets));
}

const fn request(sender_mac: Mac, sender: Ipv4Addr, target: Ipv4Addr) -> Packet {
    Packet { is_request: true, sender_mac, sender, target_mac: [0; 6], target }
}

/// RFC 5227, 2.1.1: probes have the sender zero; then the peer is asked for as RFC 826 has it.
#[test]
fn arp_probes_are_sent_3_times_and_requests_12_times() {
    let mut asking = station(Some(PEER));
    let expected = |index: u64| {
        if index < 3 {
            (ms(100 * index), request(OWN, NONE, ADDRESS))
        } else {
            (ms(300 + 250 * (index - 3)), request(OWN, ADDRESS, PEER))
        }
    };
    let asked = questions(&mut asking, ms(3_299));
    assert_eq!(asked, (0..15).map(expected).collect::<Vec<_>>());
    assert_eq!((asking.reach(), asking.poll_timeout()), (Reach::Asking, Some(ms(3_300))));
    assert!(sent(&mut asking, ms(3_299)).is_empty() && sent(&mut asking, ms(3_300)).is_empty());
    assert_eq!((asking.reach(), asking.poll_timeout()), (Reach::Unanswered, None));

    let mut alone = station(None);
    assert_eq!(questions(&mut alone, ms(299)), (0..3).map(expected).collect::<Vec<_>>());
    assert_eq!(alone.reach(), Reach::Asking);
    assert!(sent(&mut alone, ms(300)).is_empty());
    assert_eq!((alone.reach(), alone.poll_timeout()), (Reach::Known, None));
}

/// RFC 5227, 2.1.1: who has the address, or probes for it at the same time, is a conflict.
#[test]
fn an_address_used_or_probed_by_another_station_is_not_used() {
    let cases = [
        (Packet { is_request: false, ..request(OTHER, ADDRESS, host(5)) }, true),
        (request(OTHER, ADDRESS, host(5)), true),
        (request(OTHER, NONE, ADDRESS), true),
        // A probe for another address, a question for this one, an answer, its own packet come back, senders
        // that no adapter has.
        (request(OTHER, NONE, host(5)), false),
        (request(OTHER, host(5), ADDRESS), false),
        (Packet { is_request: false, ..request(OTHER, NONE, ADDRESS) }, false),
        (request(OWN, NONE, ADDRESS), false),
        (request([0; 6], NONE, ADDRESS), false),
        (request([3, 0, 0, 0, 0, 1], NONE, ADDRESS), false),
    ];
    for (packet, is_taken) in cases {
        for at in [ms(0), ms(299)] {
            let mut station = station(None);
            questions(&mut station, at);
            hear(&mut station, at, packet);
            let expected = if is_taken { Reach::Taken(OTHER) } else { Reach::Asking };
            assert_eq!(station.reach(), expected, "{packet:?} at {at}");
            assert_eq!(station.poll_timeout().is_none(), is_taken);
            // While it asks for its address it says nothing of it.
            assert!(sent(&mut station, at).is_empty());
        }
        let mut station = station(None);
        questions(&mut station, ms(300));
        hear(&mut station, ms(300), packet);
        assert_eq!(station.reach(), Reach::Known, "{packet:?} later");
    }
}

#[test]
fn only_arp_replies_to_this_station_reveal_the_peer() {
    let answer = Packet { is_request: false, ..request(OTHER, PEER, ADDRESS) };
    for (packet, is_known) in [
        (Packet { target: host(5), ..answer }, false),
        (Packet { sender: host(5), ..answer }, false),
        (answer, true),
        (request(OTHER, PEER, ADDRESS), true),
    ] {
        let mut station = station(Some(PEER));
        questions(&mut station, ms(300));
        hear(&mut station, ms(310), packet);
        let expected = if is_known { Reach::Known } else { Reach::Asking };
        assert_eq!((station.reach(), station.interface.knows(PEER.into())), (expected, is_known));
        assert_eq!(station.poll_timeout().is_none(), is_known, "no more questions");
    }
}

/// RFC 826: the answer goes to who has asked. More than four are not kept; who asks asks again.
#[test]
fn arp_requests_are_answered_and_at_most_four_wait() {
    let mut station = station(None);
    questions(&mut station, ms(300));
    hear(&mut station, ms(400), request(OTHER, host(9), host(3)));
    hear(&mut station, ms(400), Packet { is_request: false, ..request(OTHER, host(9), ADDRESS) });
    assert!(sent(&mut station, ms(400)).is_empty() && !station.interface.knows(host(9).into()));
    let asker = |last: u8| [2, 0x77, 0, 1, 0, last];
    for last in 11..17 {
        hear(&mut station, ms(400), request(asker(last), host(last), ADDRESS));
    }
    let answers = sent(&mut station, ms(400));
    let expected = (11..15).map(|last| {
        let (target_mac, target) = (asker(last), host(last));
        let (sender_mac, sender) = (OWN, ADDRESS);
        (target_mac, Packet { is_request: false, sender_mac, sender, target_mac, target })
    });
    assert_eq!(answers, expected.collect::<Vec<_>>());
    // One place of eight is the peer's: who asked longest ago is forgotten.
    for last in 11..17 {
        assert!(station.interface.knows(host(last).into()), "{last}");
    }
    hear(&mut station, ms(500), request(asker(17), host(17), ADDRESS));
    assert!(station.interface.knows(host(11).into()));
    hear(&mut station, ms(500), request(asker(12), host(12), ADDRESS));
    hear(&mut station, ms(500), request(asker(18), host(18), ADDRESS));
    let known = (11..20).filter(|last| station.interface.knows(host(*last).into()));
    assert_eq!(known.collect::<Vec<_>>(), (12..19).collect::<Vec<_>>());
    for none in [NONE, ADDRESS] {
        hear(&mut station, ms(500), request(asker(20), none, ADDRESS));
        assert!(!station.interface.knows(none.into()));
    }
}

/// Who kept the address from before asks no more, and sends.
#[test]
fn unsolicited_senders_are_learned_without_a_peer() {
    // A segment for no connection; only its addresses matter here.
    let mut packet = vec![0_u8; 40];
    packet[12..16].copy_from_slice(&host(6).octets());
    packet[16..20].copy_from_slice(&ADDRESS.octets());
    let group = [3, 0, 0, 0, 0, 1];
    for (peer, to, from, is_known) in [
        (None, OWN, OTHER, true),
        (Some(PEER), OWN, OTHER, false),
        (None, OTHER, OTHER, false),
        (None, OWN, group, false),
    ] {
        let mut station = station(peer);
        questions(&mut station, ms(300));
        let octets = frame(to, from, [8, 0], &packet);
        station.handle_frame(ms(400), &octets[..29]);
        assert!(!station.interface.knows(host(6).into()));
        station.handle_frame(ms(400), &octets);
        assert_eq!(station.interface.knows(host(6).into()), is_known, "{peer:?} {from:x?}");
    }
}

#[test]
fn station_memory_is_interface_queries_answers_and_two_frames() {
    let mut station = station(None);
    questions(&mut station, ms(300));
    let list_entry = size_of::<Vec<u8>>();
    let own = size_of::<Station>() - size_of::<Interface>() + 2 * 1_518;
    let lists = 8 * size_of::<Ipv4Addr>() + 4 * list_entry;
    let held = |station: &Station| station.held_bytes() - station.interface.held_bytes();
    assert_eq!(held(&station), own + lists);
    for last in 11..13 {
        hear(&mut station, ms(400), request([2, 0, 0, 0, 0, last], host(last), ADDRESS));
    }
    assert_eq!(held(&station), own + lists + 2 * 42);
    let tcp = profile(1460);
    let most = Station::most_bytes(&tcp, 2, 64) - Interface::most_bytes(&tcp, 2, 8, 64);
    assert_eq!(most, own + lists + 4 * 1_518);
}

#[test]
fn link_frames_are_counted_and_wait_for_room() {
    let tcp = TcpProfile::small(&Asked::default()).unwrap();
    let mut framed = FramedStation::new(station(None), Facts::new(tcp, 1_000_000));
    let at = ms(0);
    let mut offered = vec![];
    for has_room in [false, false, true] {
        framed
            .send(at, |octets| {
                Ok::<_, ()>({
                    offered.push(octets.to_vec());
                    has_room
                })
            })
            .unwrap();
        assert_eq!(framed.is_blocked(), !has_room);
        assert_eq!(framed.facts.sent_frames, u64::from(has_room));
    }
    assert_eq!(offered.len(), 3);
    assert!(offered.iter().all(|octets| *octets == offered[0]), "the first question");
    framed.send(at, |_| -> Result<bool, ()> { panic!("nothing is due") }).unwrap();
    assert_eq!(framed.send(ms(100), |_| Err("the link is gone")), Err("the link is gone"));
    assert_eq!(framed.facts.sent_frames, 1);

    // A probe of another station is a conflict; what is longer than any frame is counted and dropped.
    let mut octets = vec![];
    request(OTHER, NONE, ADDRESS).emit(&mut octets);
    let octets = frame([0xff; 6], OTHER, [8, 6], &octets);
    let mut take = |length: Option<usize>| {
        framed.take(at, |into| {
            assert_eq!(into.len(), RECEIVED_FRAME_BYTES);
            into[..octets.len()].copy_from_slice(&octets);
            Ok::<_, ()>(length)
        })
    };
    assert_eq!([take(None), take(Some(RECEIVED_FRAME_BYTES + 1))], [Ok(false), Ok(true)]);
    assert_eq!((framed.facts.received_frames, framed.station.reach()), (1, Reach::Asking));
    let mut take = |length: Option<usize>| {
        framed.take(at, |into| {
            into[..octets.len()].copy_from_slice(&octets);
            Ok::<_, ()>(length)
        })
    };
    assert_eq!(take(Some(octets.len())), Ok(true));
    assert_eq!((framed.facts.received_frames, framed.station.reach()), (2, Reach::Taken(OTHER)));
    assert_eq!(framed.take(at, |_| Err("gone")), Err("gone"));
    assert_eq!(framed.facts.received_frames, 2);

    let held = framed.station.held_bytes() + 500;
    assert_eq!(framed.check_memory(500), Ok(()));
    assert_eq!(framed.facts.held_bytes, held as u64);
    framed.facts.memory_bytes = held as u64;
    assert!(framed.check_memory(501).is_err());
}

#[test]
fn station_timers_drive_its_connections() {
    let mut station = station(Some(PEER));
    questions(&mut station, ms(300));
    hear(&mut station, ms(310), Packet { is_request: false, ..request(OTHER, PEER, ADDRESS) });
    station.interface.connect(ms(310), 1024, SocketAddr::new(PEER.into(), 9)).unwrap();
    let mut frame = vec![];
    assert!(station.poll_transmit(ms(310), &mut frame));
    let first = frame.clone();
    // RFC 6298: a second later it is sent again.
    let at = station.poll_timeout().unwrap();
    assert!((ms(1_310)..ms(1_312)).contains(&at), "{at}");
    assert!(!station.poll_transmit(at, &mut frame));
    station.handle_timeout(at);
    assert!(station.poll_transmit(at, &mut frame));
    assert_eq!(frame, first);
}
