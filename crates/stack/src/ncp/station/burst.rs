//! One end of a connection's bursts: the fragments it sends, and the ranges it has received.

use std::collections::VecDeque;

use lanlab_units::Instant;
use lanlab_wire::ncp::burst::{Fragment, HEADER_LEN, Header, Packet, flag};

use crate::ncp::{AROUND_BURST, MOST_BURST, SMALLEST_PACKET};

/// Maximum gaps in received data, and maximum ranges queued for sending; only hostile peers exceed it.
const MOST_RANGES: usize = 64;
/// Unit of the time between packets, ns.
const DELAY_NS: u64 = 100_000;
/// Longest packet interval that an end keeps, and its increase per loss, 100 µs. Assumed: Novell's later clients
/// also lengthen it after losses and shorten it otherwise.
const MOST_DELAY: u32 = 200;
const LONGER_DELAY: u32 = 10;

#[derive(Debug, Default)]
pub(super) struct Burst {
    own: u32,
    other: u32,
    /// Maximum burst bytes per packet.
    part: usize,
    packets: u32,
    /// Interval between packets, 100 µs.
    delay: u32,
    body: Vec<u8>,
    ranges: VecDeque<(usize, usize)>,
    numbers: (u16, u16),
    next_at: Instant,
    got: Option<Got>,
    is_lossy: bool,
}

#[derive(Debug)]
struct Got {
    body: Vec<u8>,
    ranges: Vec<(usize, usize)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Whole(Vec<u8>),
    More,
    Nothing,
}

impl Burst {
    /// Numbers of both ends, the packet size that both support, and a frame's maximum packet size.
    pub(super) fn new((own, other): (u32, u32), packet: u32, longest: u32) -> Self {
        let packet = packet.clamp(SMALLEST_PACKET, longest);
        Self { own, other, part: (packet - AROUND_BURST) as usize, ..Self::default() }
    }

    pub(super) const fn is_of(&self, packet: &Packet<'_>) -> bool {
        packet.header.source == self.other && packet.header.destination == self.own
    }

    pub(super) const fn keep_delay(&mut self, delay: u32) {
        self.delay = if delay < MOST_DELAY { delay } else { MOST_DELAY };
    }

    /// Lengthen the packet interval if the last burst lost fragments; otherwise shorten it.
    pub(super) const fn adapt_delay(&mut self) {
        let longer = self.delay + LONGER_DELAY;
        let longer = if longer < MOST_DELAY { longer } else { MOST_DELAY };
        self.delay = if self.is_lossy { longer } else { self.delay * 7 / 8 };
        self.is_lossy = false;
    }

    /// Send a body from its start. `numbers`: of the burst, and of the acknowledged one.
    pub(super) fn begin(&mut self, now: Instant, numbers: (u16, u16), body: &[u8]) {
        self.body.clear();
        self.body.extend_from_slice(body);
        self.ranges.clear();
        self.ranges.push_back((0, body.len()));
        (self.numbers, self.next_at) = (numbers, now);
    }

    pub(super) fn say_end(&mut self) {
        if self.ranges.is_empty() && !self.body.is_empty() {
            let end = self.body.len();
            self.ranges.push_back(((end - 1) / self.part * self.part, end));
        }
    }

    pub(super) fn send_missing(&mut self, packet: &Packet<'_>) {
        self.is_lossy = true;
        for Fragment { offset, length } in packet.missing() {
            let start = (offset as usize).min(self.body.len());
            let end = (start + usize::from(length)).min(self.body.len());
            if start < end
                && self.ranges.len() < MOST_RANGES
                && !self.ranges.iter().any(|range| range.0 <= start && end <= range.1)
            {
                self.ranges.push_back((start, end));
            }
        }
    }

    pub(super) fn is_heard(&mut self) {
        self.body = Vec::new();
        self.ranges.clear();
    }

    pub(super) fn due(&self) -> Option<Instant> {
        if self.ranges.is_empty() { None } else { Some(self.next_at) }
    }

    pub(super) fn send_due(&mut self, now: Instant, mut push: impl FnMut(&[u8])) {
        let mut packet = Vec::new();
        while self.next_at <= now
            && let Some((start, end)) = self.ranges.pop_front()
        {
            let part_end = end.min(start + self.part);
            if part_end < end {
                self.ranges.push_front((part_end, end));
            }
            let flags = if self.ranges.is_empty() { flag::END } else { 0 };
            let total = self.body.len() as u32;
            let header = Header { total, offset: start as u32, ..self.header(flags, self.numbers) };
            packet.clear();
            header.emit(&[], &self.body[start..part_end], &mut packet);
            push(&packet);
            self.next_at = now.plus_nanos(u64::from(self.delay) * DELAY_NS);
        }
    }

    fn header(&mut self, flags: u8, (burst, ack): (u16, u16)) -> Header {
        let packet = self.packets;
        self.packets = self.packets.wrapping_add(1);
        let Self { own: source, other: destination, delay, .. } = *self;
        Header { flags, source, destination, packet, delay, burst, ack, ..Header::default() }
    }

    pub(super) fn say_busy(&mut self, numbers: (u16, u16), push: impl FnOnce(&[u8])) {
        let mut packet = Vec::new();
        self.header(flag::SYSTEM | flag::BUSY, numbers).emit(&[], &[], &mut packet);
        push(&packet);
    }

    pub(super) fn ask_for_missing(&mut self, numbers: (u16, u16), push: impl FnOnce(&[u8])) {
        let Some(got) = &self.got else { return };
        let missing = got.missing();
        self.is_lossy = true;
        let mut packet = Vec::new();
        self.header(flag::SYSTEM | flag::MISSING, numbers).emit(&missing, &[], &mut packet);
        push(&packet);
    }

    pub(super) const fn has_begun(&self) -> bool {
        self.got.is_some()
    }

    pub(super) fn forget(&mut self) {
        self.got = None;
    }

    pub(super) fn take(&mut self, packet: &Packet<'_>) -> Taken {
        let total = packet.header.total as usize;
        if total == 0 || total > MOST_BURST as usize || packet.data.is_empty() {
            return Taken::Nothing;
        }
        let got = self.got.get_or_insert_with(|| Got { body: vec![0; total], ranges: Vec::new() });
        if got.body.len() != total || !got.take(packet.header.offset as usize, packet.data) {
            return Taken::Nothing;
        }
        if got.ranges != [(0, total)] {
            return Taken::More;
        }
        self.got.take().map_or(Taken::Nothing, |got| Taken::Whole(got.body))
    }
}

impl Got {
    fn take(&mut self, start: usize, data: &[u8]) -> bool {
        let end = start + data.len();
        let is_known = self.ranges.iter().any(|range| range.0 <= start && end <= range.1);
        let is_next = self.ranges.iter().any(|range| range.0 <= end && start <= range.1);
        if is_known || !is_next && self.ranges.len() >= MOST_RANGES {
            return false;
        }
        self.body[start..end].copy_from_slice(data);
        let (mut first, mut last) = (start, end);
        self.ranges.retain(|range| {
            let touches = range.0 <= last && first <= range.1;
            if touches {
                (first, last) = (first.min(range.0), last.max(range.1));
            }
            !touches
        });
        let at = self.ranges.partition_point(|range| range.0 < first);
        self.ranges.insert(at, (first, last));
        true
    }

    fn missing(&self) -> Vec<Fragment> {
        let starts = std::iter::once(0).chain(self.ranges.iter().map(|range| range.1));
        let ends = self.ranges.iter().map(|range| range.0).chain([self.body.len()]);
        let gaps = starts.zip(ends).filter(|(start, end)| start < end);
        let list = gaps.map(|(start, end)| Fragment {
            offset: start as u32,
            length: u16::try_from(end - start).unwrap_or(u16::MAX),
        });
        list.collect()
    }
}

const _: () = assert!(SMALLEST_PACKET > AROUND_BURST && AROUND_BURST as usize > HEADER_LEN);

#[cfg(test)]
mod tests {
    use super::*;

    /// The body that arrives, and the number of packets sent, if packets with the `lost` numbers vanish.
    fn carried(body: &[u8], lost: &[usize]) -> (Vec<u8>, usize) {
        let longest = 1_500;
        let (mut from, mut to) =
            (Burst::new((1, 2), 600, longest), Burst::new((2, 1), 600, longest));
        from.begin(Instant::ZERO, (0, 0), body);
        let mut count = 0;
        for _ in 0..20 {
            let mut packets = vec![];
            from.send_due(Instant::ZERO, |packet| packets.push(packet.to_vec()));
            let mut asked = vec![];
            for octets in packets {
                count += 1;
                if lost.contains(&(count - 1)) {
                    continue;
                }
                let packet = Packet::parse(&octets).unwrap();
                assert!(to.is_of(&packet) && !from.is_of(&packet));
                if let Taken::Whole(got) = to.take(&packet) {
                    return (got, count);
                }
                if packet.header.flags & flag::END != 0 {
                    to.ask_for_missing((0, 0), |packet| asked.push(packet.to_vec()));
                }
            }
            match asked.last() {
                Some(octets) => from.send_missing(&Packet::parse(octets).unwrap()),
                None => from.say_end(),
            }
        }
        panic!("not whole after {count} packets");
    }

    #[test]
    fn only_lost_fragments_are_resent() {
        let body: Vec<u8> = (0..3_000_u32).map(|at| (at * 7) as u8).collect();
        // Six packets of 534 bytes.
        assert_eq!(carried(&body, &[]), (body.clone(), 6));
        assert_eq!(carried(&body, &[1, 2, 4]), (body.clone(), 9));
        assert_eq!(carried(&body, &[5]), (body.clone(), 7), "the end itself");
        // The last part is resent, with every missing part.
        assert_eq!(carried(&body, &[0, 1, 2, 3, 4, 5]), (body.clone(), 12));
    }

    #[test]
    fn invalid_fragments_change_nothing() {
        let mut burst = Burst::new((1, 2), 0, 1_500);
        let part = |offset, total, data: &[u8]| {
            let mut octets = vec![];
            Header { total, offset, ..Header::default() }.emit(&[], data, &mut octets);
            octets
        };
        let mut take = |octets: Vec<u8>| burst.take(&Packet::parse(&octets).unwrap());
        assert_eq!(take(part(0, MOST_BURST + 1, &[1])), Taken::Nothing, "too long");
        assert_eq!(take(part(1, 400, &[1, 2])), Taken::More);
        assert_eq!(take(part(1, 400, &[3])), Taken::Nothing, "known");
        assert_eq!(take(part(0, 300, &[3])), Taken::Nothing, "of another length");
        for at in 1..400 {
            let more = take(part(at * 3, 400.max(at * 3 + 1), &[1]));
            let expected = if at as usize <= MOST_RANGES { Taken::More } else { Taken::Nothing };
            assert_eq!(more, expected, "{at}");
        }
        let mut asked = vec![];
        burst.ask_for_missing((0, 0), |packet| asked.extend_from_slice(packet));
        assert_eq!(Packet::parse(&asked).unwrap().missing().count(), MOST_RANGES + 1);
    }

    #[test]
    fn the_packet_gap_grows_only_with_losses() {
        let mut burst = Burst::new((1, 2), 600, 1_500);
        burst.is_lossy = true;
        burst.adapt_delay();
        assert_eq!(burst.delay, LONGER_DELAY);
        burst.begin(Instant::ZERO, (0, 0), &[1; 1_000]);
        let mut count = 0;
        burst.send_due(Instant::ZERO, |_| count += 1);
        assert_eq!((count, burst.due()), (1, Some(Instant::from_nanos(1_000_000))));
        burst.send_due(Instant::from_nanos(1_000_000), |_| count += 1);
        assert_eq!((count, burst.due()), (2, None));
        burst.adapt_delay();
        assert_eq!(burst.delay, 8);
        burst.keep_delay(u32::MAX);
        assert_eq!(burst.delay, MOST_DELAY);
    }

    fn due(burst: &mut Burst, at_ns: u64) -> Vec<(Header, Vec<u8>)> {
        let mut all = vec![];
        burst.send_due(Instant::from_nanos(at_ns), |octets| {
            let packet = Packet::parse(octets).unwrap();
            all.push((packet.header, packet.data.to_vec()));
        });
        all
    }

    #[test]
    fn each_packet_has_its_offset_and_the_last_one_is_marked() {
        let body: Vec<u8> = (0..1_068_u32).map(|at| (at * 7) as u8).collect();
        let mut burst = Burst::new((1, 2), 600, 1_500);
        assert_eq!(burst.due(), None);
        burst.begin(Instant::ZERO, (7, 8), &body);
        let sent = due(&mut burst, 0);
        assert_eq!(sent.len(), 2);
        for (index, (header, data)) in sent.iter().enumerate() {
            let at = 534 * index;
            let ids = (header.source, header.destination, header.burst, header.ack);
            assert_eq!((ids, header.packet), ((1, 2, 7, 8), index as u32));
            assert_eq!((header.total, header.offset as usize), (1_068, at));
            assert_eq!(header.flags, if index == 1 { flag::END } else { 0 });
            assert_eq!(data[..], body[at..at + 534]);
        }
        // The last part is resent once, and not at all after the other end has it.
        burst.say_end();
        burst.say_end();
        let sent = due(&mut burst, 0);
        assert_eq!((sent.len(), sent[0].0.offset, sent[0].1.len()), (1, 534, 534));
        assert_eq!((sent[0].0.flags, sent[0].0.packet), (flag::END, 2));
        burst.is_heard();
        burst.say_end();
        assert_eq!((burst.due(), due(&mut burst, 0).len()), (None, 0));
        // A resend of the last part does not duplicate queued parts.
        burst.keep_delay(10);
        burst.begin(Instant::ZERO, (8, 8), &body[..600]);
        assert_eq!(due(&mut burst, 0).len(), 1);
        burst.say_end();
        assert_eq!(due(&mut burst, 999_999).len(), 0);
        assert_eq!(due(&mut burst, 1_000_000).len(), 1);
        assert_eq!(burst.due(), None);
    }

    #[test]
    fn busy_replies_and_missing_lists_are_sent() {
        let mut burst = Burst::new((1, 2), 600, 1_500);
        let mut said = vec![];
        burst.ask_for_missing((3, 3), |packet| said.push(packet.to_vec()));
        assert!(said.is_empty(), "nothing has begun to come");
        burst.say_busy((3, 4), |packet| said.push(packet.to_vec()));
        let mut octets = vec![];
        Header { total: 100, offset: 10, ..Header::default() }.emit(&[], &[1; 20], &mut octets);
        assert!(!burst.has_begun());
        assert_eq!(burst.take(&Packet::parse(&octets).unwrap()), Taken::More);
        assert!(burst.has_begun());
        burst.ask_for_missing((3, 3), |packet| said.push(packet.to_vec()));
        let [busy, missing] = [0, 1].map(|at: usize| Packet::parse(&said[at]).unwrap());
        assert_eq!((busy.header.flags, busy.missing().count()), (0x88, 0));
        assert_eq!((busy.header.burst, busy.header.ack), (3, 4));
        assert_eq!(missing.header.flags, 0xc0);
        let list: Vec<_> = missing.missing().map(|one| (one.offset, one.length)).collect();
        assert_eq!(list, [(0, 10), (30, 70)]);
        burst.forget();
        assert!(!burst.has_begun());
    }

    /// Parts that a client reports missing are sent once, at most 64 of them.
    #[test]
    fn only_requested_fragments_are_resent() {
        let mut burst = Burst::new((1, 2), 600, 1_500);
        burst.begin(Instant::ZERO, (0, 0), &[1; 1_000]);
        due(&mut burst, 0);
        let ask = |burst: &mut Burst, list: &[(u32, u16)]| {
            let list: Vec<_> =
                list.iter().map(|&(offset, length)| Fragment { offset, length }).collect();
            let mut octets = vec![];
            Header { flags: 0xc0, ..Header::default() }.emit(&list, &[], &mut octets);
            burst.send_missing(&Packet::parse(&octets).unwrap());
            let sent = due(burst, 0);
            sent.iter().map(|one| (one.0.offset, one.1.len())).collect::<Vec<_>>()
        };
        let asked = [(100, 50), (100, 50), (110, 40), (100, 60), (990, 50), (1_000, 9), (5, 0)];
        assert_eq!(ask(&mut burst, &asked), [(100, 50), (100, 60), (990, 10)]);
        assert_eq!(ask(&mut burst, &[(0, 1_000)]), [(0, 534), (534, 466)]);
        let many: Vec<_> = (0..70).map(|at| (2 * at, 1)).collect();
        assert_eq!(ask(&mut burst, &many).len(), MOST_RANGES);
    }

    #[test]
    fn the_time_between_packets_grows_to_20_ms_and_shrinks_by_an_eighth() {
        let mut burst = Burst::new((1, 2), 600, 1_500);
        for step in 1..=25 {
            burst.is_lossy = true;
            burst.adapt_delay();
            assert_eq!(burst.delay, (10 * step).min(200));
        }
        for expected in [175, 153, 133, 116] {
            burst.adapt_delay();
            assert_eq!(burst.delay, expected);
        }
        for (asked, kept) in [(199, 199), (200, 200), (201, 200), (3, 3)] {
            burst.keep_delay(asked);
            assert_eq!(burst.delay, kept);
        }
    }

    #[test]
    fn received_and_missing_ranges_are_exact() {
        let mut chance = 1_u64;
        let mut below = |end: usize| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (chance >> 33) as usize % end
        };
        for total in [1, 2, 30, 200] {
            for _ in 0..50 {
                let body: Vec<u8> = (0..total).map(|at| (at * 11 + 3) as u8).collect();
                let (mut burst, mut is_there) =
                    (Burst::new((1, 2), 600, 1_500), vec![false; total]);
                loop {
                    let start = below(total);
                    let end = (start + 1 + below(9)).min(total);
                    let mut octets = vec![];
                    let (all, offset) = (total as u32, start as u32);
                    Header { total: all, offset, ..Header::default() }.emit(
                        &[],
                        &body[start..end],
                        &mut octets,
                    );
                    let is_new = is_there[start..end].contains(&false);
                    is_there[start..end].fill(true);
                    let taken = burst.take(&Packet::parse(&octets).unwrap());
                    if !is_there.contains(&false) {
                        assert_eq!(taken, Taken::Whole(body));
                        break;
                    }
                    assert_eq!(taken, if is_new { Taken::More } else { Taken::Nothing });
                    let mut asked = vec![];
                    burst.ask_for_missing((0, 0), |packet| asked = packet.to_vec());
                    let mut missing = vec![false; total];
                    for one in Packet::parse(&asked).unwrap().missing() {
                        let range =
                            one.offset as usize..one.offset as usize + usize::from(one.length);
                        assert!(
                            one.length > 0 && missing[range.clone()].iter().all(|found| !found)
                        );
                        missing[range].fill(true);
                    }
                    assert!(missing.iter().zip(&is_there).all(|(missing, there)| missing != there));
                }
            }
        }
        // The longest burst is accepted; a longer or empty one is not.
        for (total, data, expected) in [
            (MOST_BURST, &[1][..], Taken::More),
            (MOST_BURST + 1, &[1], Taken::Nothing),
            (9, &[], Taken::Nothing),
        ] {
            let mut octets = vec![];
            Header { total, ..Header::default() }.emit(&[], data, &mut octets);
            let mut burst = Burst::new((1, 2), 600, 1_500);
            assert_eq!(burst.take(&Packet::parse(&octets).unwrap()), expected);
        }
    }
}
