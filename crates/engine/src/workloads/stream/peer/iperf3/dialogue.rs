//! A running test: its flows, and the final dialogue that exchanges results.

use std::cell::Cell;
use std::sync::OnceLock;
use std::thread;

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_workloads::iperf3::flow_number;

use super::control::Control;
use crate::messages::{
    EndedBy, Failure, FlowSent, PeerReport, PeerReportFlow, PeerStreamed, StreamReceived,
};
use crate::workloads::stream::Plan;
use crate::workloads::stream::acknowledged::Over;
use crate::workloads::stream::peer::plain::by_the_system;

const LOOK_NS: u64 = 1_000_000;
const READ_NS: u64 = 100_000_000;
/// Data in flight counts as complete after this silence, or after the second of these times in all.
const SETTLED_NS: u64 = 50_000_000;
const MOST_SETTLING_NS: u64 = 3_000_000_000;
/// The server closes its connections within this time after the dialogue.
const CLOSES_NS: u64 = 500_000_000;

pub type Sending = Result<Over, Failure>;
pub type Receiving = Result<(StreamReceived, Option<Failure>), Failure>;

pub struct Flows<'a, S, R> {
    /// Sends until the amount is reached; `None`: nothing to send.
    pub send: Option<S>,
    /// Receives until `close` is called or the server ends; `None`: nothing to receive.
    pub receive: Option<R>,
    pub received: &'a dyn Fn() -> Vec<PeerReportFlow>,
    pub close: &'a dyn Fn(),
}

/// Transfer until the amount is reached in all directions, then exchange results.
pub fn run<S, R>(
    control: &mut Control,
    (plan, start): (&Plan, Instant),
    flows: Flows<S, R>,
) -> Result<(PeerStreamed, Option<Failure>), Failure>
where
    S: FnOnce() -> Sending + Send,
    R: FnOnce() -> Receiving + Send,
{
    let Flows { send, receive, received, close } = flows;
    let (sends, receives) = (send.is_some(), receive.is_some());
    let (sent, taken) = (OnceLock::<Sending>::new(), OnceLock::<Receiving>::new());
    let (report, waited_ns) = thread::scope(|scope| {
        if let Some(send) = send {
            scope.spawn(|| sent.get_or_init(send).is_ok());
        }
        if let Some(receive) = receive {
            scope.spawn(|| taken.get_or_init(receive).is_ok());
        }
        let waited_ns = Cell::new(0);
        let (sent, taken, waited) = (&sent, &taken, &waited_ns);
        let test = Test { plan, start, sends, receives, sent, taken, received, waited };
        let report = test.converse(control);
        if control.has_ended {
            control.running.cancel();
        }
        let closed_by = os::monotonic().plus_nanos(CLOSES_NS);
        let receives = || receives && taken.get().is_none();
        while report.is_ok() && receives() && os::monotonic() < closed_by {
            os::sleep_until(os::monotonic().plus_nanos(LOOK_NS));
        }
        close();
        (report, waited_ns.get())
    });
    let sent = sent.into_inner().transpose()?;
    let taken = taken.into_inner().transpose()?;
    let (report, mut failure) = match report {
        Ok(report) => (Some(report), None),
        Err(failure) => (None, Some(failure)),
    };
    // The server's reason explains why the flows ended.
    let said = failure.clone().filter(|_| control.has_ended);
    let mut streamed = PeerStreamed { report, waited_ns, ..PeerStreamed::default() };
    if let Some(sent) = sent {
        failure = by_the_system(sent.failure).or(failure);
        (streamed.sent, streamed.acknowledged) = (Some(sent.sent), sent.acknowledged);
    }
    if let Some((received, ended)) = taken {
        failure = by_the_system(ended).or(failure);
        streamed.received = Some(received);
    }
    Ok((streamed, said.or(failure)))
}

struct Test<'a> {
    plan: &'a Plan,
    start: Instant,
    sends: bool,
    receives: bool,
    sent: &'a OnceLock<Sending>,
    taken: &'a OnceLock<Receiving>,
    received: &'a dyn Fn() -> Vec<PeerReportFlow>,
    /// Time waited after everything was sent, ns.
    waited: &'a Cell<u64>,
}

impl Test<'_> {
    /// Wait until the amount is reached in all directions, and exchange results.
    fn converse(&self, control: &mut Control) -> Result<PeerReport, Failure> {
        let closed = || Failure::new("peer.closed", "the peer closed a flow before its end");
        while !self.is_reached() {
            control.running.check()?;
            control.watch()?;
            if self.receives && self.taken.get().is_some() {
                return Err(closed());
            }
            os::sleep_until(os::monotonic().plus_nanos(LOOK_NS));
        }
        let mut ours = match self.sent.get() {
            Some(Ok(over)) if over.sent.ended_by == EndedBy::Finished => {
                let all_sent = os::monotonic();
                os::sleep_until(all_sent.plus_nanos(READ_NS + self.plan.round_trip_ns));
                self.waited.set(os::monotonic().nanos_since(all_sent));
                sent_flows(over, self.plan)
            }
            Some(Ok(_)) => {
                // The server may report why.
                control.watch()?;
                return Err(closed());
            }
            Some(Err(failure)) => return Err(failure.clone()),
            None => Vec::new(),
        };
        control.exchange(|| {
            if self.receives {
                ours.extend(self.settled());
            }
            let end_time = os::monotonic().nanos_since(self.start) as f64 / 1e9;
            let numbered = ours.into_iter().enumerate().map(|(place, flow)| PeerReportFlow {
                id: flow_number(place),
                end_time,
                retransmits: -1,
                ..flow
            });
            PeerReport {
                sender_has_retransmits: -1,
                streams: numbered.collect(),
                ..PeerReport::default()
            }
        })
    }

    fn is_reached(&self) -> bool {
        (!self.sends || self.sent.get().is_some()) && (!self.receives || self.has_come())
    }

    fn has_come(&self) -> bool {
        let plan = self.plan;
        match (plan.end(plan.arrivals_from(self.start)), plan.messages()) {
            (Some(end), _) => os::monotonic() >= end,
            (None, Some(messages)) => {
                let wanted = messages * plan.message_bytes as u64;
                (self.received)().iter().all(|flow| flow.bytes >= wanted)
            }
            (None, None) => true,
        }
    }

    fn settled(&self) -> Vec<PeerReportFlow> {
        let began = os::monotonic();
        let (mut last, mut since) = ((self.received)(), began);
        loop {
            os::sleep_until(os::monotonic().plus_nanos(LOOK_NS));
            let (now, found) = (os::monotonic(), (self.received)());
            if found != last {
                (last, since) = (found, now);
            }
            if now.nanos_since(since) > SETTLED_NS || now.nanos_since(began) > MOST_SETTLING_NS {
                return last;
            }
        }
    }
}

fn sent_flows(over: &Over, plan: &Plan) -> Vec<PeerReportFlow> {
    let acknowledged = over.acknowledged.as_ref();
    let of = |(place, flow): (usize, &FlowSent)| {
        let messages = flow.first_measured + flow.sent_messages;
        let acknowledged = acknowledged.map(|all| all.flows[place].total_bytes);
        PeerReportFlow {
            bytes: acknowledged.unwrap_or(messages * plan.message_bytes as u64),
            packets: messages.cast_signed(),
            ..PeerReportFlow::default()
        }
    };
    over.sent.flows.iter().enumerate().map(of).collect()
}
