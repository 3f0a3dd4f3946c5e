//! Two listening hosts, and forged segments that seem to come from the other one: their answers end.

use lanlab_stack::ip::Interface;
use lanlab_units::Instant;

use super::pair::{RECEIVER, SENDER, hosts};
use super::segments::{ACK, RST, SYN, read, segment};
use super::{PORT, profile};

/// Source of forged segments, where the other host listens.
const FORGED_PORT: u16 = 1024;
const SECOND_NS: u64 = 1_000_000_000;

/// Bring each frame to the other host until none is sent: how often one was, and the flags of the first.
fn rounds(hosts: &mut [Interface; 2], now: Instant) -> (usize, u8) {
    let (mut count, mut first) = (0, 0);
    loop {
        let mut sent = vec![];
        for (at, host) in hosts.iter_mut().enumerate() {
            host.handle_timeout(now);
            let mut frame = vec![];
            while host.poll_transmit(now, &mut frame) {
                sent.push((at, frame.clone()));
            }
            while host.poll_event().is_some() {}
        }
        let Some((_, frame)) = sent.first() else { return (count, first) };
        if count == 0 {
            first = read(&frame[14..]).3;
        }
        count += 1;
        assert!(count < 10, "the exchange does not end");
        for (from, frame) in &sent {
            hosts[1 - from].handle_frame(now, frame);
        }
    }
}

#[test]
fn answers_to_100000_forged_segments_are_at_most_reset() {
    let mut numbers = 11_u64;
    let mut below = move |limit: u64| {
        numbers ^= numbers << 13;
        numbers ^= numbers >> 7;
        numbers ^= numbers << 17;
        (numbers >> 11) % limit
    };
    let mut pair = hosts(&profile(4096), 7);
    pair[SENDER].listen(FORGED_PORT);
    pair[RECEIVER].listen(PORT);
    let mut answered = 0;
    for number in 0..100_000_u64 {
        let now = Instant::from_nanos(number * SECOND_NS / 100);
        let family = below(2) as usize;
        let port = [PORT, PORT + 1][below(2) as usize];
        let sequence = [below(1 << 32) as u32, below(1 << 32) as u32];
        let data = vec![7; below(20) as usize];
        let forged = segment(family, port, below(64) as u8, sequence, &data);
        rounds(&mut pair, now);
        pair[RECEIVER].handle_frame(now, &forged);
        let (count, flags) = rounds(&mut pair, now);
        // A SYN is answered, and the host that did not send it resets (RFC 9293, figure 8).
        let most = if flags == SYN | ACK { 2 } else { 1 };
        assert!(count <= most, "segment {number}: {count} rounds, first {flags:#x}");
        assert!(count == 0 || flags & (RST | ACK) != 0);
        answered += u64::from(count > 0);
    }
    assert!((10_000..100_000).contains(&answered), "{answered} were answered");
}
