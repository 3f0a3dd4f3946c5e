//! Valid and invalid plans, and the end of each.

use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use lanlab_os::{DatagramOptions, DatagramSocket, Readiness};
use lanlab_units::Instant;
use lanlab_workloads::stream::{CpuMeter, OVERTIME_NS, Sent, SharedMeters, sum_up_sent};

use super::flow_threads::{Flow, ThreadUsage, cpu_of};
use super::*;
use crate::messages::{CpuTime, Receive, ReceiverLoad, SocketOptions, WhenLate};
use crate::output::Output;
use crate::running::Running;
use proptest::prelude::*;

pub fn spec(amount: Amount, rate: Option<Rate>, size: u32, flows: u16) -> StreamSpec {
    StreamSpec {
        transport: Transport::Tcp,
        message_size_bytes: size,
        amount,
        rate,
        flows,
        threads: None,
        io: Io::Auto,
        receive: Receive::Auto,
        read_bytes: 1,
        when_late: WhenLate::CatchUp,
        timestamps: Timestamps::Program,
        socket: SocketOptions::default(),
        warmup_ns: 600_000_000_000,
        drain_ns: 60_000_000_000,
        interval_ns: 1_000_000,
        silence_ns: 600_000_000_000,
    }
}

#[test]
fn overflowing_sums_are_refused() {
    let refused = |amount, rate, size| plan(&spec(amount, rate, size, 1000)).is_err();
    let most = Amount::Messages(1 << 40);
    assert!(refused(most, None, 1 << 24), "a tebi-message of 16 MiB");
    assert!(!refused(most, None, 1024));
    let day = Amount::TimeNs(LONGEST_NS);
    assert!(refused(day, Some(Rate::Bps(1)), 1 << 24), "a message in four years");
    assert!(refused(day, Some(Rate::Bps(400_000_000_000)), 1), "50 thousand million a second");
    assert!(!refused(day, Some(Rate::Bps(400_000_000_000)), 1500));
}

/// A stream of 100-byte messages, measured for a second without warm-up.
pub fn plain(transport: Transport) -> StreamSpec {
    StreamSpec {
        transport,
        warmup_ns: 0,
        drain_ns: 0,
        silence_ns: 100_000_000,
        ..spec(Amount::TimeNs(1_000_000_000), None, 100, 1)
    }
}

pub fn running() -> Running {
    Running::new(1, Output::new(io::sink()))
}

pub fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (near, listener.accept().unwrap().0)
}

/// A socket of this program, and its peer's; either sends to the other.
pub fn datagram_pair() -> (DatagramSocket, UdpSocket) {
    let near =
        DatagramSocket::bind(([127, 0, 0, 1], 0).into(), &DatagramOptions::default()).unwrap();
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    far.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    near.plain().connect(far.local_addr().unwrap()).unwrap();
    far.connect(near.plain().local_addr().unwrap()).unwrap();
    (near, far)
}

pub fn work_for(cpu_ns: u64) {
    let until_ns = lanlab_os::thread_cpu_ns() + cpu_ns;
    while lanlab_os::thread_cpu_ns() < until_ns {
        std::hint::spin_loop();
    }
}

/// Close a connection so that the other end sees a reset.
pub fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(stream);
}

/// Check that a ready flow is watched on request, and no longer after its end.
pub fn assert_watched_until_forgotten(flow: &impl Flow) {
    let mut readiness = Readiness::new(2).unwrap();
    flow.watch(&readiness, 7).unwrap();
    let ready: Vec<usize> = readiness.wait(Duration::from_secs(10)).unwrap().collect();
    assert_eq!(ready, [7]);
    flow.watch(&readiness, 7).unwrap();
    flow.forget(&readiness).unwrap();
    assert_eq!(readiness.wait(Duration::ZERO).unwrap().count(), 0);
}

#[test]
fn a_total_amount_is_divided_among_flows() {
    let messages = |amount, flows| {
        plan(&StreamSpec { amount, flows, ..plain(Transport::Tcp) }).unwrap().messages()
    };
    // 1001 bytes are 11 messages of 100: four for each of three flows.
    assert_eq!(messages(Amount::Bytes(1_001), 3), Some(4));
    assert_eq!(messages(Amount::Bytes(1_000), 2), Some(5));
    assert_eq!(
        [messages(Amount::Messages(7), 3), messages(Amount::Messages(6), 3)],
        [Some(3), Some(2)]
    );
    assert_eq!(messages(Amount::TimeNs(1_000_000), 3), None);
}

#[test]
fn values_are_allowed_up_to_their_bounds() {
    let is_allowed = |spec: &StreamSpec| plan(spec).is_ok();
    let with = |change: &dyn Fn(&mut StreamSpec)| {
        let mut spec = plain(Transport::Tcp);
        change(&mut spec);
        is_allowed(&spec)
    };
    assert_eq!(
        [0, 1, 1000, 1001].map(|flows| with(&|s| s.flows = flows)),
        [false, true, true, false]
    );
    assert_eq!([0, 1, 64, 65].map(|t| with(&|s| s.threads = Some(t))), [false, true, true, false]);
    let most = 16 << 20;
    assert_eq!(
        [0, 1, most, most + 1].map(|b| with(&|s| s.read_bytes = b)),
        [false, true, true, false]
    );
    let drains = [0, 60_000_000_000, 60_000_000_001];
    assert_eq!(drains.map(|ns| with(&|s| s.drain_ns = ns)), [true, true, false]);
    let widths = [999_999, 1_000_000, 60_000_000_000, 60_000_000_001];
    assert_eq!(widths.map(|ns| with(&|s| s.interval_ns = ns)), [false, true, true, false]);
    let times = [999_999, 1_000_000, LONGEST_NS, LONGEST_NS + 1];
    let by_time = |ns| with(&|s| s.amount = Amount::TimeNs(ns));
    assert_eq!(times.map(by_time), [false, true, true, false]);
    let by_bytes = |bytes| with(&|s| s.amount = Amount::Bytes(bytes));
    assert_eq!([0, 1, 1 << 50, (1 << 50) + 1].map(by_bytes), [false, true, true, false]);
    // A pebibyte in messages of 4096 bytes, and 2⁴⁰ small ones.
    let messages =
        |size, count| with(&|s| (s.message_size_bytes, s.amount) = (size, Amount::Messages(count)));
    assert_eq!([messages(4_096, 1 << 38), messages(4_096, (1 << 38) + 1)], [true, false]);
    assert_eq!([messages(1, 1 << 40), messages(1, (1 << 40) + 1)], [true, false]);
    let rate = |rate| with(&|s| s.rate = Some(Rate::MessagesPerS(rate)));
    // Rates are precise to a thousandth.
    assert_eq!([0.0004, 0.0005, 1e8, 1.1e8].map(rate), [false, true, true, false]);
    let bps = |bps| with(&|s| (s.rate, s.message_size_bytes) = (Some(Rate::Bps(bps)), 9_000));
    assert_eq!([0, 100, 400_000_000_000, 400_000_000_001].map(bps), [false, true, true, false]);
}

#[test]
fn slow_rates_are_not_silence_and_are_divided_among_flows() {
    let silence_ms = |rate: f64, flows| {
        let rate = Some(Rate::MessagesPerS(rate));
        let plan = plan(&StreamSpec { rate, flows, ..plain(Transport::Tcp) }).unwrap();
        plan.silence_ns / 1_000_000
    };
    // Three periods of half a second each; twice that with two flows.
    assert_eq!(
        [silence_ms(2.0, 1), silence_ms(2.0, 2), silence_ms(1_000.0, 1)],
        [1_500, 3_000, 100]
    );
}

#[test]
fn messages_go_in_groups_as_large_as_the_rate_needs() {
    let group = |transport, io, rate: Option<f64>, flows, size| {
        let rate = rate.map(Rate::MessagesPerS);
        let spec = StreamSpec { io, rate, flows, message_size_bytes: size, ..plain(transport) };
        plan(&spec).map(|plan| plan.group).ok()
    };
    let (udp, tcp) = (Transport::Udp, Transport::Tcp);
    // One call carries the messages of a 50,000th of a second.
    for (rate, expected) in [(50_000.0, 1), (50_001.0, 2), (200_000.0, 4), (9e6, 64)] {
        assert_eq!(group(udp, Io::Auto, Some(rate), 1, 100), Some(expected), "{rate}");
    }
    assert_eq!(group(udp, Io::Auto, Some(200_000.0), 4, 100), Some(1));
    assert_eq!(group(udp, Io::Auto, None, 1, 100), Some(64));
    assert_eq!(group(udp, Io::Batch, None, 1, 100), Some(64));
    assert_eq!(group(udp, Io::Single, None, 1, 100), Some(1));
    assert_eq!(group(udp, Io::Single, Some(200_000.0), 1, 100), Some(1));
    assert_eq!(group(tcp, Io::Auto, None, 1, 100), Some(1));
    // As many segments as 65,000 bytes hold, up to 64.
    assert_eq!(group(udp, Io::Segment, None, 1, 1_472), Some(44));
    assert_eq!(group(udp, Io::Segment, None, 1, 100), Some(64));
    assert_eq!(group(udp, Io::Segment, None, 1, 65_001), Some(1));
    assert_eq!(group(tcp, Io::Segment, None, 1, 100), None);
}

#[test]
fn automatic_senders_keep_the_gaps_of_a_rate() {
    let reason_of = |transport, rate: Option<f64>, group: Option<usize>| {
        let rate = rate.map(Rate::MessagesPerS);
        let spec = StreamSpec { rate, ..plain(transport) };
        let mut plan = plan(&spec).unwrap();
        plan.group = group.unwrap_or(plan.group);
        choose_sending(&mut plan, &spec);
        (plan.io, plan.group, plan.io_choice.unwrap().reason)
    };
    let (tcp, udp) = (Transport::Tcp, Transport::Udp);
    let one_write = || "over TCP a message is one write".to_owned();
    assert_eq!(reason_of(tcp, None, None), (Io::Single, 1, one_write()));
    assert_eq!(reason_of(tcp, Some(1_000.0), None), (Io::Single, 1, one_write()));
    let even = || "single messages keep the gaps of a rate even".to_owned();
    assert_eq!(reason_of(udp, Some(1_000.0), Some(1)), (Io::Single, 1, even()));
    assert_eq!(reason_of(udp, None, Some(1)), (Io::Single, 1, even()));
    let fast = "no system call a message keeps up with this rate".to_owned();
    assert_eq!(reason_of(udp, Some(200_000.0), Some(4)), (Io::Batch, 4, fast));
    let many = "without a rate, a system call sends many messages".to_owned();
    assert_eq!(reason_of(udp, None, Some(64)), (Io::Batch, 64, many));
    let spec = StreamSpec { io: Io::Single, ..plain(Transport::Udp) };
    let mut plan = plan(&spec).unwrap();
    choose_sending(&mut plan, &spec);
    assert!(plan.io_choice.is_none(), "it was asked for");
}

#[test]
fn automatic_receivers_read_in_batches() {
    let chosen = |transport, io, receive| {
        let rate = Some(Rate::MessagesPerS(1_000.0));
        let spec = StreamSpec { io, receive, rate, flows: 4, ..plain(transport) };
        let mut plan = plan(&spec).unwrap();
        choose_receiving(&mut plan, &spec);
        (plan.io, plan.receive, plan.receive_choice.map(|choice| choice.reason))
    };
    let (udp, tcp) = (Transport::Udp, Transport::Tcp);
    assert_eq!(chosen(udp, Io::Auto, Receive::Poll), (Io::Batch, Receive::Poll, None));
    assert_eq!(chosen(tcp, Io::Auto, Receive::Spin), (Io::Single, Receive::Spin, None));
    assert_eq!(chosen(udp, Io::Single, Receive::Block), (Io::Single, Receive::Block, None));
}

#[test]
fn a_receiver_left_to_the_engine_blocks_up_to_20_000_messages_per_s() {
    let chosen = |transport, rate: Option<f64>, receive_buffer_bytes| {
        let socket = SocketOptions { receive_buffer_bytes, ..Default::default() };
        let rate = rate.map(Rate::MessagesPerS);
        // The rate is the total of all flows.
        let spec =
            StreamSpec { receive: Receive::Auto, rate, flows: 4, socket, ..plain(transport) };
        let mut plan = plan(&spec).unwrap();
        choose_receiving(&mut plan, &spec);
        (plan.receive, plan.receive_choice.unwrap().reason)
    };
    let (udp, tcp) = (Transport::Udp, Transport::Tcp);
    let few = "20000 messages/s are few: it waits in the system's call".to_owned();
    assert_eq!(chosen(udp, Some(20_000.0), None), (Receive::Block, few));
    let many = "20001 messages/s are many: each poll reads several".to_owned();
    assert_eq!(chosen(udp, Some(20_001.0), None), (Receive::Poll, many));
    let most = "without a rate, each poll reads many messages".to_owned();
    assert_eq!(chosen(tcp, None, Some(8_192)), (Receive::Poll, most.clone()));
    assert_eq!(chosen(udp, None, Some(65_536)), (Receive::Poll, most));
    let small = "a buffer of 65535 bytes overflows between two polls".to_owned();
    assert_eq!(chosen(udp, None, Some(65_535)), (Receive::Block, small));
}

#[test]
fn a_segmented_buffer_holds_up_to_64_messages() {
    assert_eq!((segments_at_once(1408), segments_at_once(64)), (46, 64));
}

pub fn to_receive(spec: StreamSpec) -> StreamReceive {
    StreamReceive {
        spec,
        bind: [127, 0, 0, 1].into(),
        port: 0,
        last_port: 0,
        peer: [127, 0, 0, 1].into(),
        session: "000102030405060708090a0b0c0d0e0f".into(),
        processor: None,
        load: ReceiverLoad::default(),
        sender_clock: None,
    }
}

fn to_send(spec: StreamSpec, ports: &[u16]) -> StreamSend {
    StreamSend {
        spec,
        bind: None,
        peer: [127, 0, 0, 1].into(),
        ports: ports.to_vec(),
        session: "000102030405060708090a0b0c0d0e0f".into(),
        processor: None,
    }
}

#[test]
fn rivals_need_a_receiver_with_a_fixed_processor() {
    let request = |rivals, processor| StreamReceive {
        load: ReceiverLoad { rivals, ..Default::default() },
        processor,
        ..to_receive(plain(Transport::Udp))
    };
    let is_allowed = |rivals, processor| receive(request(rivals, processor)).is_ok();
    assert!(is_allowed(0, None) && is_allowed(0, Some(0)));
    assert!(!is_allowed(1, None));
    assert!(is_allowed(1, Some(0)));
    let threads = |rivals| receive(request(rivals, Some(0))).ok().unwrap().cost.threads;
    assert_eq!(threads(3), threads(0) + 3);
}

#[test]
fn a_port_is_needed_for_each_flow_over_udp_and_one_over_tcp() {
    let is_allowed = |transport, flows, ports: &[u16]| {
        send(to_send(StreamSpec { flows, ..plain(transport) }, ports)).is_ok()
    };
    assert!(is_allowed(Transport::Udp, 2, &[7, 8]) && is_allowed(Transport::Tcp, 2, &[7]));
    assert!(!is_allowed(Transport::Udp, 2, &[7]) && !is_allowed(Transport::Tcp, 2, &[7, 8]));
    let request = |transport| StreamReceive { port: 7_000, ..to_receive(plain(transport)) };
    assert_eq!(sockets_of(&request(Transport::Udp), 5), 5);
    assert_eq!(sockets_of(&request(Transport::Tcp), 5), 1);
    let ranged = |last_port| StreamReceive { last_port, ..request(Transport::Udp) };
    assert!(ports_of(&ranged(7_004), 5).check(5).is_ok());
    assert!(ports_of(&ranged(7_003), 5).check(5).is_err());
}

#[test]
fn a_measurement_uses_the_buffers_of_its_io_mode() {
    let of_sender = |transport, io| {
        let spec = StreamSpec { io, threads: Some(1), ..plain(transport) };
        let task = send(to_send(spec, &[7])).ok().unwrap();
        task.cost.memory_bytes - METERS_BYTES - FLOW_BYTES
    };
    assert_eq!(of_sender(Transport::Tcp, Io::Single), 100);
    assert_eq!(of_sender(Transport::Udp, Io::Single), 100);
    assert_eq!(of_sender(Transport::Udp, Io::Batch), 64 * 100);
    let of_receiver = |transport, io| {
        let spec = StreamSpec { io, threads: Some(1), read_bytes: 3_000, ..plain(transport) };
        let buffers = plan(&spec)
            .map(|plan| (udp_receive::buffer_bytes(&plan), udp_receive::read_bytes(&plan)))
            .unwrap();
        let task = receive(to_receive(spec)).ok().unwrap();
        (task.cost.memory_bytes - METERS_BYTES - FLOW_BYTES, buffers)
    };
    assert_eq!(of_receiver(Transport::Tcp, Io::Single).0, 3_000);
    let (single, (buffer, _)) = of_receiver(Transport::Udp, Io::Single);
    assert_eq!(single, buffer as u64);
    let (batch, (_, read)) = of_receiver(Transport::Udp, Io::Auto);
    assert_eq!(batch, 64 * read as u64);
}

#[test]
fn measurement_memory_covers_threads_and_flows() {
    let spec = StreamSpec { flows: 4, threads: Some(2), ..plain(Transport::Tcp) };
    let cost = cost(&plan(&spec).unwrap(), 1_000, 5);
    assert_eq!(cost.memory_bytes, 2 * (1_000 + METERS_BYTES) + 4 * FLOW_BYTES);
    assert_eq!(cost.threads, 2 * 6 + OWN_THREADS);
}

#[test]
fn each_early_end_has_its_failure() {
    for (ended, code) in [
        (EndedBy::Finished, None),
        (EndedBy::Unconfirmed, Some("peer.gone")),
        (EndedBy::Silence, Some("peer.gone")),
        (EndedBy::PeerClosed, Some("peer.gone")),
        (EndedBy::Failed, Some("system.call")),
        (EndedBy::Cancelled, Some("cancelled")),
    ] {
        assert_eq!(failure_of_end(ended).map(|failure| failure.code), code);
    }
}

proptest! {
    /// A day, an hour, and the maxima of warm-up, drain and silence; at a slow rate, the silence is
    /// three periods.
    #[test]
    fn every_plan_has_an_end(amount: u64, in_time: bool, rate_bps: u64, size: u32, flows: u16) {
        let amount = if in_time { Amount::TimeNs(amount) } else { Amount::Bytes(amount) };
        if let Ok(plan) = plan(&spec(amount, Some(Rate::Bps(rate_bps)), size, flows)) {
            let start = Instant::from_nanos(5);
            let longest_ns = plan.latest_end(start).nanos_since(start);
            let slow_ns = 3 * plan.pace.map_or(0, |pace| pace.period_ns());
            prop_assert!(longest_ns <= LONGEST_NS + OVERTIME_NS + 1_260_000_000_000 + slow_ns);
            prop_assert!(cost(&plan, 1 << 24, 16).memory_bytes < 1 << 40);
        }
    }
}

#[test]
fn cpu_time_of_threads_adds_up() {
    let thread = || {
        let mut meters = SharedMeters::<ThreadUsage>::default();
        meters.usage.begin();
        work_for(30_000_000);
        meters.usage.end();
        meters
    };
    let threads = [thread(), thread()];
    let all = cpu_of(threads.iter().map(|thread| &thread.usage));
    let used_ns = |meters: &SharedMeters<ThreadUsage>| meters.usage.used.user_ns;
    assert_eq!(all.user_ns, used_ns(&threads[0]) + used_ns(&threads[1]));
    // The system counts in ticks.
    assert!(all.user_ns + all.system_ns >= 30_000_000, "{all:?}");
}

/// A flow whose counts are `unit` times 1, 2, 3 and so on.
fn flow(unit: u64, ended_by: EndedBy) -> Sent {
    Sent {
        ended_by,
        start_skew_ns: unit.cast_signed(),
        elapsed_ns: 2 * unit,
        offered_messages: 3 * unit,
        sent_messages: 4 * unit,
        refused_messages: 5 * unit,
        refused_retried: 6 * unit,
        total_refused: 7 * unit,
        unsent_messages: 8 * unit,
        skipped_messages: 9 * unit,
        back_to_back_messages: 10 * unit,
        blocked_ns: 11 * unit,
        paused_ns: 12 * unit,
        late_messages: 13 * unit,
        max_lateness_ns: 14 * unit,
        total_messages: 15 * unit,
        first_measured: 16 * unit,
        local_port: unit as u16,
        send_buffer_bytes: 17 * unit,
        tcp: None,
    }
}

#[test]
fn counts_of_flows_add_up_and_of_times_the_longest_counts() {
    let plan = plan(&spec(Amount::Messages(7), None, 100, 2)).unwrap();
    let flows = vec![flow(1, EndedBy::Finished), flow(100, EndedBy::Finished)];
    let mut threads = [SharedMeters::<()>::default(), SharedMeters::default()];
    let paced = sum_up_sent(&plan, Vec::new(), &threads, CpuTime::default(), None);
    assert!(paced.gap.is_none(), "nothing was paced");
    threads[0].gap.record(5);
    threads[1].gap.record(7);
    let sent = sum_up_sent(&plan, flows, &threads, CpuTime::default(), None);
    assert!(failure_of_end(sent.ended_by).is_none());
    assert_eq!((sent.ended_by, sent.threads), (EndedBy::Finished, 2));
    let longest = [sent.elapsed_ns, sent.paused_ns, sent.max_lateness_ns, sent.send_buffer_bytes];
    assert_eq!((longest, sent.start_skew_ns), ([200, 1_200, 1_400, 1_700], 100));
    let sums = [
        sent.offered_messages,
        sent.sent_messages,
        sent.refused_messages,
        sent.refused_retried,
        sent.total_refused,
        sent.unsent_messages,
        sent.skipped_messages,
        sent.back_to_back_messages,
        sent.blocked_ns,
        sent.late_messages,
        sent.total_messages,
    ];
    assert_eq!(sums, [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15].map(|count| 101 * count));
    let gap = sent.gap.expect("gaps");
    assert_eq!((gap.samples, gap.min_ns, gap.max_ns), (2, 5, 7));
    let flow = &sent.flows[1];
    assert_eq!((flow.local_port, flow.first_measured), (100, 1_600));
    assert_eq!((flow.offered_messages, flow.sent_messages), (300, 400));
}
