//! Combined results of a sender's flows.

use lanlab_os::Usage;
use lanlab_workloads::measure::DistributionMeter;
use lanlab_workloads::stream::{Plan, Sent, SharedMeters};

use super::flow_threads::ThreadUsage;
use super::worst_end;
use crate::host::cpu_time;
use crate::messages::{CpuTime, Distribution, Failure, FlowSent, HostWindow, StreamSent};

pub fn cpu_of<'a>(threads: impl Iterator<Item = &'a ThreadUsage>) -> CpuTime {
    cpu_time(threads.fold(Usage::default(), |all, thread| all.plus(thread.used())))
}

/// Combined results of all flows, and the failure behind their end, if any.
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

/// The gaps of all flows; `None` if nothing was paced.
fn gaps<U>(threads: &[SharedMeters<U>]) -> Option<Distribution> {
    let mut all = DistributionMeter::default();
    for thread in threads {
        all.add(&thread.gap);
    }
    (all.samples() > 0).then(|| all.finish())
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::super::tests::spec;
    use super::*;
    use crate::messages::{Amount, EndedBy};

    #[test]
    fn cpu_time_of_threads_adds_up() {
        use super::super::tests::work_for;
        use lanlab_workloads::stream::CpuMeter;
        let thread = || {
            let mut meters = SharedMeters::<ThreadUsage>::default();
            meters.usage.begin();
            work_for(30_000_000);
            meters.usage.end();
            meters
        };
        let threads = [thread(), thread()];
        let all = cpu_of(threads.iter().map(|thread| &thread.usage));
        let used_ns = |meters: &SharedMeters<ThreadUsage>| meters.usage.used().user_ns;
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
        let paced = sum_up(&plan, Vec::new(), &threads, CpuTime::default(), None).0;
        assert!(paced.gap.is_none(), "nothing was paced");
        threads[0].gap.record(5);
        threads[1].gap.record(7);
        let (sent, failure) = sum_up(&plan, flows, &threads, CpuTime::default(), None);
        assert!(failure.is_none());
        assert_eq!((sent.ended_by, sent.threads), (EndedBy::Finished, 2));
        let longest =
            [sent.elapsed_ns, sent.paused_ns, sent.max_lateness_ns, sent.send_buffer_bytes];
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
}
