//! Receiving flows over the small stack.

use lanlab_os as os;
use lanlab_stack::ip::small::READ_BYTES;
use lanlab_stack::ip::{ConnectionId, Received as Read};
use lanlab_units::Instant;
use lanlab_workloads::measure::IntervalMeter;
use lanlab_workloads::stream::{ByteCounter, CpuMeter as _, Threads, sum_up_bytes};

use super::at_link::AtLink;
use super::{LOOK_NS, finish};
use crate::messages::{EndedBy, Failure, PeerStreamed};
use crate::running::Running;
use crate::workloads::stream::Plan;
use crate::workloads::stream::flow_threads::ThreadUsage;

/// Receive all flows from `start` on, until the amount has arrived.
pub fn receive(
    plan: &Plan,
    at_link: &mut AtLink,
    connections: &[ConnectionId],
    running: &Running,
    start: Instant,
) -> Result<PeerStreamed, Failure> {
    let mut flows: Vec<_> =
        connections.iter().map(|&id| (id, ByteCounter::new(plan, start), None)).collect();
    let mut intervals = IntervalMeter::new(plan.interval_ns);
    let mut usage = ThreadUsage::default();
    let (mut receive_calls, mut buffer) = (0, [0; READ_BYTES]);
    let latest_end = plan.latest_end(start);
    let mut is_cancelled = running.wait_to_begin(start).is_none();
    // A peer sends as soon as it is connected.
    at_link.arrive(os::monotonic())?;
    for (id, counter, _) in &mut flows {
        let now = os::monotonic();
        counter.begin(at_link.framed.station.interface.readable_bytes(*id) as u64, now);
    }
    while !is_cancelled && flows.iter().any(|(_, _, ended_by)| ended_by.is_none()) {
        let mut now = os::monotonic();
        let mut has_more = at_link.arrive(now)?;
        for (id, counter, ended_by) in &mut flows {
            // What the window can hold is read before it is acknowledged.
            while ended_by.is_none() {
                now = os::monotonic();
                *ended_by = match at_link.framed.station.interface.receive(now, *id, &mut buffer) {
                    Read::Bytes(bytes) => {
                        if counter.is_measuring(now) {
                            usage.begin();
                        }
                        receive_calls += 1;
                        has_more = true;
                        let messages = counter.count(bytes as u64, now, &mut intervals);
                        running.count(messages, bytes as u64);
                        counter.has_amount(now).then_some(EndedBy::Finished)
                    }
                    Read::End => Some(counter.end_of_peer(now)),
                    Read::Broken => Some(EndedBy::PeerClosed),
                    Read::Nothing if counter.has_amount(now) => Some(EndedBy::Finished),
                    Read::Nothing if counter.quiet_ns(now) > plan.tcp_silence_ns() => {
                        Some(EndedBy::Silence)
                    }
                    Read::Nothing => break,
                };
                if ended_by.is_some() {
                    // The sender may never end.
                    at_link.framed.station.interface.abort(now, *id);
                }
            }
        }
        at_link.depart(now)?;
        if now > latest_end {
            return Err(lanlab_workloads::went_on_too_long());
        }
        is_cancelled = running.is_cancelled();
        if !has_more {
            at_link.wait(now, now.plus_nanos(LOOK_NS))?;
        }
    }
    usage.end();
    let now = os::monotonic();
    let receive_buffer_bytes = at_link.receive_buffer_bytes() as u64;
    let mut received = Vec::new();
    for (id, counter, ended_by) in flows {
        at_link.framed.station.interface.abort(now, id);
        let ended_by = ended_by.unwrap_or(EndedBy::Cancelled);
        received.push(counter.finish(ended_by, receive_buffer_bytes, now));
    }
    for (flow, tcp) in received.iter_mut().zip(finish(at_link, connections)?) {
        flow.facts.tcp = Some(tcp);
    }
    let threads = Threads { receive_calls, intervals: vec![intervals], cpu: usage.used };
    let received = Some(sum_up_bytes(plan, received, threads, None));
    Ok(PeerStreamed { received, ..PeerStreamed::default() })
}
