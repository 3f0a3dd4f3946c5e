//! A plain TCP stream, to or from any program.

use std::net::TcpStream;

use super::discard::discarding;
use super::failure_of;
use crate::messages::{Failure, PeerDirection, PeerStream, PeerStreamed, ReceiverLoad};
use crate::running::Running;
use crate::workloads::setup::{connect_to_peer, socket_address};
use crate::workloads::stream::Plan;
use crate::workloads::stream::acknowledged::Confirmation;
use crate::workloads::stream::tcp_receive::{Ends, receive_over};
use crate::workloads::stream::tcp_send::{BLOCKED, send_over};

pub fn run(
    request: &PeerStream,
    plan: &Plan,
    running: &Running,
) -> Result<(PeerStreamed, Option<Failure>), Failure> {
    let (streams, round_trip_ns) = connect_all(request, plan)?;
    running.watch_connections(streams.iter());
    running.ready(Vec::new(), Some(round_trip_ns));
    let start = running.wait_for_start(|| Ok(()))?;
    let plan = &Plan { round_trip_ns: running.round_trip_ns(), ..plan.clone() };
    let (direction, processor) = (request.direction, request.processor);
    let ended = |ended_by| failure_of(ended_by, direction, plan.tcp_silence_ns());
    if direction == PeerDirection::Receive {
        let ends = (Ends::ByTheAmount, ReceiverLoad::default());
        let (received, failure) = receive_over(plan, processor, streams, ends, running, start)?;
        let failure = by_the_system(failure).or_else(|| ended(received.ended_by));
        let received = Some(received);
        return Ok((PeerStreamed { received, ..PeerStreamed::default() }, failure));
    }
    let sending = another_of_each(&streams)?;
    let confirmation = Confirmation::ByAcknowledgement { closes: true };
    let (over, returned_bytes) =
        discarding(&streams, || send_over(plan, processor, sending, confirmation, running, start))?;
    let over = over?;
    let failure = by_the_system(over.failure).or_else(|| ended(over.sent.ended_by));
    let streamed = PeerStreamed {
        sent: Some(over.sent),
        acknowledged: over.acknowledged,
        returned_bytes: Some(returned_bytes),
        ..PeerStreamed::default()
    };
    Ok((streamed, failure))
}

/// Connect each flow of the request; also returns the shortest handshake time.
pub fn connect_all(request: &PeerStream, plan: &Plan) -> Result<(Vec<TcpStream>, u64), Failure> {
    let ends = (request.bind, socket_address(request.peer, request.port)?);
    let mut streams = Vec::with_capacity(plan.flows.into());
    let mut round_trip_ns = u64::MAX;
    for flow in 0..plan.flows {
        let options = &request.spec.socket;
        let (stream, flow_ns) = connect_to_peer(ends, options, flow, plan.silence_ns)?;
        stream
            .set_write_timeout(Some(BLOCKED))
            .map_err(|error| Failure::system("socket options", &error))?;
        round_trip_ns = round_trip_ns.min(flow_ns);
        streams.push(stream);
    }
    Ok((streams, round_trip_ns))
}

pub fn another_of_each(streams: &[TcpStream]) -> Result<Vec<TcpStream>, Failure> {
    let each = streams.iter().map(TcpStream::try_clone).collect::<Result<_, _>>();
    each.map_err(|error| Failure::system("another descriptor of a connection", &error))
}

/// A failure of this end's system: hints about engines do not apply to this peer.
pub fn by_the_system(failure: Option<Failure>) -> Option<Failure> {
    failure.filter(|failure| failure.code != "peer.gone")
}
