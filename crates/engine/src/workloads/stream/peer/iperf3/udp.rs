//! UDP flows of a test, each opened with a datagram that the server answers.

use std::io;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;
use std::time::Duration;

use lanlab_os::{self as os, DatagramSocket};
use lanlab_units::Instant;
use lanlab_wire::iperf3::{HELLO, HELLO_BYTES, Head};
use lanlab_workloads::path::ROUND_TRIPS_OF_SILENCE;

use super::control::Control;
use super::dialogue::{self, Flows};
use super::udp_receive::{Watched, WatchedFlow, receive_over};
use super::udp_send::send_over;
use crate::messages::{Failure, PeerDirection, PeerReportFlow, PeerStream, PeerStreamed};
use crate::workloads::setup::{any_address, bind_datagram, is_idle, socket_address};
use crate::workloads::stream::Plan;

/// Time-out of the opening datagram, in addition to the path's round trip. The datagram is resent once, after half
/// of it: a server that receives it twice counts the second as a message.
const ANSWER_NS: u64 = 5_000_000_000;
const QUESTIONS: u64 = 2;
/// Delay before a refused datagram, which nothing received, is resent. riperf3 0.8.0 reopens its port for each
/// flow.
const REFUSED_NS: u64 = 20_000_000;

/// Whether the client requests numbers of 64 bits.
const IS_WIDE: bool = true;

/// Open all flows in turn; in bidirectional tests, first those that send to the server.
pub fn open(request: &PeerStream, plan: &Plan) -> Result<Vec<DatagramSocket>, Failure> {
    let least = Head::octets(IS_WIDE);
    if plan.message_bytes < least {
        let allowed = format!("{least} or more, which the number of a datagram takes");
        return Err(Failure::value("message_size_bytes", plan.message_bytes, allowed));
    }
    let directions = if request.direction == PeerDirection::Both { 2 } else { 1 };
    let peer = socket_address(request.peer, request.port)?;
    let patience_ns =
        ANSWER_NS.saturating_add(QUESTIONS * ROUND_TRIPS_OF_SILENCE * plan.round_trip_ns);
    (0..directions * usize::from(plan.flows))
        .map(|_| open_one(request, peer, patience_ns))
        .collect()
}

fn open_one(
    request: &PeerStream,
    peer: SocketAddr,
    patience_ns: u64,
) -> Result<DatagramSocket, Failure> {
    let own = request.bind.unwrap_or_else(|| any_address(peer.ip()).into());
    let socket = bind_datagram(own, 0, &request.spec.socket)?;
    let failed =
        |error| Failure::system(format!("UDP port {} of {}", peer.port(), peer.ip()), &error);
    let plain = socket.plain();
    plain.connect(peer).map_err(failed)?;
    for _ in 0..QUESTIONS {
        let deadline = os::monotonic().plus_nanos(patience_ns / QUESTIONS);
        if is_taken(plain, deadline).map_err(failed)? {
            socket.enable_local_drop_reports().map_err(failed)?;
            return Ok(socket);
        }
    }
    let found = format!("UDP port {} of {}: no answer", peer.port(), peer.ip());
    Err(Failure::new("peer.no_answer", found)
        .hint("check that no firewall blocks UDP to that port"))
}

/// Request a flow until the server answers or the deadline passes; returns whether it answered.
fn is_taken(socket: &UdpSocket, deadline: Instant) -> io::Result<bool> {
    loop {
        let asked = socket.send(&HELLO).and_then(|_| is_answered(socket, deadline));
        match asked {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                os::sleep_until(os::monotonic().plus_nanos(REFUSED_NS));
                if os::monotonic() >= deadline {
                    return Ok(false);
                }
            }
            asked => return asked,
        }
    }
}

fn is_answered(socket: &UdpSocket, deadline: Instant) -> io::Result<bool> {
    let mut answer = [0; HELLO_BYTES + 1];
    loop {
        let left_ns = deadline.nanos_since(os::monotonic());
        if left_ns == 0 {
            return Ok(false);
        }
        socket.set_read_timeout(Some(Duration::from_nanos(left_ns)))?;
        match socket.recv(&mut answer) {
            Ok(HELLO_BYTES) => return Ok(true),
            Ok(_) => {}
            Err(error) if is_idle(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

pub fn stream(
    request: &PeerStream,
    plan: &Plan,
    mut sockets: Vec<DatagramSocket>,
    control: &mut Control,
    start: Instant,
) -> Result<(PeerStreamed, Option<Failure>), Failure> {
    let (running, processor) = (control.running, request.processor);
    let receives_only = request.direction == PeerDirection::Receive;
    let sent_first = if receives_only { 0 } else { usize::from(plan.flows) };
    let receiving = sockets.split_off(sent_first);
    let watched = Watched::of(receiving.len());
    let of = (plan, IS_WIDE);
    let flows = Flows {
        send: (!sockets.is_empty())
            .then_some(|| send_over(of, processor, &sockets, running, start)),
        receive: (!receiving.is_empty())
            .then_some(|| receive_over(of, processor, &receiving, &watched, running, start)),
        received: &|| watched.flows.iter().map(|flow| received(flow, plan)).collect(),
        close: &|| watched.is_over.store(true, Ordering::Release),
    };
    dialogue::run(control, (plan, start), flows)
}

fn received(flow: &WatchedFlow, plan: &Plan) -> PeerReportFlow {
    let messages = flow.messages.load(Ordering::Acquire);
    PeerReportFlow {
        bytes: messages * plan.message_bytes as u64,
        packets: messages.cast_signed(),
        ..PeerReportFlow::default()
    }
}
