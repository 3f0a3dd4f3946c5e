//! All flows of a sender together.

use lanlab_os::Usage;
use lanlab_workloads::measure::DistributionMeter;
use lanlab_workloads::stream::{Plan, Sent, SharedMeters};

use super::flow_threads::ThreadUsage;
use super::worst_end;
use crate::host::cpu_time;
use crate::messages::{CpuTime, Distribution, Failure, FlowSent, HostWindow, StreamSent};

/// CPU time of sending threads.
pub fn cpu_of(threads: &[SharedMeters<ThreadUsage>]) -> CpuTime {
    cpu_time(threads.iter().fold(Usage::default(), |all, thread| all.plus(thread.usage.used())))
}

/// All flows of a sender together, and the failure that their end is, if it is one.
pub fn sum_up<U>(
    plan: &Plan,
    flows: Vec<Sent>,
    threads: &[SharedMeters<U>],
    cpu: CpuTime,
    host: Option<HostWindow>,
) -> (StreamSent, Option<Failure>) {
    let (ended_by, failure) = worst_end(flows.iter().map(|flow| flow.ended_by));
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
    (sent, failure)
}

/// The gaps of all flows; `None` where nothing was paced.
fn gaps<U>(threads: &[SharedMeters<U>]) -> Option<Distribution> {
    let mut all = DistributionMeter::new();
    for thread in threads {
        all.add(&thread.gap);
    }
    (all.samples() > 0).then(|| all.finish())
}
