//! `stream` over UDP.

use lanlab_messages::{ClockRelation, EndedBy, StreamReceived, StreamSent};
use lanlab_stack::ip::{Datagram, Refusal, SocketId};
use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_workloads::measure::DistributionMeter;
use lanlab_workloads::stream::{
    Arrival, Counter, CpuMeter as _, Meters, Run, Schedule, SharedMeters, Step, sum_up_datagrams,
    sum_up_sent,
};

use super::Stream;
use crate::program::Host;
use crate::programs::keys::{datagram_key, room_key};
use crate::programs::{CLIENT_PORT, HostCpuMeter, HostNode};

const SAME_CLOCK: ClockRelation = ClockRelation { offset_ns: 0, error_ns: 0 };
const FLOW: u16 = 0;
const SESSION: u32 = 0;

/// Send all messages of a stream from `host` to `receiver`. A message waits for room in the send buffer.
pub async fn send(
    host: Host<HostNode>,
    receiver: Host<HostNode>,
    stream: Stream,
    buffers: (usize, usize),
) -> Result<StreamSent, Refusal> {
    let socket =
        host.with_node(|node, _| node.ip.interface.bind(CLIENT_PORT, buffers.0, buffers.1))?;
    let plan = &*stream.plan;
    let start = host.now();
    let usage = HostCpuMeter::new(&host);
    let mut meters = SharedMeters { usage, gap: DistributionMeter::default() };
    let mut schedule = Schedule::new(plan, FLOW, &stream.sent, start, CLIENT_PORT);
    let layout = Layout::of(plan.message_bytes);
    let mut message = vec![0; plan.message_bytes];
    let cost = host.send_call();
    let ended_by = loop {
        let now = host.now();
        if stream.sent.is_cancelled() {
            break EndedBy::Cancelled;
        }
        match schedule.next(now, &mut meters) {
            Step::Measure => {
                stream.agreement.first_measured.set(Some(schedule.sent.first_measured));
            }
            Step::Wait(until) => host.clock().sleep_until(until).await,
            Step::Over => break EndedBy::Finished,
            Step::Send(_) => {
                // A message's send time is when its program starts to send it.
                let header = Header {
                    flow: FLOW,
                    session: SESSION,
                    sequence: schedule.sent.total_messages,
                    send_time_ns: now.as_nanos(),
                };
                layout.emit(&header, &mut message);
                host.call(cost, message.len()).await;
                let asked = host.now();
                hand_over(&host, socket, &stream, &message).await?;
                schedule.blocked(asked);
                schedule.tries(host.now());
                schedule.took(1, 1, now, &mut meters);
            }
        }
    };
    schedule.close(host.now(), &mut meters);
    schedule.sent.ended_by = ended_by;
    schedule.sent.send_buffer_bytes = buffers.1 as u64;
    stream.agreement.sent_messages.set(Some(schedule.sent.total_messages));
    stream.notify(&receiver);
    let cpu = meters.usage.used();
    Ok(sum_up_sent(plan, vec![schedule.sent], &[meters], cpu, None))
}

async fn hand_over(
    host: &Host<HostNode>,
    socket: SocketId,
    stream: &Stream,
    message: &[u8],
) -> Result<(), Refusal> {
    let send = |node: &mut HostNode| node.ip.interface.send_datagram(socket, stream.to, message);
    match host.with_node(|node, _| send(node)) {
        Err(Refusal::Full) => {}
        done => return done,
    }
    host.until(room_key(socket), "room in its send buffer", |node, _| match send(node) {
        Err(Refusal::Full) => None,
        done => Some(done),
    })
    .await
}

/// Receive a stream at `host` until its sender has sent everything and it has arrived, or is late.
pub async fn receive(
    host: Host<HostNode>,
    stream: Stream,
    buffers: (usize, usize),
) -> Result<StreamReceived, Refusal> {
    let port = stream.to.port();
    let socket = host.with_node(|node, _| node.ip.interface.bind(port, buffers.0, buffers.1))?;
    stream.agreement.receiver_waits_for.set(Some(datagram_key(socket)));
    let plan = &*stream.plan;
    let start = host.now();
    let mut counter = Counter::new(plan, start);
    let mut meters: Meters<HostCpuMeter> = Meters::new(plan, Some(SAME_CLOCK));
    meters.usage = HostCpuMeter::new(&host);
    let warmup_end = plan.warmup_end(start);
    let layout = Layout::of(plan.message_bytes);
    let cost = host.receive_call();
    let mut message = Vec::new();
    while let Some(bytes) = next_bytes(&host, socket, &stream, &mut counter, start).await {
        host.call(cost, bytes).await;
        let taken =
            host.with_node(|node, _| node.ip.interface.receive_datagram(socket, &mut message));
        let Some(Datagram { drops, .. }) = taken else { continue };
        if host.now() >= warmup_end {
            meters.usage.begin();
        }
        meters.receive_calls += 1;
        if let Some(first_measured) = stream.agreement.first_measured.get() {
            counter.mark(first_measured);
        }
        let Some(header) =
            layout.parse(&message).ok().filter(|_| message.len() == plan.message_bytes)
        else {
            counter.counts.foreign_datagrams += 1;
            continue;
        };
        let run = Run {
            first: layout.extend(header.sequence, counter.expected()),
            count: 1,
            sent_ns: header.send_time_ns,
            arrival: Arrival { at: host.now(), drops },
        };
        stream.received.count(1, message.len() as u64);
        counter.count(run, &mut meters);
    }
    if let Some(first_measured) = stream.agreement.first_measured.get() {
        counter.mark(first_measured);
    }
    meters.usage.end();
    let dropped = host.with_node(|node, _| node.ip.interface.dropped_datagrams() as u32);
    counter.close(host.now(), Some(dropped), &mut meters);
    let cpu = meters.usage.used();
    let read = (plan.message_bytes as u64, buffers.0 as u64);
    let flows = vec![(EndedBy::Finished, counter.counts)];
    Ok(sum_up_datagrams(plan, flows, &[meters], cpu, read, None))
}

/// Wait for a message, and return its size; `None` when the stream is over.
async fn next_bytes(
    host: &Host<HostNode>,
    socket: SocketId,
    stream: &Stream,
    counter: &mut Counter<'_>,
    start: Instant,
) -> Option<usize> {
    loop {
        let waiting = host.with_node(|node, _| node.ip.interface.datagram_bytes(socket));
        if waiting.is_some() {
            return waiting;
        }
        let Some(sent_messages) = stream.agreement.sent_messages.get() else {
            host.until(datagram_key(socket), "a message", |node, _| {
                let came = node.ip.interface.has_datagram(socket);
                (came || stream.agreement.sent_messages.get().is_some()).then_some(())
            })
            .await;
            continue;
        };
        counter.finish(sent_messages, host.now());
        let ends = stream.plan.end(start).or(counter.finished_at).unwrap_or(start);
        if counter.is_complete() {
            return None;
        }
        // A message that arrives at the last moment still counts.
        let end = Some(ends.plus_nanos(stream.plan.drain_ns).plus_nanos(1));
        let look = |node: &mut HostNode, _| node.ip.interface.has_datagram(socket).then_some(());
        host.until_or(datagram_key(socket), "a message", end, look).await?;
    }
}
