//! Results of a sender's or receiver's flows, combined.

use super::{Counts, Meters, Plan, Sent, SharedMeters};
use crate::measure::{DelayVariationMeter, DistributionMeter, IntervalMeter};
use crate::messages::{
    CpuTime, Distribution, EndedBy, FlowReceived, FlowSent, HostWindow, StreamReceived, StreamSent,
};

pub fn worst_end(ends: impl Iterator<Item = EndedBy>) -> EndedBy {
    let rank = |ended: EndedBy| match ended {
        EndedBy::Finished => 0,
        EndedBy::Unconfirmed => 1,
        EndedBy::Silence => 2,
        EndedBy::PeerClosed => 3,
        EndedBy::Failed => 4,
        EndedBy::Cancelled => 5,
    };
    ends.max_by_key(|ended| rank(*ended)).unwrap_or(EndedBy::Finished)
}

pub fn sum_up_sent<U>(
    plan: &Plan,
    flows: Vec<Sent>,
    threads: &[SharedMeters<U>],
    cpu: CpuTime,
    host: Option<HostWindow>,
) -> StreamSent {
    let ended_by = worst_end(flows.iter().map(|flow| flow.ended_by));
    let sum = |count: fn(&Sent) -> u64| flows.iter().map(count).sum::<u64>();
    let max = |count: fn(&Sent) -> u64| flows.iter().map(count).max().unwrap_or(0);
    let mut sent = StreamSent {
        ended_by,
        io: plan.io,
        io_choice: plan.io_choice.clone(),
        threads: threads.len() as u64,
        burst_messages: plan.group as u64,
        start_skew_ns: flows.iter().map(|flow| flow.start_skew_ns).max().unwrap_or(0),
        elapsed_ns: max(|flow| flow.elapsed_ns),
        offered_messages: sum(|flow| flow.offered_messages),
        sent_messages: sum(|flow| flow.sent_messages),
        refused_messages: sum(|flow| flow.refused_messages),
        refused_retried: sum(|flow| flow.refused_retried),
        total_refused: sum(|flow| flow.total_refused),
        unsent_messages: sum(|flow| flow.unsent_messages),
        skipped_messages: sum(|flow| flow.skipped_messages),
        late_messages: sum(|flow| flow.late_messages),
        max_lateness_ns: max(|flow| flow.max_lateness_ns),
        back_to_back_messages: sum(|flow| flow.back_to_back_messages),
        gap: gaps(threads),
        blocked_ns: sum(|flow| flow.blocked_ns),
        paused_ns: max(|flow| flow.paused_ns),
        total_messages: sum(|flow| flow.total_messages),
        send_buffer_bytes: max(|flow| flow.send_buffer_bytes),
        cpu,
        host,
        flows: Vec::new(),
    };
    sent.flows = flows
        .into_iter()
        .map(|flow| FlowSent {
            local_port: flow.local_port,
            first_measured: flow.first_measured,
            offered_messages: flow.offered_messages,
            sent_messages: flow.sent_messages,
            tcp: flow.tcp,
        })
        .collect();
    sent
}

/// The gaps of all flows; `None` if nothing was paced.
fn gaps<U>(threads: &[SharedMeters<U>]) -> Option<Distribution> {
    let mut all = DistributionMeter::default();
    for thread in threads {
        all.add(&thread.gap);
    }
    (all.samples() > 0).then(|| all.finish())
}

pub fn sum_up_datagrams<U>(
    plan: &Plan,
    flows: Vec<(EndedBy, Counts)>,
    meters: &[Meters<U>],
    cpu: CpuTime,
    (read_bytes, receive_buffer_bytes): (u64, u64),
    host: Option<HostWindow>,
) -> StreamReceived {
    let ended_by = worst_end(flows.iter().map(|(ended_by, _)| *ended_by));
    let flows: Vec<Counts> = flows.into_iter().map(|(_, counts)| counts).collect();
    let sum = |count: fn(&Counts) -> u64| flows.iter().map(count).sum::<u64>();
    let mut one_way_delay = DistributionMeter::default();
    for thread in meters {
        one_way_delay.add(&thread.one_way_delay);
    }
    StreamReceived {
        ended_by,
        io: plan.io,
        receive: plan.receive,
        receive_choice: plan.receive_choice.clone(),
        threads: meters.len() as u64,
        timestamps: plan.timestamps,
        read_bytes,
        window_ns: flows.iter().map(|flow| flow.window_ns).max().unwrap_or(0),
        window_messages: sum(|flow| flow.window_messages),
        window_bytes: sum(|flow| flow.window_bytes),
        measured_messages: sum(|flow| flow.measured_messages),
        overdue_messages: sum(|flow| flow.overdue_messages),
        socket_dropped_datagrams: flows.iter().map(|flow| flow.socket_dropped).sum(),
        receive_calls: meters.iter().map(|thread| thread.receive_calls).sum(),
        mark_seen: flows.iter().all(|flow| flow.first_measured.is_some()),
        duplicate_messages: sum(|flow| flow.duplicate_messages),
        reordered_messages: sum(|flow| flow.reordered_messages),
        stale_messages: sum(|flow| flow.stale_messages),
        foreign_datagrams: sum(|flow| flow.foreign_datagrams),
        total_messages: sum(|flow| flow.total_messages),
        total_bytes: sum(|flow| flow.total_messages) * plan.message_bytes as u64,
        delay_variation: DelayVariationMeter::merge(
            meters.iter().map(|thread| &thread.delay_variation),
        ),
        one_way_delay: (one_way_delay.samples() > 0).then(|| one_way_delay.finish()),
        intervals: IntervalMeter::merge(
            meters.iter().map(|thread| thread.intervals.clone()).collect(),
            true,
        ),
        receive_buffer_bytes,
        cpu,
        host,
        flows: flows
            .into_iter()
            .map(|flow| FlowReceived {
                window_bytes: flow.window_bytes,
                window_ns: flow.window_ns,
                measured_messages: flow.measured_messages,
                tcp: None,
            })
            .collect(),
    }
}

pub struct Threads {
    pub receive_calls: u64,
    pub intervals: Vec<IntervalMeter>,
    pub cpu: CpuTime,
}

pub fn sum_up_bytes(
    plan: &Plan,
    flows: Vec<ReceivedBytes>,
    threads: Threads,
    host: Option<HostWindow>,
) -> StreamReceived {
    let ended_by = worst_end(flows.iter().map(|flow| flow.ended_by));
    let size = plan.message_bytes as u64;
    let sum = |count: fn(&ReceivedBytes) -> u64| flows.iter().map(count).sum::<u64>();
    let (window_bytes, total_bytes) = (sum(|f| f.facts.window_bytes), sum(|f| f.total_bytes));
    StreamReceived {
        ended_by,
        io: plan.io,
        receive: plan.receive,
        receive_choice: plan.receive_choice.clone(),
        threads: threads.intervals.len() as u64,
        read_bytes: plan.read_bytes as u64,
        window_ns: flows.iter().map(|flow| flow.facts.window_ns).max().unwrap_or(0),
        window_messages: window_bytes / size,
        window_bytes,
        measured_messages: sum(|flow| flow.facts.measured_messages),
        receive_calls: threads.receive_calls,
        mark_seen: true,
        total_messages: total_bytes / size,
        total_bytes,
        intervals: IntervalMeter::merge(threads.intervals, false),
        receive_buffer_bytes: flows.iter().map(|f| f.receive_buffer_bytes).max().unwrap_or(0),
        cpu: threads.cpu,
        host,
        flows: flows.into_iter().map(|flow| flow.facts).collect(),
        ..StreamReceived::default()
    }
}

pub struct ReceivedBytes {
    pub ended_by: EndedBy,
    pub total_bytes: u64,
    pub receive_buffer_bytes: u64,
    pub facts: FlowReceived,
}
