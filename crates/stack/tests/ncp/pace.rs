//! Blocks on a bus of 10 Mbit/s without any cost of hosts: each takes the time of its request and its reply.

use lanlab_medium::Topology;
use lanlab_stack::profile::netware;
use lanlab_stack::redirector::{Access, Call, Done};
use lanlab_wire::ethernet::Framing;
use lanlab_wire::ipx::framing;

use super::pair::{Pair, Setting, pattern};

/// Bits of 10 Mbit/s last this long, ns.
const BIT_NS: u64 = 100;
/// From one end of the cable to the other, ns.
const CABLE_NS: u64 = 2_500;
/// Between two frames on the bus, ns.
const GAP_NS: u64 = 9_600;
/// Blocks that are timed.
const BLOCKS: u64 = 64;

/// Time of a packet until its last bit is at the other end, and of the gap before the next one: preamble, header,
/// data, padding and check sequence.
fn packet_ns(framing: Framing, data_bytes: u64) -> u64 {
    // Ethernet's header, and what stands between it and IPX: nothing of raw 802.3, the type of Ethernet II is part
    // of the header, three octets of 802.2, eight of SNAP.
    let between = match framing {
        Framing::Llc => 3,
        Framing::Snap { .. } => 8,
        _ => 0,
    };
    let frame = (14 + between + 30 + data_bytes).max(60);
    (8 + frame + 4) * 8 * BIT_NS + CABLE_NS + GAP_NS
}

/// A request before its data, and a reply: six octets of envelope, and function or completion code and status.
const REQUEST: u64 = 6 + 1;
const REPLY: u64 = 6 + 2;

#[test]
fn blocks_move_at_wire_speed() {
    for netware in netware::ALL {
        for used in [framing::RAW_802_3, framing::IEEE_802_2, framing::SNAP] {
            for size in [512_u32, 1024] {
                let mut pair = Pair::new(&Setting {
                    framing: Some(used),
                    topology: Topology::Bus,
                    bursts: false,
                    ..Setting::new(netware)
                });
                let octets = pattern(size as usize * BLOCKS as usize);
                pair.put("a", &octets);
                let (file, _) = pair.open("a", Access::Update).unwrap();
                for writes in [false, true] {
                    let from = pair.segment.now;
                    for block in 0..BLOCKS {
                        let offset = block * u64::from(size);
                        if writes {
                            let block = &octets[offset as usize..][..size as usize];
                            let call = Call::Write { file, offset, parts: [block, &[]] };
                            assert_eq!(pair.ask(call).0, Ok(Done::Written(size)));
                        } else {
                            assert_eq!(pair.read(file, offset, size).len(), size as usize);
                        }
                    }
                    let measured_ns = pair.segment.now.nanos_since(from);
                    let data = u64::from(size);
                    let (request, reply) = if writes { (13 + data, 0) } else { (13, 2 + data) };
                    let block_ns =
                        packet_ns(used, REQUEST + request) + packet_ns(used, REPLY + reply);
                    let ratio = measured_ns as f64 / (BLOCKS * block_ns) as f64;
                    println!("{} {used:?} {size} B writes {writes}: {ratio:.5}", netware.name);
                    assert!((0.995..=1.005).contains(&ratio), "{used:?} {size} {writes}: {ratio}");
                }
            }
        }
    }
}

#[test]
fn bursts_move_at_wire_speed() {
    for used in [framing::RAW_802_3, framing::SNAP] {
        let setting = Setting {
            framing: Some(used),
            topology: Topology::Bus,
            ..Setting::new(netware::NETWARE_3)
        };
        let mut pair = Pair::new(&setting);
        // 36 octets stand before each part; 24 before a request's data, 8 before those of a reply to a read.
        let part = framing::longest_data(used) as u64 - 36;
        let (read, write) = (24 * part - 8, 10 * part - 24);
        let octets = pattern(read as usize);
        pair.put("a", &octets);
        let (file, _) = pair.open("a", Access::Update).unwrap();
        let from = pair.segment.now;
        assert!(pair.read(file, 0, read as u32) == octets);
        let middle = pair.segment.now;
        let call = Call::Write { file, offset: 0, parts: [&octets[..write as usize], &[]] };
        assert_eq!(pair.ask(call).0, Ok(Done::Written(write as u32)));
        let full_ns = packet_ns(used, 36 + part);
        let expected =
            [packet_ns(used, 36 + 24) + 24 * full_ns, 10 * full_ns + packet_ns(used, 36 + 4)];
        let measured = [middle.nanos_since(from), pair.segment.now.nanos_since(middle)];
        for (measured_ns, expected_ns) in measured.into_iter().zip(expected) {
            let ratio = measured_ns as f64 / expected_ns as f64;
            println!("{used:?}: {ratio:.5}");
            assert!((0.995..=1.005).contains(&ratio), "{used:?}: {ratio}");
        }
    }
}
