//! Echo over UDP with an echo service (RFC 862), and by ICMP (RFC 792, RFC 4443).

use std::io;
use std::iter::repeat_with;
use std::net::SocketAddr;

use lanlab_os::{self as os, DatagramSocket};
use lanlab_wire::icmp::Version;
use lanlab_wire::session::{Kind, Message, RECEIVE_LEN, Token};
use lanlab_workloads::echo::{Content, Plan};

use super::super::envelope::Envelope;
use super::super::udp;
use super::{hint_of, place_of};
use crate::messages::{EchoRequested, Failure, IcmpSocket, PeerEcho, PeerEchoProtocol};
use crate::running::Running;
use crate::workloads::padding;
use crate::workloads::setup::{
    TICK, any_address, bind_datagram, datagram_options, is_idle, random_bytes, setup_ns,
    socket_address,
};

/// Initial time-out of the first probe, doubled for each retry.
const ASK_AGAIN_NS: u64 = 1_000_000_000;

/// Probe once, wait for the start, send requests and time their replies.
pub fn request(
    request: &PeerEcho,
    plan: &Plan,
    running: &Running,
) -> Result<(EchoRequested, Option<IcmpSocket>), Failure> {
    let peer = socket_address(request.peer, request.port)?;
    let (socket, envelope, icmp_socket) = open(request, peer)?;
    let place = place_of(request);
    socket
        .plain()
        .connect(peer)
        .map_err(|error| Failure::system(format!("connect to {place}"), &error))?;
    let token = Token(random_bytes()?);
    let round_trip_ns = first_round_trip(request, plan, (&socket, envelope, token), running)?;
    udp::prepare(&socket, plan)?;
    let (plan, start) = super::super::started(plan, round_trip_ns, running)?;
    let padding = repeat_with(padding()).take(plan.message_bytes).collect();
    let content = Content::new(&plan, token, padding);
    let ends = (&socket, envelope, token);
    let requested = udp::exchange(&plan, request.processor, ends, Some(&content), running, start)?;
    Ok((requested, icmp_socket))
}

fn open(
    request: &PeerEcho,
    peer: SocketAddr,
) -> Result<(DatagramSocket, Envelope, Option<IcmpSocket>), Failure> {
    let own = request.bind.unwrap_or_else(|| any_address(peer.ip()).into());
    let options = &request.spec.socket;
    if request.protocol != PeerEchoProtocol::Icmp {
        return Ok((bind_datagram(own, 0, options)?, Envelope::Udp, None));
    }
    let address = socket_address(own, 0)?;
    let (socket, is_raw) = DatagramSocket::bind_icmp(address, &datagram_options(options))
        .map_err(|error| not_allowed(&error))?;
    let version = if peer.is_ipv4() { Version::V4 } else { Version::V6 };
    let identifier = is_raw.then(random_bytes).transpose()?.map(u16::from_be_bytes);
    let kind = if is_raw { IcmpSocket::Raw } else { IcmpSocket::Datagram };
    Ok((socket, Envelope::Icmp { version, identifier }, Some(kind)))
}

fn not_allowed(error: &io::Error) -> Failure {
    if error.kind() != io::ErrorKind::PermissionDenied {
        return Failure::system("ICMP socket", error);
    }
    Failure::new("echo.no_icmp", format!("this user may open no socket for ICMP: {error}")).hint(
        "as root, run `sysctl -w net.ipv4.ping_group_range='0 2147483647'`, which allows it to all users over \
         IPv4 and IPv6; or run lanlab as root; or time connections with `--peer tcp://HOST:PORT`",
    )
}

/// Round-trip time of a first probe, repeated until answered.
fn first_round_trip(
    request: &PeerEcho,
    plan: &Plan,
    (socket, envelope, token): (&DatagramSocket, Envelope, Token),
    running: &Running,
) -> Result<u64, Failure> {
    let place = place_of(request);
    let system = |error: &io::Error| Failure::system(format!("first request to {place}"), error);
    socket.set_receive_timeout(Some(TICK)).map_err(|error| system(&error))?;
    let patience_ns = setup_ns(plan.silence_ns);
    let began = os::monotonic();
    let (mut datagram, mut sent_at) = (Vec::new(), Vec::new());
    let mut buffer = vec![0; envelope.most_bytes() + RECEIVE_LEN];
    let (mut next_at, mut wrong) = (began, 0_u32);
    loop {
        let now = os::monotonic();
        running.check()?;
        if now.nanos_since(began) > patience_ns {
            break;
        }
        if now >= next_at {
            let kind = Kind::Alive { received_messages: sent_at.len() as u64 };
            envelope.put(
                sent_at.len() as u64,
                &Message { token, flow: 0, kind }.emit(),
                &mut datagram,
            );
            next_at = now.plus_nanos(ASK_AGAIN_NS << sent_at.len().min(6));
            sent_at.push(os::monotonic());
            match socket.plain().send(&datagram) {
                Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => {
                    return Err(system(&error));
                }
                _ => {}
            }
        }
        match socket.plain().recv(&mut buffer) {
            Ok(length) => {
                let arrived = os::monotonic();
                let Some(answer) = envelope.open(&buffer[..length]) else { continue };
                match Message::parse(answer) {
                    Ok(Message { token: its, kind: Kind::Alive { received_messages }, .. })
                        if its.matches(&token) =>
                    {
                        let number = usize::try_from(received_messages).unwrap_or(usize::MAX);
                        if let Some(sent_at) = sent_at.get(number) {
                            return Ok(arrived.nanos_since(*sent_at));
                        }
                        wrong += 1;
                    }
                    _ => wrong += 1,
                }
            }
            Err(error) if is_idle(&error) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                return Err(Failure::new("peer.no_answer", format!("{place}: {error}"))
                    .hint("check that a program listens there and no firewall blocks it"));
            }
            Err(error) => return Err(system(&error)),
        }
    }
    if wrong > 0 {
        let message = format!("{place} answers, but not with what it was sent");
        return Err(Failure::new("peer.wrong_answer", message).hint(super::super::NO_ECHO_HINT));
    }
    let message = format!("no answer from {place} in {} s", patience_ns / 1_000_000_000);
    Err(Failure::new("peer.no_answer", message).hint(hint_of(request.protocol)))
}
