//! Segments and datagrams made and read by hand: what is answered by a reset, what is taken, and what is counted.

use std::net::{IpAddr, SocketAddr};

use lanlab_stack::ip::{Event, Interface, Received, Refusal};
use lanlab_units::Instant;

use super::pair::{ADDRESSES, MACS, RECEIVER, SENDER, hosts};
use super::{PORT, pattern, profile};

const NOW: Instant = Instant::ZERO;
pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const RST: u8 = 4;
pub(super) const ACK: u8 = 16;

/// The sum of RFC 1071 over octets, two at a time.
fn sum(octets: &[u8]) -> u32 {
    octets.chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(*two.get(1).unwrap_or(&0))).sum()
}

fn checksum(mut sum: u32) -> [u8; 2] {
    while sum >> 16 > 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// A packet of this protocol in a frame to the receiver; `at` is the place of its own checksum.
fn frame(family: usize, protocol: u8, mut payload: Vec<u8>, at: usize) -> Vec<u8> {
    let [from, to] = [SENDER, RECEIVER].map(|host| octets(ADDRESSES[host][family]));
    let length = payload.len() as u16;
    let pseudo = sum(&from) + sum(&to) + u32::from(protocol) + u32::from(length);
    let own = checksum(pseudo + sum(&payload));
    payload[at..at + 2].copy_from_slice(&own);
    let mut frame = [MACS[RECEIVER], MACS[SENDER]].concat();
    if family == 0 {
        let mut header = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0];
        header[2..4].copy_from_slice(&(20 + length).to_be_bytes());
        header.extend([from, to].concat());
        let own = checksum(sum(&header));
        header[10..12].copy_from_slice(&own);
        frame.extend([8, 0]);
        frame.extend(header);
    } else {
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
        frame.extend(length.to_be_bytes());
        frame.extend([protocol, 64]);
        frame.extend([from, to].concat());
    }
    frame.extend(payload);
    frame
}

/// A segment from port 1024 to a port of the receiver.
pub(super) fn segment(
    family: usize,
    port: u16,
    flags: u8,
    numbers: [u32; 2],
    data: &[u8],
) -> Vec<u8> {
    segment_with(family, port, flags, numbers, &[], data)
}

/// An acknowledgement over IPv4 with this window.
pub(super) fn acknowledgement(port: u16, [seq, ack]: [u32; 2], window: u16) -> Vec<u8> {
    let mut tcp = [&1024_u16.to_be_bytes()[..], &port.to_be_bytes()].concat();
    tcp.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
    tcp.extend([&[0x50, ACK][..], &window.to_be_bytes(), &[0; 4]].concat());
    frame(0, 6, tcp, 16)
}

/// The same with whole words of options.
pub(super) fn segment_with(
    family: usize,
    port: u16,
    flags: u8,
    [seq, ack]: [u32; 2],
    options: &[u8],
    data: &[u8],
) -> Vec<u8> {
    let mut tcp = [&1024_u16.to_be_bytes()[..], &port.to_be_bytes()].concat();
    tcp.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
    tcp.extend([0x50 + 4 * options.len() as u8, flags, 0x20, 0, 0, 0, 0, 0]);
    tcp.extend(options);
    tcp.extend(data);
    frame(family, 6, tcp, 16)
}

fn datagram(family: usize, port: u16, data: &[u8]) -> Vec<u8> {
    let length = 8 + data.len() as u16;
    let ports = [1024_u16.to_be_bytes(), port.to_be_bytes()].concat();
    let udp = [&ports[..], &length.to_be_bytes(), &[0, 0], data].concat();
    frame(family, 17, udp, 6)
}

fn receiver() -> Interface {
    let [_, mut receiver] = hosts(&profile(8192), 7);
    receiver.listen(PORT);
    receiver.bind(PORT, 65_536, 65_536).unwrap();
    receiver
}

fn answers(host: &mut Interface, frame: &[u8]) -> Vec<Vec<u8>> {
    host.handle_frame(NOW, frame);
    let (mut answer, mut all) = (vec![], vec![]);
    while host.poll_transmit(NOW, &mut answer) {
        assert_eq!(answer[..12], [MACS[SENDER], MACS[RECEIVER]].concat());
        all.push(answer[14..].to_vec());
    }
    all
}

/// Ports, numbers and flags of a segment without options or data, whose checksums are right.
pub(super) fn read(packet: &[u8]) -> (u16, u16, [u32; 2], u8) {
    let family = usize::from(packet[0] >> 4 == 6);
    let header = [20, 40][family];
    let addresses = if family == 0 { &packet[12..20] } else { &packet[8..40] };
    let tcp = &packet[header..];
    assert_eq!(checksum(sum(addresses) + 6 + tcp.len() as u32 + sum(tcp)), [0, 0]);
    if family == 0 {
        assert_eq!(checksum(sum(&packet[..20])), [0, 0]);
        assert_eq!(packet[2..4], (20 + tcp.len() as u16).to_be_bytes());
    } else {
        assert_eq!(packet[4..6], (tcp.len() as u16).to_be_bytes());
    }
    let number = |at| u32::from_be_bytes(tcp[at..at + 4].try_into().unwrap());
    let port = |at| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    (port(0), port(2), [number(4), number(8)], tcp[13])
}

/// RFC 9293, 3.10.7.1: with the number that the segment acknowledges; without one, zero, and all of it is acknowledged.
#[test]
fn segments_without_a_connection_get_the_standard_reset() {
    for family in [0, 1] {
        let cases = [
            (SYN, [500, 0], &b""[..], RST | ACK, [0, 501]),
            (FIN, [500, 0], b"four", RST | ACK, [0, 505]),
            (0, [500, 9], b"four", RST | ACK, [0, 504]),
            (ACK, [500, 700], b"four", RST, [700, 0]),
            (SYN | ACK, [500, 700], b"", RST, [700, 0]),
        ];
        for (flags, numbers, data, answer, expected) in cases {
            let mut host = receiver();
            let said = answers(&mut host, &segment(family, PORT + 1, flags, numbers, data));
            assert_eq!(said.len(), 1, "{flags:x}");
            assert_eq!(read(&said[0]), (PORT + 1, 1024, expected, answer), "{flags:x}");
            assert_eq!(host.unclaimed_frames(), 1);
        }
        // No reset answers a reset, or a segment with a wrong checksum; SYN with ACK opens nothing.
        for flags in [RST, RST | ACK] {
            let reset = segment(family, PORT + 1, flags, [500, 700], b"");
            assert_eq!(answers(&mut receiver(), &reset), [] as [Vec<u8>; 0]);
        }
        let mut damaged = segment(family, PORT + 1, SYN, [500, 0], b"");
        *damaged.last_mut().unwrap() ^= 1;
        assert_eq!(answers(&mut receiver(), &damaged), [] as [Vec<u8>; 0]);
        let mut host = receiver();
        let said = answers(&mut host, &segment(family, PORT, SYN | ACK, [500, 700], b""));
        assert_eq!(read(&said[0]).3, RST);
        assert_eq!(host.live_connections(), 0);
        let said = answers(&mut host, &segment(family, PORT, SYN, [500, 0], b""));
        assert_eq!((said.len(), host.live_connections()), (1, 0));
        let next = read(&said[0]).2[0] + 1;
        let said = answers(&mut host, &segment(family, PORT, ACK, [501, next], b""));
        assert_eq!((said.len(), host.live_connections()), (0, 1));
        assert_eq!(
            (host.local(lanlab_stack::ip::ConnectionId(0)), host.unclaimed_frames()),
            (SocketAddr::new(ADDRESSES[RECEIVER][family], PORT), 1,)
        );
    }
}

#[test]
fn at_most_eight_resets_are_queued() {
    let mut host = receiver();
    for number in 0..20 {
        host.handle_frame(NOW, &segment(0, 2_000 + number, SYN, [500, 0], b""));
    }
    let (mut frame, mut ports) = (vec![], vec![]);
    while host.poll_transmit(NOW, &mut frame) {
        ports.push(read(&frame[14..]).0);
    }
    assert_eq!(ports, (2_000..2_008).collect::<Vec<_>>());
    assert_eq!(host.unclaimed_frames(), 20);
}

type Change<'a> = (&'a str, &'a dyn Fn(&mut Vec<u8>));

/// RFC 791, RFC 8200, RFC 768: what is not for this interface, in pieces, of another version or damaged is not taken.
#[test]
fn only_whole_datagrams_for_this_interface_are_accepted() {
    let ipv4_again = |frame: &mut Vec<u8>| {
        frame[24..26].fill(0);
        let own = checksum(sum(&frame[14..34]));
        frame[24..26].copy_from_slice(&own);
    };
    let changes: [Change<'_>; 10] = [
        ("another adapter", &|frame| frame[5] ^= 1),
        ("more fragments", &|frame| {
            frame[20] |= 0x20;
            ipv4_again(frame);
        }),
        ("a later fragment", &|frame| {
            frame[21] = 1;
            ipv4_again(frame);
        }),
        ("another version", &|frame| {
            frame[14] = 0x55;
            ipv4_again(frame);
        }),
        ("the header's checksum", &|frame| frame[22] ^= 1),
        ("another protocol", &|frame| {
            frame[23] = 1;
            ipv4_again(frame);
        }),
        ("the datagram's checksum", &|frame| *frame.last_mut().unwrap() ^= 1),
        ("ARP", &|frame| frame[13] = 6),
        ("another address", &|frame| {
            // The sum stays the same.
            (frame[31], frame[33]) = (frame[31] + 1, frame[33] - 1);
        }),
        ("longer than it is", &|frame| frame.truncate(frame.len() - 1)),
    ];
    let good = datagram(0, PORT, b"odd");
    for (what, change) in changes {
        let mut host = receiver();
        let mut frame = good.clone();
        change(&mut frame);
        assert_eq!(answers(&mut host, &frame), [] as [Vec<u8>; 0], "{what}");
        assert_eq!((host.unclaimed_frames(), host.poll_event()), (1, None), "{what}");
    }
    for family in [0, 1] {
        let mut host = receiver();
        let socket = host.bind(PORT + 1, 1_000, 1_000).unwrap();
        assert_eq!(host.bind(PORT + 1, 1_000, 1_000), Err(Refusal::PortInUse(PORT + 1)));
        // Port zero is none, and one that no socket has takes nothing.
        for port in [0, PORT + 2] {
            assert_eq!(answers(&mut host, &datagram(family, port, b"x")), [] as [Vec<u8>; 0]);
        }
        assert_eq!((host.unclaimed_frames(), host.has_datagram(socket)), (2, false));
        // Padding is cut off.
        let padded = [datagram(family, PORT + 1, b"odd"), vec![7; 20]].concat();
        answers(&mut host, &padded);
        assert_eq!(host.poll_event(), Some(Event::Datagram(socket)));
        assert_eq!((host.has_datagram(socket), host.datagram_bytes(socket)), (true, Some(3)));
        let mut data = vec![];
        let found = host.receive_datagram(socket, &mut data).unwrap();
        assert_eq!(found.from, SocketAddr::new(ADDRESSES[SENDER][family], 1024));
        assert_eq!((&data[..], host.unclaimed_frames()), (&b"odd"[..], 2));
        assert_eq!((host.has_datagram(socket), host.datagram_bytes(socket)), (false, None));
        let mut other = datagram(family, PORT + 1, b"odd");
        other[14] ^= 0x20;
        answers(&mut host, &other);
        assert_eq!(host.unclaimed_frames(), 3, "version {}", other[14] >> 4);
    }
}

/// Two ends and the segments between them, without time on the way, until neither has any; how many each has sent, and how
/// many of them with data.
fn settle(hosts: &mut [Interface; 2], now: Instant) -> [[u64; 2]; 2] {
    let (mut frame, mut sent) = (vec![], [[0; 2]; 2]);
    loop {
        let mut is_idle = true;
        for host in [SENDER, RECEIVER] {
            while hosts[host].poll_transmit(now, &mut frame) {
                let headers = 20 + usize::from(frame[46] >> 4) * 4;
                let has_data = usize::from(u16::from_be_bytes([frame[16], frame[17]])) > headers;
                sent[host] = [sent[host][0] + 1, sent[host][1] + u64::from(has_data)];
                hosts[1 - host].handle_frame(now, &frame);
                is_idle = false;
            }
        }
        if is_idle {
            return sent;
        }
    }
}

#[test]
fn connections_count_segments_bytes_and_unread_data() {
    let small = lanlab_stack::ip::TcpProfile {
        mss_bytes: Some(1_000),
        delayed_ack_ns: None,
        is_modern: false,
        nagle: false,
        ..profile(4_000)
    };
    let mut hosts = hosts(&small, 7);
    let to = SocketAddr::new(ADDRESSES[RECEIVER][0], PORT);
    assert!(hosts[RECEIVER].listen(PORT) && !hosts[RECEIVER].listen(PORT));
    let id = hosts[SENDER].connect(NOW, 1024, to).unwrap();
    assert_eq!(hosts[SENDER].connect(NOW, 1024, to), Err(Refusal::PortInUse(1024)));
    assert_eq!((hosts[SENDER].is_open(id), hosts[SENDER].room_bytes(id)), (false, 0));
    assert_eq!(hosts[SENDER].receive(NOW, id, &mut [0; 9]), Received::Nothing);
    assert_eq!(settle(&mut hosts, NOW), [[2, 0], [1, 0]]);
    let mut events = std::iter::from_fn(|| hosts[RECEIVER].poll_event());
    let accepted = events.find_map(|event| match event {
        Event::Accepted(id, PORT) => Some(id),
        _ => None,
    });
    let accepted = accepted.unwrap();
    assert!(hosts[SENDER].is_open(id) && hosts[RECEIVER].is_open(accepted));
    let ends = (hosts[RECEIVER].local(accepted), hosts[RECEIVER].peer(accepted));
    assert_eq!(ends, (to, SocketAddr::new(ADDRESSES[SENDER][0], 1024)));
    assert_eq!((hosts[SENDER].local(id), hosts[SENDER].peer(id)), (ends.1, ends.0));
    assert_eq!(hosts.each_ref().map(Interface::mac), MACS);

    // 3,500 bytes: three segments and a half; then there is room for 500 more.
    assert_eq!(hosts[SENDER].room_bytes(id), 4_000);
    assert_eq!(hosts[SENDER].send(NOW, id, &pattern(0, 3_500)), 3_500);
    assert_eq!(hosts[SENDER].room_bytes(id), 500);
    assert_eq!(hosts[SENDER].facts(id).unacknowledged_bytes, 3_500);
    assert_eq!(hosts[SENDER].send(NOW, id, &pattern(3_500, 2_000)), 500);
    let seen = settle(&mut hosts, NOW);
    let (sent, came) = (hosts[SENDER].facts(id), hosts[RECEIVER].facts(accepted));
    assert_eq!((sent.accepted_bytes, sent.unacknowledged_bytes, sent.mss_bytes), (4_000, 0, 1_000));
    assert_eq!([sent.segments_sent, sent.data_segments_sent], [2 + seen[0][0], seen[0][1]]);
    assert_eq!((sent.retransmitted_segments, came.segments_sent), (0, 1 + seen[1][0]));
    assert!(seen[0][1] >= 4 && seen[1][1] == 0);
    assert_eq!((came.data_segments_received, came.received_bytes), (seen[0][1], 0));
    assert_eq!(came.data_segments_sent, 0);

    // It is read in small pieces; what was read and not shown in the window is not there any more either.
    let mut read = vec![];
    for piece in [1, 700, 299, 1_000, 999] {
        let before = hosts[RECEIVER].readable_bytes(accepted);
        let mut into = vec![0; piece];
        assert_eq!(hosts[RECEIVER].receive(NOW, accepted, &mut into), Received::Bytes(piece));
        assert_eq!(hosts[RECEIVER].readable_bytes(accepted), before - piece);
        read.extend(into);
    }
    assert_eq!(read, pattern(0, 2_999));
    let sent = hosts[SENDER].send(NOW, id, &pattern(4_000, 9_000));
    assert_eq!(sent, 4_000);
    settle(&mut hosts, NOW);
    let mut into = vec![0; 9_000];
    while let Received::Bytes(bytes) = hosts[RECEIVER].receive(NOW, accepted, &mut into) {
        read.extend(&into[..bytes]);
        settle(&mut hosts, NOW);
    }
    assert_eq!(read, pattern(0, 8_000));
    assert_eq!(hosts[RECEIVER].facts(accepted).received_bytes, 8_000);

    // What is read after both ends have closed, and their wait is over, is all that was sent, also where a ring of
    // bytes begins anew in it.
    assert_eq!(hosts[SENDER].send(NOW, id, &pattern(8_000, 2_500)), 2_500);
    settle(&mut hosts, NOW);
    assert_eq!(hosts[RECEIVER].receive(NOW, accepted, &mut into), Received::Bytes(2_500));
    assert_eq!(hosts[SENDER].send(NOW, id, &pattern(10_500, 3_000)), 3_000);
    hosts[SENDER].close(NOW, id);
    hosts[RECEIVER].close(NOW, accepted);
    settle(&mut hosts, NOW);
    let later = Instant::from_nanos(100_000_000_000);
    for host in &mut hosts {
        while let Some(at) = host.poll_timeout().filter(|at| *at <= later) {
            host.handle_timeout(at);
            while host.poll_transmit(at, &mut vec![]) {}
        }
    }
    assert!(hosts[SENDER].is_over(id) && hosts[RECEIVER].is_over(accepted));
    assert_eq!(hosts[RECEIVER].readable_bytes(accepted), 3_000);
    let mut into = [0; 4_000];
    assert_eq!(hosts[RECEIVER].receive(later, accepted, &mut into[..300]), Received::Bytes(300));
    assert_eq!(hosts[RECEIVER].readable_bytes(accepted), 2_700);
    assert_eq!(hosts[RECEIVER].receive(later, accepted, &mut into[300..]), Received::Bytes(2_700));
    assert_eq!(into[..3_000], pattern(10_500, 3_000));
    assert_eq!(hosts[RECEIVER].receive(later, accepted, &mut into), Received::End);
    assert_eq!(hosts[RECEIVER].facts(accepted).received_bytes, 13_500);
    assert_eq!(hosts[SENDER].send(later, id, b"late"), 0);
}

/// RFC 1122, 4.2.3.3: the window opens by a segment, or by half of a small buffer, and not by less.
#[test]
fn window_updates_are_a_segment_or_half_the_buffer() {
    for (buffer, step) in [(4_000, 1_000), (1_600, 800)] {
        let small = lanlab_stack::ip::TcpProfile {
            mss_bytes: Some(1_000),
            delayed_ack_ns: None,
            is_modern: false,
            send_buffer_bytes: 4_000,
            ..profile(buffer)
        };
        let mut hosts = hosts(&small, 7);
        hosts[RECEIVER].listen(PORT);
        let to = SocketAddr::new(ADDRESSES[RECEIVER][0], PORT);
        let id = hosts[SENDER].connect(NOW, 1024, to).unwrap();
        settle(&mut hosts, NOW);
        let accepted = lanlab_stack::ip::ConnectionId(0);
        hosts[SENDER].send(NOW, id, &vec![1; buffer]);
        settle(&mut hosts, NOW);
        assert_eq!(hosts[RECEIVER].readable_bytes(accepted), buffer, "the window is closed");
        for read in 1..=step {
            assert_eq!(hosts[RECEIVER].receive(NOW, accepted, &mut [0]), Received::Bytes(1));
            let [_, said] = settle(&mut hosts, NOW);
            assert_eq!(said[0], u64::from(read == step), "{read} of {step}");
        }
    }
}

#[test]
fn oversized_sends_are_refused() {
    let mut host = receiver();
    let stranger = SocketAddr::new("10.77.0.9".parse().unwrap(), 9);
    let refused = Refusal::NoNeighbour(stranger.ip());
    assert_eq!(host.connect(NOW, 1, stranger), Err(refused));
    assert_eq!(refused.to_string(), "no hardware address of 10.77.0.9 is known");
    host.add_neighbour(stranger.ip(), [2; 6]);
    assert!(host.knows(stranger.ip()) && host.connect(NOW, 1, stranger).is_ok());
    host.remove_neighbour(stranger.ip());
    assert!(!host.knows(stranger.ip()));
    assert_eq!(host.connect(NOW, 2, stranger), Err(refused));
    let too_long = Refusal::TooLong { bytes: 1_473, longest_bytes: 1_472 };
    let text = "a datagram of 1473 bytes does not fit into one frame: 1472 at most, as nothing is fragmented";
    assert_eq!(too_long.to_string(), text);
    assert_eq!(Refusal::PortInUse(7).to_string(), "port 7 is in use");
    assert_eq!(Refusal::Full.to_string(), "the send buffer is full");
    let text = format!("no address of this interface goes with {stranger}");
    assert_eq!(Refusal::NoAddress(stranger).to_string(), text);
}

/// RFC 9293, 3.8.6.1: a closed window is asked for, which sends nothing again.
#[test]
fn a_closed_window_is_probed_without_counting_retransmissions() {
    let small = lanlab_stack::ip::TcpProfile {
        mss_bytes: Some(1_000),
        delayed_ack_ns: None,
        is_modern: false,
        send_buffer_bytes: 8_000,
        ..profile(4_000)
    };
    let mut hosts = hosts(&small, 7);
    hosts[RECEIVER].listen(PORT);
    let to = SocketAddr::new(ADDRESSES[RECEIVER][0], PORT);
    let id = hosts[SENDER].connect(NOW, 1024, to).unwrap();
    let mut seen = settle(&mut hosts, NOW);
    let accepted = lanlab_stack::ip::ConnectionId(0);
    assert_eq!(hosts[SENDER].send(NOW, id, &pattern(0, 6_000)), 6_000);
    let mut now = NOW;
    let mut probes = 0;
    let end = Instant::from_nanos(30_000_000_000);
    loop {
        let more = settle(&mut hosts, now);
        for host in [SENDER, RECEIVER] {
            for (sum, count) in seen[host].iter_mut().zip(more[host]) {
                *sum += count;
            }
        }
        probes += u64::from(now > NOW) * more[SENDER][1];
        match hosts.iter().filter_map(Interface::poll_timeout).min().filter(|at| *at <= end) {
            Some(at) => now = at,
            None => break,
        }
        for host in &mut hosts {
            host.handle_timeout(now);
        }
    }
    assert_eq!(hosts[RECEIVER].readable_bytes(accepted), 4_000);
    assert!((3..10).contains(&probes), "{probes}");
    let facts = hosts[SENDER].facts(id);
    assert_eq!([facts.segments_sent, facts.data_segments_sent], seen[SENDER]);
    assert_eq!((facts.retransmitted_segments, facts.unacknowledged_bytes), (0, 2_000));
    let (mut read, mut into) = (Vec::<u8>::new(), vec![0; 9_000]);
    while let Received::Bytes(bytes) = hosts[RECEIVER].receive(now, accepted, &mut into) {
        read.extend(&into[..bytes]);
        settle(&mut hosts, now);
    }
    assert_eq!(read, pattern(0, 6_000));
    let facts = hosts[SENDER].facts(id);
    assert_eq!((facts.retransmitted_segments, facts.unacknowledged_bytes), (0, 0));
}
