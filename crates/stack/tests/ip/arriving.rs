//! Segments that may come from a stranger who sees nothing of the connection (RFC 5961), and when data are acknowledged.

use std::net::IpAddr;

use lanlab_stack::ip::small::{Asked, Facts};
use lanlab_stack::ip::{
    ConnectionId, FramedStation, Interface, Received, Station, StationConfig, TcpProfile,
};
use lanlab_units::Instant;

use super::pair::{ADDRESSES, MACS, RECEIVER, hosts};
use super::segments::{ACK, FIN, RST, SYN, acknowledgement, read, segment, segment_with};
use super::{PORT, profile};

const PSH: u8 = 8;
const SECOND_NS: u64 = 1_000_000_000;
/// Option of a SYN: the largest segment of Ethernet.
const MSS_1460: [u8; 4] = [2, 4, 0x05, 0xb4];

/// An interface with a connection that the peer has opened with number 500, and its own initial number.
struct Opened {
    host: Interface,
    id: ConnectionId,
    first: u32,
    family: usize,
    /// The last window announced.
    window: u16,
}

impl Opened {
    fn new(tcp: &TcpProfile, family: usize) -> Self {
        let mut host = hosts(tcp, 7).into_iter().nth(RECEIVER).unwrap();
        host.listen(PORT);
        let id = ConnectionId(0);
        let mut opened = Self { host, id, first: 0, family, window: 0 };
        let syn = segment_with(family, PORT, SYN, [500, 0], &MSS_1460, b"");
        opened.host.handle_frame(Instant::ZERO, &syn);
        let answer = opened.sent(0);
        opened.first = answer[0].0[0];
        assert_eq!(opened.answers(0, ACK, [501, opened.first + 1], b""), []);
        assert!(opened.host.is_open(opened.id));
        opened
    }

    fn sent(&mut self, at_ns: u64) -> Vec<([u32; 2], u8)> {
        let now = Instant::from_nanos(at_ns);
        self.host.handle_timeout(now);
        let (mut frame, mut all) = (vec![], vec![]);
        while self.host.poll_transmit(now, &mut frame) {
            // Options of a SYN are no data.
            let (_, _, numbers, flags) = read(&frame[14..]);
            let window = [48, 68][self.family];
            self.window = u16::from_be_bytes([frame[window], frame[window + 1]]);
            all.push((numbers, flags));
        }
        all
    }

    fn answers(
        &mut self,
        at_ns: u64,
        flags: u8,
        numbers: [u32; 2],
        data: &[u8],
    ) -> Vec<([u32; 2], u8)> {
        let frame = segment(self.family, PORT, flags, numbers, data);
        self.host.handle_frame(Instant::from_nanos(at_ns), &frame);
        self.sent(at_ns)
    }

    /// Bytes that the program gets; it reads all.
    fn reads(&mut self, at_ns: u64) -> usize {
        let (mut all, mut buffer) = (0, [0; 4096]);
        while let Received::Bytes(bytes) =
            self.host.receive(Instant::from_nanos(at_ns), self.id, &mut buffer)
        {
            all += bytes;
        }
        all
    }

    fn is_open(&self) -> bool {
        self.host.is_open(self.id)
    }
}

/// RFC 5961, 3.2.
#[test]
fn only_a_reset_with_the_expected_number_ends_a_connection() {
    for family in [0, 1] {
        for (before, flags) in [(&b""[..], RST), (b"data", RST | ACK)] {
            let next = 501 + before.len() as u32;
            let opened = || {
                let mut opened = Opened::new(&profile(8192), family);
                let ack = opened.first + 1;
                opened.answers(0, ACK, [501, ack], before);
                opened
            };
            for ahead in [1, 2, 1_000, 8_191 - before.len() as u32] {
                let mut opened = opened();
                let ack = opened.first + 1;
                let said = opened.answers(SECOND_NS, flags, [next + ahead, ack], b"");
                assert!(said.contains(&([ack, next], ACK)), "{ahead}: {said:?}");
                assert!(opened.is_open(), "{ahead} ahead");
                // The genuine peer answers that with the next number.
                opened.answers(SECOND_NS, RST, [next, 0], b"");
                assert!(!opened.is_open() && opened.host.is_over(opened.id));
            }
            for outside in [next - 1, next.wrapping_sub(1_000), next + 8_192, next + (1 << 30)] {
                let mut opened = opened();
                opened.sent(SECOND_NS);
                assert_eq!(opened.answers(2 * SECOND_NS, flags, [outside, 0], b""), []);
                assert!(opened.is_open(), "{outside}");
            }
        }
    }
}

/// RFC 5961, 4.2: any number will do. A peer that has begun anew answers with a reset.
#[test]
fn a_syn_on_an_open_connection_is_only_acknowledged() {
    for (number, flags) in
        [(501, SYN), (600, SYN), (9, SYN), (1 << 31, SYN | ACK), (501, SYN | FIN)]
    {
        let mut opened = Opened::new(&profile(8192), 0);
        let ack = opened.first + 1;
        assert_eq!(opened.answers(0, flags, [number, ack], b"data"), [([ack, 501], ACK)]);
        assert!(opened.is_open());
        assert_eq!(opened.reads(0), 0);
        opened.answers(0, ACK, [501, ack], b"data");
        assert_eq!(opened.reads(0), 4);
    }
}

/// RFC 5961, 5.2: data with such an acknowledgement are not taken.
#[test]
fn segments_with_invalid_acknowledgements_are_answered_and_dropped() {
    let mut opened = Opened::new(&profile(8192), 0);
    let next = opened.first + 1;
    let now = Instant::from_nanos(0);
    assert_eq!(opened.host.send(now, opened.id, &[1; 3_000]), 3_000);
    opened.sent(0);
    // The initial window is less than that: the answer has the number after what was sent.
    let up_to = opened.answers(SECOND_NS, ACK, [501, next + 3_000], b"data")[0].0[0];
    assert!((next + 536..next + 3_000).contains(&up_to), "{}", up_to - next);
    for (at_s, ack) in [(3, up_to + 1), (5, next - 8_193), (7, next + (1 << 31))] {
        let said = opened.answers(at_s * SECOND_NS, ACK, [501, ack], b"data");
        assert!(said.iter().any(|one| one.0[1] == 501 && one.1 & ACK > 0), "{ack}: {said:?}");
        assert_eq!((opened.reads(0), opened.is_open()), (0, true), "{ack}");
        assert_eq!(opened.host.facts(opened.id).unacknowledged_bytes, 3_000);
    }
    opened.answers(20 * SECOND_NS, ACK, [501, up_to], b"data");
    assert_eq!(opened.reads(20 * SECOND_NS), 4);
}

/// RFC 5961, 7.
#[test]
fn a_thousand_forged_segments_are_answered_once_a_second() {
    let mut opened = Opened::new(&profile(8192), 0);
    let mut answered = 0;
    for number in 0..1_000_u32 {
        let flags = [RST, SYN, ACK][number as usize % 3];
        let ack = opened.first + 1 + (1 << 30);
        // Two seconds in all.
        let at_ns = u64::from(number) * SECOND_NS / 500;
        answered += opened.answers(at_ns, flags, [510 + number, ack], b"").len();
    }
    assert!((2..=3).contains(&answered), "{answered}");
    assert!(opened.is_open());
}

/// When each segment of 1,460 bytes came from SPDTEST of mTCP 2013 (`FreeDOS`, NE2000), µs, until the sender stalled: it
/// sends again after 160 ms what was not acknowledged.
const MTCP_US: [u64; 50] = [
    25920, 26165, 26362, 26554, 26746, 37094, 37342, 43539, 46202, 46430, 46624, 46815, 57708,
    58489, 58696, 58899, 59092, 59294, 72012, 80575, 80798, 80995, 82351, 82580, 86193, 86430,
    86623, 86812, 94254, 97652, 102_195, 102_415, 102_612, 102_805, 110_911, 112_746, 112_979,
    121_290, 121_629, 121_840, 133_006, 133_378, 138_260, 138_484, 138_680, 146_350, 146_608,
    146_846, 148_955, 154_417,
];

#[test]
fn pushed_segments_of_mtcp_are_acknowledged_in_pairs_or_after_1_ms() {
    let mut opened = Opened::new(&TcpProfile::small(&Asked::default()).unwrap(), 0);
    let ack = opened.first + 1;
    let mut acknowledged = vec![];
    for (number, at_us) in (0..).zip(MTCP_US) {
        let at_ns = at_us * 1_000;
        if let Some(due) = opened.host.poll_timeout().filter(|due| due.as_nanos() < at_ns) {
            let said = opened.sent(due.as_nanos());
            acknowledged.extend(said.into_iter().map(|said| (due.as_nanos(), said.0[1])));
        }
        let first = 501 + 1_460 * number;
        let mut said = opened.answers(at_ns, PSH | ACK, [first, ack], &[32; 1_460]);
        assert_eq!(opened.reads(at_ns), 1_460);
        said.extend(opened.sent(at_ns));
        acknowledged.extend(said.into_iter().map(|said| (at_ns, said.0[1])));
    }
    for (number, at_us) in (0..49).zip(MTCP_US) {
        let until = at_us * 1_000 + 1_000_000;
        let is_covered = |said: &(u64, u32)| said.0 <= until && said.1 > 501 + 1_460 * number;
        assert!(acknowledged.iter().any(is_covered), "segment {number}: {acknowledged:?}");
    }
    assert!((25..=40).contains(&acknowledged.len()), "{acknowledged:?}");
}

/// As in the capture, it sends full segments about 200 µs apart. It reads the window only once all of them are acknowledged,
/// and begins again about 6 ms later.
#[test]
fn the_default_window_gives_mtcp_0_8_of_the_rate_to_linux() {
    const SEGMENT_NS: u64 = 200_000;
    const PAUSE_NS: u64 = 6_000_000;
    const LINUX_SEGMENTS: u64 = 64_240 / 1_460;
    let mut opened = Opened::new(&TcpProfile::small(&Asked::default()).unwrap(), 0);
    let ack = opened.first + 1;
    let (mut at_ns, mut segments, mut acknowledged) = (0, 0, 501);
    while segments < 20 * LINUX_SEGMENTS {
        for _ in 0..opened.window / 1_460 {
            at_ns += SEGMENT_NS;
            let first = 501 + 1_460 * segments as u32;
            let mut said = opened.answers(at_ns, PSH | ACK, [first, ack], &[32; 1_460]);
            assert_eq!(opened.reads(at_ns), 1_460);
            said.extend(opened.sent(at_ns));
            acknowledged = said.last().map_or(acknowledged, |said| said.0[1]);
            segments += 1;
        }
        while acknowledged < 501 + 1_460 * segments as u32 {
            at_ns = opened.host.poll_timeout().unwrap().as_nanos();
            acknowledged = opened.sent(at_ns).last().map_or(acknowledged, |said| said.0[1]);
        }
        at_ns += PAUSE_NS;
    }
    let linux_ns = segments * (SEGMENT_NS + PAUSE_NS / LINUX_SEGMENTS);
    assert!(10 * linux_ns >= 8 * at_ns, "{linux_ns} of {at_ns} ns");
}

#[test]
fn single_segments_are_acknowledged_after_40_ms_unless_pushed() {
    let mut opened = Opened::new(&TcpProfile::small(&Asked::default()).unwrap(), 0);
    let ack = opened.first + 1;
    let mut at_ns = 0;
    // Nothing has come before the first. A pause is as long as the delay.
    for (number, (pause_ns, flags, waits)) in
        [(0, 0, false), (39_000_000, 0, true), (79_000_000, 0, false), (0, PSH, false)]
            .into_iter()
            .enumerate()
    {
        at_ns += pause_ns;
        let first = 501 + 100 * number as u32;
        let said = opened.answers(at_ns, ACK | flags, [first, ack], &[0; 100]);
        let acknowledged = [([ack, first + 100], ACK)];
        if waits {
            assert_eq!(said, []);
            assert_eq!(opened.sent(at_ns + 39_000_000), []);
            assert_eq!(opened.sent(at_ns + 40_000_000), acknowledged);
        } else {
            assert_eq!(said, acknowledged, "segment {number}");
        }
        opened.reads(at_ns);
    }
}

/// SPDTEST of mTCP 2013 sends five segments and reads the window only once all are acknowledged. If it then reads 2,352
/// bytes, its next burst is a single segment.
#[test]
fn segments_read_together_get_one_acknowledgement_with_the_whole_window() {
    let tcp = TcpProfile::small(&Asked::default()).unwrap();
    let IpAddr::V4(address) = ADDRESSES[RECEIVER][0] else { panic!("IPv6") };
    let config =
        StationConfig { mac: MACS[RECEIVER], address, peer: None, tcp, connections: 1, seed: 7 };
    let station = Station::new(config, Instant::ZERO);
    let mut framed = FramedStation::new(station, Facts::new(tcp, 1_000_000));
    framed.station.interface.listen(PORT);
    let arrive = |framed: &mut FramedStation, frames: &[Vec<u8>]| {
        let mut coming = frames.iter();
        let receive = |into: &mut [u8]| {
            let next = coming.next();
            next.map_or(Ok::<_, ()>(None), |frame| {
                into[..frame.len()].copy_from_slice(frame);
                Ok(Some(frame.len()))
            })
        };
        framed.take_all(|| Instant::ZERO, 64, receive).unwrap()
    };
    // Numbers and window of each segment sent.
    let leave = |framed: &mut FramedStation| {
        let mut all = vec![];
        let send = |frame: &[u8]| {
            if frame[12..14] == [8, 0] {
                let window = u16::from_be_bytes([frame[48], frame[49]]);
                all.push((read(&frame[14..]).2, window));
            }
            Ok::<_, ()>(true)
        };
        framed.send(Instant::ZERO, send).unwrap();
        all
    };
    let syn = segment_with(0, PORT, SYN, [500, 0], &MSS_1460, b"");
    assert_eq!(arrive(&mut framed, &[syn]), 1);
    let ack = leave(&mut framed)[0].0[0] + 1;
    let data = |number: u32| segment(0, PORT, PSH | ACK, [501 + 1_460 * number, ack], &[32; 1_460]);
    arrive(&mut framed, &[segment(0, PORT, ACK, [501, ack], b"")]);
    leave(&mut framed);
    assert_eq!(arrive(&mut framed, &[0, 1, 2, 3, 4].map(data)), 5);
    assert_eq!(framed.station.interface.readable_bytes(ConnectionId(0)), 7_300);
    let mut into = [0; 8_760];
    let interface = &mut framed.station.interface;
    let read = interface.receive(Instant::ZERO, ConnectionId(0), &mut into);
    assert_eq!(read, Received::Bytes(7_300));
    assert_eq!(framed.station.interface.readable_bytes(ConnectionId(0)), 0);
    assert_eq!(leave(&mut framed), [([ack, 7_801], 64_240)]);
    // A segment after a gap is answered before the next one is taken.
    assert_eq!(arrive(&mut framed, &[6, 5, 7].map(data)), 1);
    assert_eq!(leave(&mut framed), [([ack, 7_801], 64_240)]);
}

/// RFC 9293, 3.8.6.2.1. FTP of mTCP 2013 acknowledges each segment, and announces 8,192 bytes without that segment. Of 2,380
/// segments in a capture, 1,439 were short (24, 240, 304 bytes ...).
#[test]
fn small_windows_are_filled_with_whole_segments() {
    let asked = Asked { no_delay: true, ..Asked::default() };
    let mut opened = Opened::new(&TcpProfile::small(&asked).unwrap(), 0);
    let (data, mut accepted, mut segments, mut frame) = (vec![32; 146_000], 0, 0, vec![]);
    let mut unanswered = std::collections::VecDeque::new();
    loop {
        accepted += opened.host.send(Instant::ZERO, opened.id, &data[accepted..]);
        while opened.host.poll_transmit(Instant::ZERO, &mut frame) {
            let bytes = u16::from_be_bytes([frame[16], frame[17]]) - 40;
            unanswered.push_back((read(&frame[14..]).2[0] + u32::from(bytes), bytes));
            segments += 1;
        }
        let Some((number, bytes)) = unanswered.pop_front() else { break };
        let answer = acknowledgement(PORT, [501, number], 8_192 - bytes);
        opened.host.handle_frame(Instant::ZERO, &answer);
    }
    assert_eq!((accepted, opened.host.facts(opened.id).unacknowledged_bytes), (146_000, 0));
    // Short are only those at the end of the initial window and of the ring.
    assert!(segments <= 112, "{segments}");
}

/// SPDTEST serves one connection: if nobody ends it, it waits for ever.
#[test]
fn abandoned_connections_are_reset_once() {
    let mut opened = Opened::new(&profile(8192), 0);
    let number = opened.first + 1;
    opened.host.abort_all(Instant::ZERO);
    assert_eq!(opened.sent(0), [([number, 501], RST | ACK)]);
    opened.host.abort_all(Instant::ZERO);
    assert_eq!(opened.sent(0), []);
}
