//! Both ends of UDP and TCP over a cable of the offline medium.

mod arriving;
mod asking;
mod forged;
mod half_open;
mod limited;
mod pair;
mod schedules;
mod segments;
mod station;

use std::net::SocketAddr;

use lanlab_medium::LossPlan;
use lanlab_stack::ip::{Event, Received, Refusal, TcpProfile};
use lanlab_units::Instant;
use pair::{ADDRESSES, Pair, RECEIVER, SENDER, address};

const PORT: u16 = 5001;
const PATTERN_BYTES: usize = 251;

fn profile(buffer_bytes: usize) -> TcpProfile {
    TcpProfile {
        mss_bytes: None,
        receive_buffer_bytes: buffer_bytes,
        send_buffer_bytes: buffer_bytes,
        send_rings: TcpProfile::LONG_SEND_RINGS,
        delayed_ack_ns: Some(200_000_000),
        is_modern: false,
        nagle: true,
    }
}

fn pattern(from: u64, bytes: usize) -> Vec<u8> {
    (from..from + bytes as u64).map(|at| (at % PATTERN_BYTES as u64) as u8).collect()
}

/// With an initial window of one segment, the first is acknowledged only after the delay of 200 ms.
const OPENING_BYTES: u64 = 50_000;

struct Bulk {
    bytes: u64,
    /// When the first [`OPENING_BYTES`] were there, and how many were.
    opened: (Instant, u64),
    last: Instant,
    is_right: bool,
    has_ended: bool,
}

impl Bulk {
    fn goodput_bps(&self) -> f64 {
        let (since, before_bytes) = self.opened;
        (self.bytes - before_bytes) as f64 * 8e9 / self.last.nanos_since(since) as f64
    }
}

/// Send `total` bytes as fast as TCP takes them, and close; until then, or at most a simulated hour.
fn bulk(pair: &mut Pair, family: usize, total: u64) -> Bulk {
    pair.hosts[RECEIVER].listen(PORT);
    let to = SocketAddr::new(ADDRESSES[RECEIVER][family], PORT);
    let sending = pair.hosts[SENDER].connect(Instant::ZERO, 1024, to).unwrap();
    let (mut sent, mut receiving, mut is_closed) = (0_u64, None, false);
    let (opened, last) = ((Instant::ZERO, 0), Instant::ZERO);
    let mut came = Bulk { bytes: 0, opened, last, is_right: true, has_ended: false };
    let mut buffer = vec![0; 1 << 16];
    let hour = Instant::from_nanos(3_600_000_000_000);
    pair.run(hour, |now, hosts, host, event| {
        if let Event::Accepted(id, port) = event {
            assert_eq!((host, port), (RECEIVER, PORT));
            receiving = Some(id);
        }
        if host == SENDER && hosts[SENDER].is_open(sending) {
            while sent < total {
                let room = (total - sent).min(4096) as usize;
                let taken = hosts[SENDER].send(now, sending, &pattern(sent, room));
                if taken == 0 {
                    break;
                }
                sent += taken as u64;
            }
            if sent == total && !std::mem::replace(&mut is_closed, true) {
                hosts[SENDER].close(now, sending);
            }
        }
        let Some(id) = receiving.filter(|_| host == RECEIVER) else { return };
        loop {
            match hosts[RECEIVER].receive(now, id, &mut buffer) {
                Received::Bytes(bytes) => {
                    came.is_right &= buffer[..bytes] == pattern(came.bytes, bytes);
                    came.bytes += bytes as u64;
                    if came.bytes <= OPENING_BYTES {
                        came.opened = (now, came.bytes);
                    }
                    came.last = now;
                }
                Received::Nothing => break,
                Received::End => {
                    came.has_ended = true;
                    hosts[RECEIVER].close(now, id);
                    break;
                }
                Received::Broken => panic!("the connection broke"),
            }
        }
    });
    came
}

#[test]
fn tcp_with_buffers_of_8_kb_fills_a_cable_of_10_mbit_per_s() {
    for (family, expected_mbps) in [(0, 9.49), (1, 9.36)] {
        let mut pair = Pair::new(&profile(8192), 10_000_000, LossPlan::Never);
        let bulk = bulk(&mut pair, family, 10_000_000);
        let mbps = bulk.goodput_bps() / 1e6;
        assert_eq!((bulk.bytes, bulk.is_right, bulk.has_ended), (10_000_000, true, true));
        assert!((mbps - expected_mbps).abs() < 0.1, "{mbps} Mbit/s, family {family}");
        // No segment is cut where smoltcp's ring begins anew.
        assert!(pair.shorter_frames(1514, 100) <= 2, "{} short", pair.shorter_frames(1514, 100));
    }
}

#[test]
fn tcp_delivers_every_byte_at_1_percent_loss() {
    let mut pair = Pair::new(&profile(8192), 10_000_000, LossPlan::Random { ratio: 0.01 });
    let bulk = bulk(&mut pair, 0, 3_000_000);
    assert_eq!((bulk.bytes, bulk.is_right, bulk.has_ended), (3_000_000, true, true));
    assert!(pair.lost_frames() > 10, "{} frames lost", pair.lost_frames());
}

#[test]
fn a_one_segment_window_carries_one_segment_per_round_trip() {
    // 1460 bytes there (1230.4 µs on the wire) and an acknowledgement back (57.6 µs): with no delay.
    let small = TcpProfile { delayed_ack_ns: None, send_buffer_bytes: 65_536, ..profile(1460) };
    let mut pair = Pair::new(&small, 10_000_000, LossPlan::Never);
    let bulk = bulk(&mut pair, 0, 1_460_000);
    let expected_bps = 1460.0 * 8.0 / (1_220.8e-6 + 57.6e-6);
    let ratio = bulk.goodput_bps() / expected_bps;
    assert!((ratio - 1.0).abs() < 0.02, "{} bit/s, expected {expected_bps}", bulk.goodput_bps());
}

#[test]
fn a_short_request_is_answered_in_two_short_frames() {
    let mut pair = Pair::new(&profile(8192), 10_000_000, LossPlan::Never);
    pair.hosts[RECEIVER].listen(PORT);
    let to = SocketAddr::new(ADDRESSES[RECEIVER][0], PORT);
    let asking = pair.hosts[SENDER].connect(Instant::ZERO, 1024, to).unwrap();
    let (mut asked_at, mut answering, mut answered_at) = (None, None, None);
    let mut buffer = [0; 64];
    pair.run(Instant::from_nanos(2_000_000_000), |now, hosts, host, event| {
        if let Event::Accepted(id, _) = event {
            answering = Some(id);
        }
        if host == SENDER && hosts[SENDER].is_open(asking) && asked_at.is_none() {
            asked_at = Some(now);
            assert_eq!(hosts[SENDER].send(now, asking, b"request"), 7);
        }
        if let Some(id) = answering.filter(|_| host == RECEIVER)
            && let Received::Bytes(bytes) = hosts[RECEIVER].receive(now, id, &mut buffer)
        {
            assert!(bytes > 0);
            hosts[RECEIVER].send(now, id, b"reply");
        }
        if host == SENDER
            && let Received::Bytes(_) = hosts[SENDER].receive(now, asking, &mut buffer)
        {
            answered_at = answered_at.or(Some(now));
        }
    });
    // 61 and 59 bytes: both take 72 on the wire, with padding, preamble and check sequence. The
    // acknowledgement goes with the reply.
    assert_eq!(answered_at.unwrap().nanos_since(asked_at.unwrap()), 2 * 57_600 + 800);
}

#[test]
fn a_single_segment_gets_a_delayed_acknowledgement() {
    for (delay_ns, expected_ns) in [(Some(200_000_000), 200_000_000), (None, 0)] {
        let asked = TcpProfile { delayed_ack_ns: delay_ns, ..profile(8192) };
        let mut pair = Pair::new(&asked, 10_000_000, LossPlan::Never);
        pair.hosts[RECEIVER].listen(PORT);
        let to = SocketAddr::new(ADDRESSES[RECEIVER][0], PORT);
        let sending = pair.hosts[SENDER].connect(Instant::ZERO, 1024, to).unwrap();
        let (mut sent_at, mut acknowledged_at) = (None, None);
        pair.run(Instant::from_nanos(3_000_000_000), |now, hosts, host, _| {
            if host != SENDER || !hosts[SENDER].is_open(sending) {
                return;
            }
            if sent_at.is_none() {
                hosts[SENDER].send(now, sending, b"alone");
                sent_at = Some(now);
            } else if hosts[SENDER].facts(sending).unacknowledged_bytes == 0 {
                acknowledged_at = acknowledged_at.or(Some(now));
            }
        });
        let taken_ns = acknowledged_at.unwrap().nanos_since(sent_at.unwrap());
        let wire_ns = 2 * 57_600;
        let beyond_ns = taken_ns - wire_ns;
        // Its clock has whole microseconds.
        assert!(beyond_ns.abs_diff(expected_ns) <= 1_000, "{delay_ns:?}: {beyond_ns} ns");
    }
}

#[test]
fn nagle_holds_a_second_short_segment_until_the_first_is_acknowledged() {
    for (nagle, expected_ns) in [(true, 200_000_000 + 57_600), (false, 0)] {
        let asked = TcpProfile { nagle, ..profile(8192) };
        let mut pair = Pair::new(&asked, 10_000_000, LossPlan::Never);
        pair.hosts[RECEIVER].listen(PORT);
        let to = SocketAddr::new(ADDRESSES[RECEIVER][0], PORT);
        let sending = pair.hosts[SENDER].connect(Instant::ZERO, 1024, to).unwrap();
        let (mut receiving, mut pieces, mut arrivals) = (None, 0, Vec::new());
        let mut buffer = [0; 64];
        pair.run(Instant::from_nanos(3_000_000_000), |now, hosts, host, event| {
            if let Event::Accepted(id, _) = event {
                receiving = Some(id);
            }
            // An event comes when the first has left: then the second is handed over.
            if host == SENDER && hosts[SENDER].is_open(sending) && pieces < 2 {
                pieces += 1;
                hosts[SENDER].send(now, sending, b"piece");
            }
            if let Some(id) = receiving.filter(|_| host == RECEIVER)
                && let Received::Bytes(bytes) = hosts[RECEIVER].receive(now, id, &mut buffer)
            {
                arrivals.push((now, bytes));
            }
        });
        assert_eq!(arrivals.iter().map(|(_, bytes)| bytes).sum::<usize>(), 10);
        let gap_ns = arrivals.last().unwrap().0.nanos_since(arrivals[0].0);
        let frame_ns = 67_200;
        assert!(gap_ns.abs_diff(expected_ns) <= frame_ns, "nagle {nagle}: {gap_ns} ns");
    }
}

#[test]
fn segment_size_follows_the_profile() {
    let short = TcpProfile { mss_bytes: Some(536), ..profile(8192) };
    let mut pair = Pair::new(&short, 10_000_000, LossPlan::Never);
    let bulk = bulk(&mut pair, 0, 536_000);
    assert_eq!(bulk.bytes, 536_000);
    assert_eq!(pair.longest_frame_bytes(), 14 + 40 + 536);
}

#[test]
fn udp_reaches_the_theoretical_rate_of_a_cable() {
    // Bytes of a message, and goodput in Mbit/s over IPv4 and IPv6: of a frame of `bytes + 28 or 48`,
    // with 38 bytes of Ethernet.
    for (bytes, family) in [(2, 0), (2, 1), (500, 0), (500, 1), (1408, 0), (1408, 1), (1452, 1)] {
        let mut pair = Pair::new(&profile(8192), 10_000_000, LossPlan::Never);
        let from = pair.hosts[SENDER].bind(1024, 65_536, 8_192).unwrap();
        let at = pair.hosts[RECEIVER].bind(PORT, 65_536, 8_192).unwrap();
        let to = SocketAddr::new(ADDRESSES[RECEIVER][family], PORT);
        let payload = vec![7; bytes];
        let (mut count, mut first, mut last) = (0_u64, Instant::ZERO, Instant::ZERO);
        pair.hosts[SENDER].send_datagram(from, to, &payload).unwrap();
        let mut buffer = Vec::new();
        let fill = |host: &mut lanlab_stack::ip::Interface| {
            while host.send_datagram(from, to, &payload).is_ok() {}
        };
        fill(&mut pair.hosts[SENDER]);
        pair.run(Instant::from_nanos(1_000_000_000), |now, hosts, host, event| {
            if event == Event::Room(from) && host == SENDER {
                fill(&mut hosts[SENDER]);
            }
            while host == RECEIVER && hosts[RECEIVER].receive_datagram(at, &mut buffer).is_some() {
                assert_eq!(buffer, payload);
                if count == 0 {
                    first = now;
                }
                (count, last) = (count + 1, now);
            }
        });
        let network = bytes + if family == 0 { 28 } else { 48 };
        let wire = (network + 18).max(64) + 20;
        let frame_ns = wire as u64 * 800;
        assert_eq!(last.nanos_since(first), (count - 1) * frame_ns, "{bytes} bytes, {family}");
        assert!(count > 800, "{count} of {bytes} bytes");
    }
}

#[test]
fn a_datagram_that_does_not_fit_into_one_frame_is_refused() {
    let mut pair = Pair::new(&profile(8192), 10_000_000, LossPlan::Never);
    let from = pair.hosts[SENDER].bind(1024, 65_536, 65_536).unwrap();
    for (family, longest_bytes) in [(0, 1472), (1, 1452)] {
        let to = SocketAddr::new(ADDRESSES[RECEIVER][family], PORT);
        let host = &mut pair.hosts[SENDER];
        assert_eq!(host.send_datagram(from, to, &vec![0; longest_bytes]), Ok(()));
        let bytes = longest_bytes + 1;
        let refused = host.send_datagram(from, to, &vec![0; bytes]);
        assert_eq!(refused, Err(Refusal::TooLong { bytes, longest_bytes }));
    }
    let stranger = SocketAddr::new(address("10.77.0.9"), PORT);
    let refused = pair.hosts[SENDER].send_datagram(from, stranger, b"x");
    assert_eq!(refused, Err(Refusal::NoNeighbour(stranger.ip())));
}

#[test]
fn receive_buffer_overflows_are_counted() {
    let mut pair = Pair::new(&profile(8192), 10_000_000, LossPlan::Never);
    let from = pair.hosts[SENDER].bind(1024, 65_536, 65_536).unwrap();
    // Two of them: each takes 128 bytes more than its payload.
    pair.hosts[RECEIVER].bind(PORT, 1_100, 65_536).unwrap();
    let to = SocketAddr::new(ADDRESSES[RECEIVER][0], PORT);
    for _ in 0..5 {
        pair.hosts[SENDER].send_datagram(from, to, &[0; 400]).unwrap();
    }
    pair.run(Instant::from_nanos(1_000_000_000), |_, _, _, _| {});
    assert_eq!(pair.hosts[RECEIVER].dropped_datagrams(), 3);
    assert_eq!(pair.hosts[RECEIVER].unclaimed_frames(), 0);
}

#[test]
fn any_frame_is_handled_without_panic_and_damaged_ones_dropped() {
    let mut pair = Pair::new(&profile(8192), 10_000_000, LossPlan::Never);
    let from = pair.hosts[SENDER].bind(1024, 65_536, 65_536).unwrap();
    let at = pair.hosts[RECEIVER].bind(PORT, 65_536, 65_536).unwrap();
    for family in [0, 1] {
        let to = SocketAddr::new(ADDRESSES[RECEIVER][family], PORT);
        pair.hosts[SENDER].send_datagram(from, to, b"the payload of a datagram").unwrap();
        let mut frame = Vec::new();
        assert!(pair.hosts[SENDER].poll_transmit(Instant::ZERO, &mut frame));
        let receiver = &mut pair.hosts[RECEIVER];
        for length in 0..frame.len() {
            receiver.handle_frame(Instant::ZERO, &frame[..length]);
        }
        // A changed payload or header, but for the Ethernet source and IP's traffic class and lifetime.
        let first_checked = if family == 0 { 14 } else { 22 };
        for at in first_checked..frame.len() {
            let mut damaged = frame.clone();
            damaged[at] ^= 0x10;
            receiver.handle_frame(Instant::ZERO, &damaged);
        }
        let unclaimed = receiver.unclaimed_frames();
        assert!(unclaimed > 0);
        let mut payload = Vec::new();
        let mut taken = 0;
        while receiver.receive_datagram(at, &mut payload).is_some() {
            taken += 1;
        }
        // Of IPv6 the hop limit has no checksum: one change of it is not noticed.
        assert!(taken <= family, "{taken} damaged frames taken, family {family}");
        receiver.handle_frame(Instant::ZERO, &frame);
        assert!(receiver.receive_datagram(at, &mut payload).is_some());
        assert_eq!(payload, b"the payload of a datagram");
    }
}

#[test]
fn the_same_seed_gives_the_same_frames() {
    let record = || {
        let mut pair = Pair::new(&profile(8192), 10_000_000, LossPlan::Random { ratio: 0.02 });
        bulk(&mut pair, 0, 200_000);
        pair.frames()
    };
    assert_eq!(record(), record());
}

/// A connection that both ends have left keeps its port for as long as a segment of it may still come, ten
/// seconds here; what it counted stays.
#[test]
fn a_port_is_free_once_both_ends_have_closed() {
    let mut pair = Pair::new(&profile(8192), 10_000_000, LossPlan::Never);
    pair.hosts[RECEIVER].listen(PORT);
    let to = SocketAddr::new(ADDRESSES[RECEIVER][0], PORT);
    let opened = pair.hosts[SENDER].connect(Instant::ZERO, 1024, to).unwrap();
    let mut sent = false;
    pair.run(Instant::from_nanos(5_000_000_000), |now, hosts, host, event| {
        if let Event::Accepted(id, _) = event {
            hosts[RECEIVER].leave(now, id);
        }
        if host == SENDER && hosts[SENDER].is_open(opened) && !sent {
            sent = true;
            hosts[SENDER].send(now, opened, b"last words");
            hosts[SENDER].leave(now, opened);
        }
    });
    let now = Instant::from_nanos(5_000_000_000);
    assert_eq!(pair.hosts[SENDER].connect(now, 1024, to), Err(Refusal::PortInUse(1024)));
    pair.run(Instant::from_nanos(20_000_000_000), |_, _, _, _| {});
    assert!(pair.hosts[SENDER].is_over(opened));
    assert_eq!(pair.hosts[SENDER].facts(opened).accepted_bytes, 10);
    let now = Instant::from_nanos(20_000_000_000);
    assert!(pair.hosts[SENDER].connect(now, 1024, to).is_ok());
}
