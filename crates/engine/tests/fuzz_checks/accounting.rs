//! What a receiver counts.

use std::net::{IpAddr, Ipv4Addr};

use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, Message, Token};
use lanlab_workloads::handshake::Acceptor;
use lanlab_workloads::measure::IntervalMeter;

use super::Feed;
use crate::messages::{
    Amount, ClockRelation, Io, Receive, SocketOptions, StreamSpec, Timestamps, Transport, WhenLate,
};
use crate::workloads::stream::plan as checked;
use lanlab_workloads::stream::{Arrival, Heard, Incoming, Meters, Plan};

const TOKEN: Token = Token([7; 16]);

fn plan(feed: &mut Feed) -> Option<Plan> {
    let size = [1, 2, 3, 4, 11, 12, 23, 24, 48, 64, 200][feed.u8() as usize % 11];
    let amount = match feed.u8() % 4 {
        0 => Amount::Messages(1 + u64::from(feed.u8())),
        1 => Amount::Bytes(1 + feed.number() % (1 << 50)),
        _ => Amount::TimeNs(1_000_000 + feed.number() % 1_000_000_000),
    };
    let spec = StreamSpec {
        transport: Transport::Udp,
        message_size_bytes: size,
        amount,
        rate: None,
        flows: 1,
        threads: None,
        io: Io::Single,
        receive: Receive::Block,
        read_bytes: 1,
        when_late: WhenLate::CatchUp,
        timestamps: Timestamps::Program,
        socket: SocketOptions::default(),
        warmup_ns: u64::from(feed.u8() % 3) * 1_000_000,
        drain_ns: 50_000_000,
        interval_ns: 1_000_000 + feed.number() % 1_000_000_000,
        silence_ns: 1_000_000_000,
    };
    checked(&spec).ok()
}

/// A datagram: one of the stream, one of the session, or any octets.
fn datagram(feed: &mut Feed, plan_bytes: usize, near: u64) -> Vec<u8> {
    match feed.u8() {
        octet @ 0..=159 => {
            let sequence = match octet {
                0..=79 => near,
                80..=119 => near.saturating_add(feed.number()),
                120..=149 => near.saturating_sub(u64::from(feed.u8())),
                _ => feed.number(),
            };
            let session = TOKEN.short() ^ u32::from(feed.u8() == 255);
            let header = Header { flow: 0, session, sequence, send_time_ns: feed.number() };
            let mut message = vec![0; plan_bytes];
            Layout::of(plan_bytes).emit(&header, &mut message);
            message
        }
        160..=209 => {
            let (first, second) = (feed.number(), feed.number());
            let kind = match feed.u8() % 5 {
                0 => Kind::Mark { first_measured: first },
                1 => Kind::Finish { first_measured: first, sent_messages: second },
                2 => Kind::Alive { received_messages: first },
                3 => Kind::Prove { cookie: first, nonce: second },
                _ => Kind::Hello { nonce: first },
            };
            Message { token: TOKEN, flow: u16::from(feed.u8() == 255), kind }.emit().to_vec()
        }
        _ => {
            let length = feed.u8() as usize;
            feed.take(length).to_vec()
        }
    }
}

/// Any datagrams at any times: each is counted once and in one place, the parts add up to the whole,
/// and what is answered is shorter than what came.
///
/// # Panics
/// If that does not hold.
pub fn tally(octets: &[u8]) {
    let mut feed = Feed::new(octets);
    let Some(plan) = plan(&mut feed) else { return };
    let start = Instant::from_nanos(1_000_000_000);
    let mut acceptor = Acceptor::new(TOKEN, 0, 1);
    let peer = (IpAddr::V4(Ipv4Addr::LOCALHOST), 9).into();
    let hello = Message { token: TOKEN, flow: 0, kind: Kind::Hello { nonce: 1 } };
    if let Some(Kind::Challenge { cookie }) =
        acceptor.handle(&hello, peer, start).map(|challenge| challenge.kind)
    {
        let kind = Kind::Prove { cookie, nonce: 1 };
        assert!(acceptor.handle(&Message { kind, ..hello }, peer, start).is_some());
    }
    let clock = ClockRelation { offset_ns: feed.number().cast_signed(), error_ns: 0 };
    let mut meters = Meters::<()>::new(&plan, (feed.u8() > 127).then_some(clock));
    let mut incoming = Incoming::new(&plan, TOKEN, 0, acceptor, start);
    let (mut now, mut given, mut said, mut near) = (start, 0_u64, 0_u64, 0_u64);
    while !feed.is_empty() {
        let step = feed.u8();
        now = now.plus_nanos(if step < 250 { u64::from(step) * 10_000 } else { feed.number() });
        let arrival = Arrival { at: now, drops: feed.u8().into() };
        let datagram = datagram(&mut feed, plan.message_bytes, near);
        given += 1;
        match incoming.take(&datagram, arrival, now, &mut meters) {
            Heard::Counted => {}
            Heard::Said(kind) | Heard::SentAll(kind) => {
                said += 1;
                assert!(kind.message_len() < datagram.len(), "{kind:?} is shorter");
                let known = matches!(
                    kind,
                    Kind::Marked { .. } | Kind::Finished { .. } | Kind::Accept { .. }
                );
                assert!(known, "{kind:?}");
            }
        }
        if step.is_multiple_of(8) {
            incoming.flush(&mut meters);
        }
        near = incoming.counter.expected();
    }
    incoming.flush(&mut meters);
    let _ = incoming.end(now);
    let _ = incoming.counter.is_complete();
    incoming.counter.close(now, Some(feed.u8().into()), &mut meters);
    let counts = &incoming.counter.counts;
    let placed = counts.total_messages
        + counts.duplicate_messages
        + counts.stale_messages
        + counts.foreign_datagrams
        + said;
    // What is left are words of the session that are not answered.
    assert!(placed <= given, "{counts:?} of {given}");
    assert!(counts.measured_messages + counts.overdue_messages <= counts.total_messages);
    assert!(counts.reordered_messages <= counts.total_messages);
    assert!(counts.window_messages <= counts.total_messages);
    let bytes = plan.message_bytes as u64;
    assert_eq!(counts.window_bytes, counts.window_messages * bytes);
    let intervals = IntervalMeter::merge(vec![meters.intervals.clone()], true);
    assert_eq!(intervals.messages.iter().sum::<u64>(), counts.total_messages);
    assert_eq!(intervals.bytes.iter().sum::<u64>(), counts.total_messages * bytes);
    assert!(intervals.messages.len() <= 1_200, "a bounded number of bins");
    // What was sent after the newest that arrived comes on top.
    let missing = i128::from(incoming.counter.expected()) - i128::from(counts.total_messages);
    let lost: i128 = intervals.lost_messages.iter().map(|lost| i128::from(*lost)).sum();
    let is_countable = i64::try_from(incoming.counter.expected()).is_ok();
    assert!(!is_countable || lost >= missing, "{lost} lost of {missing} that did not arrive");
    assert!(meters.one_way_delay.samples() <= counts.measured_messages);
    // Writing a histogram takes a hundred times what all else here takes.
    if octets.len().is_multiple_of(64) {
        let _ = meters.one_way_delay.finish();
    }
}
