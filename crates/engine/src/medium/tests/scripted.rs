//! A scripted exchange on virtual time. The same script runs between real interfaces in
//! `tests/testbeds/test_scripted_exchange.py`: both produce the same frames in the same order.

use lanlab_clients::Recorder;
use lanlab_medium::{LossPlan, Medium, Plan, Port, Topology};
use lanlab_units::Instant;
use lanlab_wire::pcap::{FILE_HEADER_OCTETS, RECORD_HEADER_OCTETS};

use super::super::carrier::Carrier;

const SCRIPT: &str = include_str!("../../../../../tests/testbeds/scripted_exchange.txt");
const RATE_BPS: u64 = 10_000_000;
const PROPAGATION_NS: u64 = 500;
const HOSTS: [[u8; 6]; 3] = [[2, 0x77, 0, 0, 0, 1], [2, 0x77, 0, 0, 0, 2], [2, 0x77, 0, 0, 0, 3]];
/// For local experiments (IEEE 802-2014, 9.2.3).
const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];

fn script() -> Vec<(Port, Vec<u8>)> {
    let lines = SCRIPT.lines().filter(|line| !line.starts_with('#'));
    let frame = |(number, line): (usize, &str)| {
        let [from, to, length] = line.split(' ').collect::<Vec<_>>()[..] else {
            unreachable!("{line}")
        };
        let from: Port = from.parse().unwrap();
        let to = to.parse::<usize>().map_or([0xff; 6], |to| HOSTS[to]);
        let mut frame = [&to[..], &HOSTS[usize::from(from)], &ETHER_TYPE].concat();
        let length: usize = length.parse().unwrap();
        frame.extend((0..length - frame.len()).map(|i| (131 * number + 7 * i) as u8));
        (from, frame)
    };
    lines.enumerate().map(frame).collect()
}

fn recorded(octets: &[u8]) -> Vec<Vec<u8>> {
    let (mut frames, mut rest) = (Vec::new(), &octets[FILE_HEADER_OCTETS..]);
    while let Some((head, behind)) = rest.split_at_checked(RECORD_HEADER_OCTETS) {
        let length = u32::from_le_bytes(head[8..12].try_into().unwrap()) as usize;
        frames.push(behind[..length].to_vec());
        rest = &behind[length..];
    }
    frames
}

fn may_begin(script: &[(Port, Vec<u8>)], number: usize, arrived: usize) -> bool {
    let own = script[number].0;
    script[..number].iter().rposition(|(from, _)| *from != own).is_none_or(|last| arrived > last)
}

#[test]
fn a_scripted_exchange_gives_its_frames_byte_by_byte_and_in_order() {
    let script = script();
    for topology in [Topology::Cable, Topology::Switch, Topology::Bus] {
        let ports = if topology == Topology::Cable { 2 } else { 3 };
        let plan = Plan {
            topology,
            rate_bps: Some(RATE_BPS),
            ports,
            propagation_ns: PROPAGATION_NS,
            delay_ns: 0,
            loss: LossPlan::Never,
            switch_queue_bytes: 64 << 10,
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frames.pcap");
        let recorder = Recorder::create(path.to_str().unwrap()).unwrap();
        let mut carrier = Carrier::new(
            Medium::new(&plan, 1).unwrap(),
            plan.rate_bps,
            topology == Topology::Bus,
            &HOSTS[..usize::from(ports)],
            Some(recorder),
        );
        let mut arrived: Vec<Vec<u8>> = Vec::new();
        let (mut now, mut sent) = (Instant::ZERO, 0);
        loop {
            while sent < script.len() && may_begin(&script, sent, arrived.len()) {
                let (from, frame) = &script[sent];
                let read = |into: &mut [u8]| {
                    into[..frame.len()].copy_from_slice(frame);
                    Ok(Some(frame.len()))
                };
                assert!(carrier.take(*from, read).unwrap());
                let at_once = &mut |_: Port, _: &[u8]| unreachable!("a frame takes its time");
                carrier.offer_waiting(now, std::iter::once(*from), at_once);
                sent += 1;
            }
            let Some(next) = carrier.next() else { break };
            now = next;
            carrier.advance(now, &mut |port, frame| {
                // The third host only listens.
                if port < 2 {
                    arrived.push(frame.to_vec());
                }
                (now, true)
            });
        }
        let frames: Vec<_> = script.iter().map(|(_, frame)| frame.clone()).collect();
        assert_eq!(arrived, frames, "{topology:?}");
        carrier.recorder().unwrap().end().unwrap();
        assert_eq!(recorded(&std::fs::read(&path).unwrap()), frames, "{topology:?}");
        assert_eq!(now.as_nanos(), exact_end_ns(&script, topology), "{topology:?}");
    }
}

/// Exact arrival of the last frame by IEEE 802.3: each frame includes its preamble, a gap of 96
/// bits separates frames on one wire, and host-to-host propagation is added once.
fn exact_end_ns(script: &[(Port, Vec<u8>)], topology: Topology) -> u64 {
    let bits_ns = |bytes: u64| bytes * 8 * 1_000_000_000 / RATE_BPS;
    let (mut arrived_ns, mut before) = (0, None);
    // Earliest start of the next frame on the sender's wire, and on the wire behind a switch.
    let mut free_ns = [0, 0];
    for (from, frame) in script {
        let wire_ns = bits_ns(frame.len() as u64 + 8 + 4);
        if before != Some(*from) {
            // A reply starts once the last frame has arrived; on a shared wire, after the gap.
            let gap_ns =
                if topology == Topology::Bus && before.is_some() { bits_ns(12) } else { 0 };
            free_ns = [arrived_ns + gap_ns; 2];
        }
        let mut end_ns = 0;
        let wires = if topology == Topology::Switch { 2 } else { 1 };
        for free_ns in &mut free_ns[..wires] {
            end_ns = end_ns.max(*free_ns) + wire_ns;
            *free_ns = end_ns + bits_ns(12);
        }
        (arrived_ns, before) = (end_ns + PROPAGATION_NS, Some(*from));
    }
    arrived_ns
}
