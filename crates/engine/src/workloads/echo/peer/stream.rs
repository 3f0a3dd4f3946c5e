//! Echo over TCP with an echo service (RFC 862).

use std::iter::repeat_with;

use lanlab_wire::session::Token;
use lanlab_workloads::echo::{Content, Plan};

use super::super::tcp;
use crate::messages::{EchoRequested, Failure, PeerEcho};
use crate::running::Running;
use crate::workloads::padding;
use crate::workloads::setup::{connect_to_peer, random_bytes, socket_address};

pub fn request(
    request: &PeerEcho,
    plan: &Plan,
    running: &Running,
) -> Result<EchoRequested, Failure> {
    let ends = (request.bind, socket_address(request.peer, request.port)?);
    let (stream, round_trip_ns) = connect_to_peer(ends, &request.spec.socket, 0, plan.silence_ns)?;
    tcp::set_timeouts(&stream, plan)?;
    let (plan, start) = super::super::started(plan, round_trip_ns, running)?;
    let padding = repeat_with(padding()).take(plan.message_bytes).collect();
    let content = Content::new(&plan, Token(random_bytes()?), padding);
    tcp::exchange(&plan, request.processor, &stream, Some(&content), running, start)
}
