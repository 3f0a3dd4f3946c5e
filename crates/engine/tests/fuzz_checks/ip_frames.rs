//! IP packets of a peer.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use lanlab_stack::ip::{Config, ConnectionId, Event, Interface, Received, TcpProfile};
use lanlab_units::Instant;

use super::Feed;

const OWN: (IpAddr, [u8; 6]) = (IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1)), [2, 0, 0, 0, 0, 1]);
const PEER: (IpAddr, [u8; 6]) = (IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2)), [2, 0, 0, 0, 0, 2]);
const PORT: u16 = 5201;
const LONGEST_FRAME_BYTES: usize = 1514;
const BUFFER_BYTES: usize = 4096;
const READ_BYTES: usize = 256;
/// More than a whole send buffer in segments of one octet.
const MOST_TURNS: usize = 10_000;
/// Of a station, which half of all inputs are for.
const CONNECTIONS: usize = 2;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Any packets from a peer, with right checksums or as they are: the interface never panics, always comes
/// to rest, sends no frame longer than Ethernet's, and keeps to the memory of its connections if they are limited.
///
/// # Panics
/// If that does not hold.
pub fn ip_frames(octets: &[u8]) {
    let mut feed = Feed::new(octets);
    let tcp = TcpProfile {
        mss_bytes: None,
        receive_buffer_bytes: BUFFER_BYTES,
        send_buffer_bytes: BUFFER_BYTES,
        send_rings: TcpProfile::LONG_SEND_RINGS,
        delayed_ack_ns: Some(200_000_000),
        is_modern: false,
        nagle: true,
    };
    let mut interface = Interface::new(Config {
        mac: OWN.1,
        addresses: vec![OWN.0],
        neighbours: BTreeMap::from([OWN, PEER]),
        tcp,
        seed: 1,
    });
    let is_limited = octets.len() % 2 == 1;
    if is_limited {
        interface.limit_connections(CONNECTIONS);
    }
    let most_bytes = Interface::most_bytes(&tcp, CONNECTIONS, 2, READ_BYTES);
    let mut open = BTreeSet::new();
    let socket = interface.bind(PORT, BUFFER_BYTES, BUFFER_BYTES).expect("a free port");
    interface.listen(PORT);
    let (mut now, mut datagram) = (Instant::ZERO, Vec::new());
    while !feed.is_empty() {
        now = now.plus_nanos(u64::from(feed.u8()) * 10_000_000);
        interface.handle_timeout(now);
        let kind = feed.u8();
        let length = usize::from(feed.u8());
        let body = feed.take(length);
        let packet = match kind {
            0 => body.to_vec(),
            kind if kind % 2 == 0 => packet(UDP, 6, body),
            _ => packet(TCP, 16, body),
        };
        let ether_type = if kind == 0 && length % 2 == 0 { [0x86, 0xdd] } else { [0x08, 0x00] };
        let frame = [&OWN.1[..], &PEER.1, &ether_type, &packet].concat();
        interface.handle_frame(now, &frame);
        while interface.receive_datagram(socket, &mut datagram).is_some() {
            assert!(datagram.len() <= length);
        }
        rest(&mut interface, now, &mut open, is_limited);
        let held_bytes = interface.held_bytes();
        assert!(!is_limited || held_bytes <= most_bytes, "{held_bytes} of {most_bytes} bytes");
    }
}

/// Do all that is due, as a program does that sends back what it gets.
fn rest(
    interface: &mut Interface,
    now: Instant,
    open: &mut BTreeSet<ConnectionId>,
    is_limited: bool,
) {
    let mut frame = Vec::new();
    let mut buffer = [0; READ_BYTES];
    for _ in 0..MOST_TURNS {
        let mut is_idle = true;
        while let Some(event) = interface.poll_event() {
            is_idle = false;
            if let Event::Accepted(id, _) = event {
                open.insert(id);
            }
            let (Event::Accepted(id, _) | Event::Changed(id)) = event else { continue };
            match interface.receive(now, id, &mut buffer) {
                Received::Bytes(bytes) => {
                    interface.send(now, id, &buffer[..bytes]);
                }
                Received::End | Received::Broken if is_limited => {
                    if open.remove(&id) {
                        interface.leave(now, id);
                    }
                }
                Received::End => interface.close(now, id),
                Received::Nothing | Received::Broken => {}
            }
        }
        if interface.poll_transmit(now, &mut frame) {
            is_idle = false;
            assert!(frame.len() <= LONGEST_FRAME_BYTES, "{} bytes", frame.len());
        }
        if is_idle {
            assert!(interface.poll_timeout().is_none_or(|at| at > now), "it waits for what was");
            return;
        }
    }
    panic!("it never comes to rest");
}

/// An IPv4 packet from the peer, with checksums; that of the payload is at `checksum_at`.
fn packet(protocol: u8, checksum_at: usize, body: &[u8]) -> Vec<u8> {
    let total = (20 + body.len()) as u16;
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0];
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    packet.extend_from_slice(&[10, 77, 0, 2, 10, 77, 0, 1]);
    let header_sum = checksum(&packet);
    packet[10..12].copy_from_slice(&header_sum.to_be_bytes());
    packet.extend_from_slice(body);
    let place = 20 + checksum_at;
    if let Some(field) = packet.get_mut(place..place + 2) {
        field.copy_from_slice(&[0, 0]);
        let mut summed = packet[12..20].to_vec();
        summed.extend_from_slice(&[0, protocol]);
        summed.extend_from_slice(&(body.len() as u16).to_be_bytes());
        summed.extend_from_slice(&packet[20..]);
        let sum = checksum(&summed);
        packet[place..place + 2].copy_from_slice(&sum.to_be_bytes());
    }
    packet
}

/// The checksum of RFC 1071.
fn checksum(octets: &[u8]) -> u16 {
    let words = octets
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
