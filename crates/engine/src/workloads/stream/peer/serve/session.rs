//! A client with open flows: data is transferred until the client ends the test, then both ends exchange results.

use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, ScopedJoinHandle};

use lanlab_os::{self as os, DatagramSocket};
use lanlab_units::Instant;
use lanlab_workloads::iperf3::{Refused, Served};

use super::doors::Door;
use super::ledger::Moving;
use super::line::Line;
use super::report::{ACKNOWLEDGES_WITHIN_NS, Counted, TcpBefore, report};
use super::visitor::{GRACE_S, Test};
use crate::messages::{Failure, PeerClient, PeerError, PeerReport, ReceiverLoad};
use crate::running::Running;
use crate::workloads::stream::Plan;
use crate::workloads::stream::acknowledged::{Confirmation, Over};
use crate::workloads::stream::peer::iperf3::dialogue::{Receiving, Sending};
use crate::workloads::stream::peer::iperf3::udp_receive::{self, Watched};
use crate::workloads::stream::peer::iperf3::udp_send;
use crate::workloads::stream::peer::plain::another_of_each;
use crate::workloads::stream::tcp_receive::{Ends, receive_over};
use crate::workloads::stream::tcp_send::{BLOCKED, send_over};

/// From permission to send until this end's first message.
const START_NS: u64 = 200_000;
const SETTLED_NS: u64 = 50_000_000;
/// The wait if data is known to be missing: TCP resends it, with doubling time-outs.
const RESENT_NS: u64 = 3_000_000_000;
const MOST_SETTLING_NS: u64 = 30_000_000_000;
const LOOK_NS: u64 = 2_000_000;
const ANSWERS_WITHIN_NS: u64 = 10_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;
/// iperf3's errors: this end failed, the server has ended, results did not arrive.
const FAILED: i32 = 100;
const ENDED: i32 = 120;
const SILENT: i32 = 117;

pub struct Session {
    pub line: Line,
    pub test: Test,
    pub moving: Arc<Moving>,
}

/// Sockets by their use; receiving ones were opened first.
struct Flows {
    receiving: (Vec<TcpStream>, Vec<DatagramSocket>),
    sending: (Vec<TcpStream>, Vec<DatagramSocket>),
    /// Closing a connection before the dialogue is over would be an error to the client.
    kept: Vec<TcpStream>,
}

impl Session {
    pub fn run(mut self, server: &Running, mut client: PeerClient) -> PeerClient {
        client.asked = Some(self.test.facts());
        let ended = self.prepare().and_then(|flows| self.measure(flows, server, &mut client));
        if let Err(Refused { failure, number }) = ended {
            match failure.code {
                "client.gone" | "client.ended" => {}
                "cancelled" | "client.too_long" => self.line.terminate(),
                _ => self.line.refuse(number),
            }
            client.error = Some(PeerError { code: failure.code.into(), message: failure.message });
        }
        client
    }

    fn prepare(&mut self) -> Result<Flows, Refused> {
        let (mut streams, mut sockets) =
            (std::mem::take(&mut self.test.streams), std::mem::take(&mut self.test.sockets));
        let failed = |failure| Refused { failure, number: FAILED };
        let system = |error: std::io::Error| failed(Failure::system("socket options", &error));
        for stream in &streams {
            stream.set_write_timeout(Some(BLOCKED)).map_err(system)?;
        }
        for socket in &sockets {
            Door::hand_over(socket).map_err(system)?;
        }
        self.line.wait_from_now_on().map_err(failed)?;
        let received_first = |count: usize| {
            if self.test.asked.test.directions.1 {
                count.min(usize::from(self.test.asked.test.flows))
            } else {
                0
            }
        };
        let (kept, (of_tcp, of_udp)) = (
            another_of_each(&streams).map_err(failed)?,
            (received_first(streams.len()), received_first(sockets.len())),
        );
        let sending = (streams.split_off(of_tcp), sockets.split_off(of_udp));
        Ok(Flows { receiving: (streams, sockets), sending, kept })
    }

    /// Transfer until the client ends the test, and exchange results.
    fn measure(
        &mut self,
        flows: Flows,
        server: &Running,
        client: &mut PeerClient,
    ) -> Result<(), Refused> {
        let Flows { receiving, sending, kept } = flows;
        let Test { plan, asked, .. } = &self.test;
        let received =
            usize::from(asked.test.directions.1) * kept.len().min(asked.test.flows.into());
        let before = TcpBefore::of(&kept[received..]);
        let watched = Watched::of(receiving.1.len());
        let moving = &*self.moving;
        self.line.server.start();
        // A client may send as soon as it has permission, before this end has noted the time.
        let earliest = os::monotonic();
        self.line.flush()?;
        let start = os::monotonic().plus_nanos(START_NS);
        let from_client = asked.test.directions.1;
        let measured_from = if from_client { earliest } else { start };
        moving.is_going.store(true, Ordering::Release);
        let most_s = asked.omit_s + asked.test.time_s + GRACE_S;
        let deadline = start.plus_nanos(most_s * SECOND_NS);
        let line = &mut self.line;
        let (ended_at, sent, acknowledged, theirs, taken) = thread::scope(|scope| {
            let of = (plan, asked.is_wide);
            let (streams, sockets) = sending;
            let sending = (asked.test.directions.0)
                .then(|| scope.spawn(move || send(of, streams, &sockets, moving, start)));
            let (streams, sockets) = receiving;
            let watched = &watched;
            let taking = from_client.then(|| {
                scope.spawn(move || take(of, streams, &sockets, watched, moving, earliest))
            });
            let ended = wait_for_end(line, server, deadline, most_s, &moving.receiving);
            // Some clients report the end some time after their last byte. The requested amount counts in full.
            let asked_ns = (asked.omit_s + asked.test.time_s) * SECOND_NS;
            let ended_at = match &ended {
                Ok(moved_at) if !asked.test.directions.0 => {
                    os::monotonic().min((*moved_at).max(measured_from.plus_nanos(asked_ns)))
                }
                _ => os::monotonic(),
            };
            moving.is_going.store(false, Ordering::Release);
            moving.sending.cancel();
            let sent = sending.map(joined);
            let acknowledged = before.settled(&kept[received..], ACKNOWLEDGES_WITHIN_NS);
            // A client reads whole messages before it answers, but the last may have been sent
            // partially.
            for stream in &kept[received..] {
                let _ = stream.shutdown(Shutdown::Write);
            }
            let theirs = ended.and_then(|_| results_of(line, server));
            if let (Ok(theirs), true) = (&theirs, taking.is_some()) {
                let flows = theirs.streams.iter().take(asked.test.flows.into());
                let is_exact = !asked.test.is_udp && asked.omit_s == 0;
                // A client's numbers may be arbitrary.
                let all = || flows.fold(0, |all: u64, flow| all.saturating_add(flow.bytes));
                settle(&moving.receiving, is_exact.then(all));
            }
            moving.receiving.cancel();
            (ended_at, sent, acknowledged, theirs, taking.map(joined))
        });
        let failed = |failure| Refused { failure, number: FAILED };
        let sent: Option<Over> = sent.transpose().map_err(failed)?;
        let taken = taken.transpose().map_err(failed)?.map(|(received, _)| received);
        client.elapsed_ns = ended_at.nanos_since(measured_from).saturating_sub(plan.warmup_ns);
        let counted = Counted { asked, elapsed_ns: client.elapsed_ns, sent, taken, watched };
        let ours = report(&counted, &acknowledged);
        let flows = counted.taken.as_ref().map_or(0, |taken| taken.flows.len());
        let (taken_flows, sent_flows) = ours.streams.split_at(flows);
        client.received_bytes = taken_flows.iter().map(|flow| flow.bytes).sum();
        client.sent_bytes = sent_flows.iter().map(|flow| flow.bytes).sum();
        let Counted { sent, taken, .. } = counted;
        client.counted.received = taken;
        if let Some(over) = sent {
            (client.counted.sent, client.counted.acknowledged) =
                (Some(over.sent), over.acknowledged);
        }
        client.said = Some(ours.clone());
        client.counted.report = Some(theirs?);
        give_results(line, &ours, server)?;
        for stream in &kept {
            // An already closed connection stays closed.
            let _ = stream.shutdown(Shutdown::Both);
        }
        Ok(())
    }
}

/// Wait until the client ends its test; returns when its last bytes were seen.
fn wait_for_end(
    line: &mut Line,
    server: &Running,
    deadline: Instant,
    most_s: u64,
    receiving: &Running,
) -> Result<Instant, Refused> {
    let (mut last, mut moved_at) = (receiving.progress.counted(), os::monotonic());
    loop {
        let found = receiving.progress.counted();
        if found != last {
            (last, moved_at) = (found, os::monotonic());
        }
        if server.is_cancelled() {
            return Err(Refused { failure: server_ended(), number: ENDED });
        }
        if os::monotonic() > deadline {
            let found = format!("the client did not end its test within {most_s} s");
            return Err(Refused { failure: Failure::new("client.too_long", found), number: ENDED });
        }
        if line.poll()? == Some(Served::End) {
            return Ok(moved_at);
        }
    }
}

fn server_ended() -> Failure {
    Failure::new("cancelled", "the server was ended before the test")
}

/// Decides when everything the client reports to have sent has arrived, or nothing more arrives.
struct Settling {
    /// `None`: the client reported nothing. Its TCP may still be resending lost data.
    wanted_bytes: Option<u64>,
    began: Instant,
    /// The last count of messages and bytes, and since when it is unchanged.
    last: (u64, u64),
    since: Instant,
}

impl Settling {
    const fn new(wanted_bytes: Option<u64>, counted: (u64, u64), now: Instant) -> Self {
        Self { wanted_bytes, began: now, last: counted, since: now }
    }

    fn is_over(&mut self, counted: (u64, u64), now: Instant) -> bool {
        if counted != self.last {
            (self.last, self.since) = (counted, now);
        }
        let patience_ns = if self.wanted_bytes.is_some() { RESENT_NS } else { SETTLED_NS };
        self.wanted_bytes.is_some_and(|wanted| counted.1 >= wanted)
            || now.nanos_since(self.since) > patience_ns
            || now.nanos_since(self.began) > MOST_SETTLING_NS
    }
}

fn settle(receiving: &Running, wanted_bytes: Option<u64>) {
    let mut settling = Settling::new(wanted_bytes, receiving.progress.counted(), os::monotonic());
    while !settling.is_over(receiving.progress.counted(), os::monotonic()) {
        os::sleep_until(os::monotonic().plus_nanos(LOOK_NS));
    }
}

fn results_of(line: &mut Line, server: &Running) -> Result<PeerReport, Refused> {
    line.server.exchange();
    line.flush()?;
    let is_report = |event| match event {
        Served::Report(report) => Some(*report),
        _ => None,
    };
    wait_for(line, server, is_report)
}

/// Send this end's results. The client may then close without a reply.
fn give_results(line: &mut Line, ours: &PeerReport, server: &Running) -> Result<(), Refused> {
    line.server.give_results(ours);
    line.flush()?;
    match wait_for(line, server, |event| (event == Served::Over).then_some(())) {
        Err(refused) if refused.failure.code == "client.gone" => Ok(()),
        other => other,
    }
}

fn wait_for<T>(
    line: &mut Line,
    server: &Running,
    find: impl Fn(Served) -> Option<T>,
) -> Result<T, Refused> {
    let deadline = os::monotonic().plus_nanos(ANSWERS_WITHIN_NS);
    loop {
        if let Some(found) = line.poll()?.and_then(&find) {
            return Ok(found);
        }
        if server.is_cancelled() {
            return Err(Refused { failure: server_ended(), number: ENDED });
        }
        if os::monotonic() > deadline {
            let failure = Failure::new("client.silent", "the client did not answer within 10 s");
            return Err(Refused { failure, number: SILENT });
        }
    }
}

fn send(
    (plan, is_wide): (&Plan, bool),
    streams: Vec<TcpStream>,
    sockets: &[DatagramSocket],
    moving: &Moving,
    start: Instant,
) -> Sending {
    let running = &moving.sending;
    if streams.is_empty() {
        return udp_send::send_over((plan, is_wide), None, sockets, running, start);
    }
    let confirmation = Confirmation::ByAcknowledgement { closes: false };
    send_over(plan, None, streams, confirmation, running, start)
}

fn take(
    (plan, is_wide): (&Plan, bool),
    streams: Vec<TcpStream>,
    sockets: &[DatagramSocket],
    watched: &Watched,
    moving: &Moving,
    start: Instant,
) -> Receiving {
    let running = &moving.receiving;
    if streams.is_empty() {
        return udp_receive::receive_over((plan, is_wide), None, sockets, watched, running, start);
    }
    let ends = (Ends::WhenCancelled, ReceiverLoad::default());
    receive_over(plan, None, streams, ends, running, start)
}

fn joined<T>(thread: ScopedJoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks every 10 ms until it is over, at most for a minute; `bytes_at` counts at a time in ms.
    fn over_after_ms(wanted_bytes: Option<u64>, bytes_at: impl Fn(u64) -> u64) -> Option<u64> {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut settling = Settling::new(wanted_bytes, (0, bytes_at(0)), at(0));
        (0..6_000).map(|look| 10 * look).find(|ms| settling.is_over((0, bytes_at(*ms)), at(*ms)))
    }

    #[test]
    fn a_client_is_waited_for_as_long_as_its_tcp_may_resend() {
        assert_eq!(over_after_ms(Some(5), |_| 5), Some(0));
        assert_eq!(over_after_ms(Some(5), |ms| if ms < 2_900 { 4 } else { 5 }), Some(2_900));
        assert_eq!(over_after_ms(Some(5), |_| 4), Some(3_010));
        // The wait begins anew when something arrives, and has a limit.
        assert_eq!(over_after_ms(Some(50), |ms| ms.min(9_000) / 1_000), Some(12_010));
        assert_eq!(over_after_ms(Some(500), |ms| ms / 1_000), Some(30_010));
    }

    #[test]
    fn a_client_without_a_report_is_waited_for_until_nothing_arrives() {
        assert_eq!(over_after_ms(None, |_| 4), Some(60));
        assert_eq!(over_after_ms(None, |ms| ms.min(500)), Some(560));
    }
}
