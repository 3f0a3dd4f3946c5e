//! The server's results in iperf3's format.

use std::net::TcpStream;
use std::sync::atomic::Ordering;

use lanlab_os as os;
use lanlab_workloads::iperf3::{Asked, flow_number};

use crate::messages::{CpuTime, PeerReport, PeerReportFlow, StreamReceived};
use crate::workloads::stream::acknowledged::Over;
use crate::workloads::stream::peer::iperf3::udp_receive::{Watched, WatchedFlow};

/// If a client's TCP takes longer to acknowledge everything, its program does not read.
pub const ACKNOWLEDGES_WITHIN_NS: u64 = 1_000_000_000;
const LOOK_NS: u64 = 1_000_000;

pub struct Counted<'a> {
    pub asked: &'a Asked,
    pub elapsed_ns: u64,
    pub sent: Option<Over>,
    pub taken: Option<StreamReceived>,
    pub watched: Watched,
}

/// Bytes acknowledged by the clients' TCP before a test; `None` without system support.
pub struct TcpBefore(Vec<Option<u64>>);

impl TcpBefore {
    pub fn of(streams: &[TcpStream]) -> Self {
        let known = |stream| os::tcp_info(stream).ok().map(|info| info.facts.acknowledged_bytes);
        Self(streams.iter().map(known).collect())
    }

    /// Bytes acknowledged per connection since then: once nothing is in flight, or after this time.
    pub fn settled(&self, streams: &[TcpStream], within_ns: u64) -> Vec<Option<u64>> {
        let deadline = os::monotonic().plus_nanos(within_ns);
        let settled = |(before, stream): (&Option<u64>, &TcpStream)| {
            let before = (*before)?;
            loop {
                let info = os::tcp_info(stream).ok()?;
                let is_on_its_way = info.unacknowledged_segments > 0 || info.unsent_bytes > 0;
                if !is_on_its_way || os::monotonic() > deadline {
                    return Some(info.facts.acknowledged_bytes.saturating_sub(before));
                }
                os::sleep_until(os::monotonic().plus_nanos(LOOK_NS));
            }
        };
        self.0.iter().zip(streams).map(settled).collect()
    }
}

/// This end's counts of the measured part; `acknowledged` refers to its own TCP flows.
pub fn report(counted: &Counted, acknowledged: &[Option<u64>]) -> PeerReport {
    let mut flows = received(counted);
    flows.extend(sent(counted, acknowledged));
    for (place, flow) in flows.iter_mut().enumerate() {
        flow.id = flow_number(place);
    }
    let none = CpuTime::default();
    let both = [
        counted.sent.as_ref().map_or(none, |over| over.sent.cpu),
        counted.taken.as_ref().map_or(none, |taken| taken.cpu),
    ];
    let percent = |ns: fn(&CpuTime) -> u64| {
        let all: u64 = both.iter().map(ns).sum();
        100.0 * all as f64 / counted.elapsed_ns.max(1) as f64
    };
    let (user, system) = (percent(|cpu| cpu.user_ns), percent(|cpu| cpu.system_ns));
    let tcp = counted.sent.as_ref().and_then(|over| over.sent.flows.first()?.tcp.as_ref());
    let taken = counted.taken.as_ref().and_then(|taken| taken.flows.first()?.tcp.as_ref());
    PeerReport {
        cpu_util_total: user + system,
        cpu_util_user: user,
        cpu_util_system: system,
        sender_has_retransmits: if tcp.is_some() { 1 } else { -1 },
        congestion_used: tcp.or(taken).and_then(|facts| facts.congestion_control.clone()),
        streams: flows,
    }
}

fn received(counted: &Counted) -> Vec<PeerReportFlow> {
    let Some(taken) = &counted.taken else { return Vec::new() };
    let size = counted.asked.test.message_bytes as u64;
    let end_time = counted.elapsed_ns as f64 / 1e9;
    // Packets and errors cover the whole test; the omitted ones are also listed separately.
    let over_udp = |flow: &WatchedFlow, measured: u64| {
        let total = flow.messages.load(Ordering::Acquire);
        let expected = flow.expected.load(Ordering::Acquire);
        let first = flow.first_measured.load(Ordering::Acquire);
        PeerReportFlow {
            bytes: measured * size,
            packets: expected.cast_signed(),
            omitted_packets: first.cast_signed(),
            errors: expected.saturating_sub(total).cast_signed(),
            omitted_errors: (first + measured).saturating_sub(total).cast_signed(),
            jitter: flow.jitter_ns.load(Ordering::Acquire) as f64 / 1e9,
            retransmits: -1,
            end_time,
            ..PeerReportFlow::default()
        }
    };
    let flows = taken.flows.iter().enumerate().map(|(place, flow)| {
        match counted.watched.flows.get(place) {
            Some(watched) => over_udp(watched, flow.measured_messages),
            None => PeerReportFlow {
                bytes: flow.window_bytes,
                retransmits: -1,
                end_time,
                ..PeerReportFlow::default()
            },
        }
    });
    flows.collect()
}

fn sent(counted: &Counted, acknowledged: &[Option<u64>]) -> Vec<PeerReportFlow> {
    let Some(over) = &counted.sent else { return Vec::new() };
    let size = counted.asked.test.message_bytes as u64;
    let flows = over.sent.flows.iter().enumerate().map(|(place, flow)| {
        // Bytes acknowledged before the measured part do not count.
        let omitted = over.acknowledged.as_ref().map_or(0, |all| {
            let flow = &all.flows[place];
            flow.total_bytes.saturating_sub(flow.window_bytes)
        });
        let known = acknowledged.get(place).copied().flatten();
        let handed_over = flow.sent_messages * size;
        let packets = |all: u64| if flow.tcp.is_none() { all.cast_signed() } else { 0 };
        let retransmits = flow.tcp.as_ref().map(|facts| facts.retransmitted_segments);
        PeerReportFlow {
            bytes: known.map_or(handed_over, |bytes| bytes.saturating_sub(omitted)),
            packets: packets(flow.first_measured + flow.sent_messages),
            omitted_packets: packets(flow.first_measured),
            retransmits: retransmits.map_or(-1, u64::cast_signed),
            // The server stops slightly after the client's message.
            end_time: over.sent.elapsed_ns as f64 / 1e9,
            ..PeerReportFlow::default()
        }
    });
    flows.collect()
}
