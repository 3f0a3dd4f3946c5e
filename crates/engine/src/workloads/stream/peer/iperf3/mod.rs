//! A stream with an iperf3 server, over its own protocol.

mod control;
pub(super) mod dialogue;
mod tcp;
mod udp;
pub(super) mod udp_receive;
pub(super) mod udp_send;

use lanlab_os as os;
use lanlab_wire::iperf3::{COOKIE_BYTES, cookie};
use lanlab_workloads::iperf3::{Client, Event, Test};

use control::Control;

use super::failure_of;
use crate::messages::{
    Amount, EndedBy, Failure, PeerDirection, PeerStream, PeerStreamed, SocketOptions, Transport,
};
use crate::running::Running;
use crate::workloads::setup::{connect_to_peer, random_bytes, socket_address};
use crate::workloads::stream::Plan;

/// Margin of the server's time limit; the client ends the test earlier, once its amount is reached.
const BEYOND_S: u64 = 30;
const LONGEST_S: u64 = 86_400;
const SECOND_NS: u64 = 1_000_000_000;
/// From the server's permission to the start of the first message.
const START_NS: u64 = 500_000;

/// Negotiate a test, wait for the start, run it and exchange results.
pub fn run(
    request: &PeerStream,
    plan: &Plan,
    running: &Running,
) -> Result<(PeerStreamed, Option<Failure>), Failure> {
    let ends = (request.bind, socket_address(request.peer, request.port)?);
    let options = SocketOptions::default();
    let connected = connect_to_peer(ends, &options, 0, plan.silence_ns)?;
    let round_trip_ns = connected.1;
    let cookie = cookie(random_bytes::<{ COOKIE_BYTES - 1 }>()?);
    let mut control = Control::new(connected, Client::new(test(request, plan), &cookie), running)?;
    control.expect(&Event::OpenFlows)?;
    running.ready(Vec::new(), Some(round_trip_ns));
    running.wait_for_start(|| Ok(()))?;
    let plan = &Plan { round_trip_ns: running.round_trip_ns(), ..plan.clone() };
    let begin = || os::monotonic().plus_nanos(START_NS);
    let (streamed, failure) = if request.spec.transport == Transport::Udp {
        let sockets = udp::open(request, plan)?;
        control.expect(&Event::Running)?;
        udp::stream(request, plan, sockets, &mut control, begin())?
    } else {
        let streams = tcp::open(request, plan, &cookie)?;
        running.watch_connections(streams.iter());
        control.expect(&Event::Running)?;
        tcp::stream(request, plan, streams, &mut control, begin())?
    };
    if control.has_ended && failure.is_some() {
        return Ok((streamed, failure));
    }
    let silence_ns = match request.spec.transport {
        Transport::Tcp => plan.tcp_silence_ns(),
        Transport::Udp => plan.longest_silence_ns(),
    };
    let ended = |ended_by, direction| {
        let failure = failure_of(ended_by, direction, silence_ns)?;
        let is_closed = ended_by == EndedBy::PeerClosed;
        Some(if is_closed { failure.hint("check the server's output") } else { failure })
    };
    let sent = streamed.sent.as_ref().and_then(|s| ended(s.ended_by, PeerDirection::Send));
    let received =
        streamed.received.as_ref().and_then(|r| ended(r.ended_by, PeerDirection::Receive));
    if streamed.report.is_none() {
        control.give_up();
    }
    // The cause of the flows' end is more specific than the dialogue's error.
    Ok((streamed, sent.or(received).or(failure)))
}

fn test(request: &PeerStream, plan: &Plan) -> Test {
    let receives = request.direction != PeerDirection::Send;
    let sends = request.direction != PeerDirection::Receive;
    let time_s = match plan.amount {
        Amount::TimeNs(time_ns) => (time_ns + plan.warmup_ns).div_ceil(SECOND_NS) + BEYOND_S,
        _ => LONGEST_S,
    };
    let rate_bps = plan
        .pace
        .map_or(0, |pace| (pace.messages_per_s() * 8.0 * plan.message_bytes as f64).round() as u64);
    let socket = &request.spec.socket;
    Test {
        is_udp: request.spec.transport == Transport::Udp,
        directions: (receives, sends),
        time_s: time_s.min(LONGEST_S),
        flows: plan.flows,
        message_bytes: plan.message_bytes,
        rate_bps,
        nodelay: socket.nodelay,
        buffer_bytes: socket.receive_buffer_bytes.or(socket.send_buffer_bytes),
        congestion: socket.congestion_controls.first().cloned(),
    }
}
