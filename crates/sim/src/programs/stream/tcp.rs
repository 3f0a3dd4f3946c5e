//! `stream` over TCP.

use lanlab_messages::{EndedBy, StreamReceived, StreamSent, TcpFacts};
use lanlab_stack::ip::{ConnectionId, Received, Refusal};
use lanlab_workloads::measure::{DistributionMeter, IntervalMeter};
use lanlab_workloads::stream::{
    ByteCounter, CpuMeter as _, Schedule, SharedMeters, Step, Threads, sum_up_bytes, sum_up_sent,
};

use super::Stream;
use crate::program::Host;
use crate::programs::connection::{accept, await_bytes, await_end, connect, tcp_facts, write_all};
use crate::programs::keys::NOTIFIED;
use crate::programs::{CLIENT_PORT, HostCpuMeter, HostNode};

const FLOW: u16 = 0;

/// Open a connection, send all messages of a stream, close it, and wait until the receiver has
/// received everything.
pub async fn send(
    host: Host<HostNode>,
    receiver: Host<HostNode>,
    stream: Stream,
    send_buffer_bytes: usize,
) -> Result<StreamSent, Refusal> {
    let connection = connect(&host, stream.to).await?;
    let plan = &*stream.plan;
    let start = host.now();
    stream.agreement.start.set(Some(start));
    stream.notify(&receiver);
    let usage = HostCpuMeter::new(&host);
    let mut meters = SharedMeters { usage, gap: DistributionMeter::default() };
    let mut schedule = Schedule::new(plan, FLOW, &stream.sent, start, CLIENT_PORT);
    let message = vec![0; plan.message_bytes];
    let cost = host.send_call();
    let mut ended_by = loop {
        let now = host.now();
        if stream.sent.is_cancelled() {
            break EndedBy::Cancelled;
        }
        match schedule.next(now, &mut meters) {
            Step::Measure => {}
            Step::Wait(until) => host.clock().sleep_until(until).await,
            Step::Over => break EndedBy::Finished,
            Step::Send(_) => {
                host.call(cost, message.len()).await;
                let asked = host.now();
                if !write_all(&host, connection, &message).await {
                    break EndedBy::PeerClosed;
                }
                schedule.blocked(asked);
                schedule.tries(host.now());
                schedule.took(1, 1, now, &mut meters);
            }
        }
    };
    schedule.close(host.now(), &mut meters);
    host.with_node(|node, now| node.ip.interface.close(now, connection));
    if ended_by == EndedBy::Finished && !await_end(&host, connection).await {
        ended_by = EndedBy::Unconfirmed;
    }
    schedule.sent.ended_by = ended_by;
    schedule.sent.send_buffer_bytes = send_buffer_bytes as u64;
    schedule.sent.tcp = Some(facts(&host, connection));
    let cpu = meters.usage.used();
    Ok(sum_up_sent(plan, vec![schedule.sent], &[meters], cpu, None))
}

fn facts(host: &Host<HostNode>, connection: ConnectionId) -> TcpFacts {
    tcp_facts(&host.with_node(|node, _| node.ip.interface.facts(connection)))
}

/// Accept a connection and count arriving data until its sender closes it.
pub async fn receive(
    host: Host<HostNode>,
    stream: Stream,
    receive_buffer_bytes: u32,
) -> StreamReceived {
    host.with_node(|node, _| node.ip.interface.listen(stream.to.port()));
    stream.agreement.receiver_waits_for.set(Some(NOTIFIED));
    let connection = accept(&host, stream.to.port()).await;
    let known = |_: &mut HostNode, _| stream.agreement.start.get();
    let start = host.until(NOTIFIED, "the start", known).await;
    let plan = &*stream.plan;
    let mut counter = ByteCounter::new(plan, start);
    let mut intervals = IntervalMeter::new(plan.interval_ns);
    let mut buffer = vec![0; plan.read_bytes.min(MOST_BUFFER_BYTES)];
    let mut usage = HostCpuMeter::new(&host);
    let (mut receive_calls, cost) = (0, host.receive_call());
    let ended_by = loop {
        let what = "bytes of its connection";
        let readable = match await_bytes(&host, connection, buffer.len(), what, None).await {
            Some(Ok(readable)) => readable,
            Some(Err(Received::End)) => break counter.end_of_stream(host.now()),
            Some(Err(_)) | None => break EndedBy::PeerClosed,
        };
        host.call(cost, readable).await;
        let into = &mut buffer[..readable];
        let received = host.with_node(|node, now| node.ip.interface.receive(now, connection, into));
        if let Received::Bytes(bytes) = received {
            receive_calls += 1;
            if counter.is_measuring(host.now()) {
                usage.begin();
            }
            let messages = counter.count(bytes as u64, host.now(), &mut intervals);
            stream.received.count(messages, bytes as u64);
        }
    };
    usage.end();
    let mut flow = counter.finish(ended_by, receive_buffer_bytes.into(), host.now());
    host.with_node(|node, now| node.ip.interface.close(now, connection));
    flow.facts.tcp = Some(facts(&host, connection));
    let threads = Threads { receive_calls, intervals: vec![intervals], cpu: usage.used() };
    sum_up_bytes(plan, vec![flow], threads, None)
}

const MOST_BUFFER_BYTES: usize = 1 << 20;
