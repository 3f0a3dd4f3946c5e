//! Path MTU of both directions. One end sends datagrams of several sizes. The other answers each
//! twice: with a short one, which shows that the size arrived, and with one of the same size, which
//! tests the way back.
//!
//! A datagram begins with the session's token, which only the driver's engines know. The short answer carries the
//! length of the received datagram.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use lanlab_files::HostAddress;
use lanlab_os::{self as os, DatagramSocket};
use lanlab_wire::session::Token;
use lanlab_workloads::path_mtu::{Bounds, PathSearch};

use super::setup::{
    Ports, TICK, bind_datagram, check_addresses, check_range, is_idle, local_port, parse_token,
    socket_address,
};
use crate::cost::{Cost, OWN_THREADS};
use crate::messages::{
    Failure, Outcome, PacketBounds, PathMtuAnswer, PathMtuAnswered, PathMtuProbe, PathMtuProbed,
    SocketOptions, Transport,
};
use crate::running::{Running, conclude};
use crate::task::Task;

const LONGEST: usize = 65_536;
const TOKEN_LEN: usize = 16;
const SHORT_LEN: usize = TOKEN_LEN + 2;
/// Time-out of the answering end if the driver does not end it.
const ANSWER_NS: u64 = 30_000_000_000;
const LEAST_WAIT: Duration = Duration::from_millis(1);

/// Bytes of the IP and UDP headers (RFC 791, RFC 8200, RFC 768), and of a packet that every path carries (RFC 791,
/// section 3.2; RFC 8200, section 5).
fn sizes_of(address: IpAddr) -> (u32, u32) {
    if address.is_ipv4() { (20 + 8, 576) } else { (40 + 8, 1280) }
}

const COST: Cost = Cost { memory_bytes: 2 * LONGEST as u64, threads: OWN_THREADS };

fn ports_of(request: &PathMtuAnswer) -> Ports {
    Ports::new(Transport::Udp, request.bind, (request.port, request.last_port), 1)
}

fn open(address: HostAddress, port: u16) -> Result<DatagramSocket, Failure> {
    let socket = bind_datagram(address, port, &SocketOptions::default())?;
    socket.enable_path_probing().map_err(|error| Failure::system("path probing", &error))?;
    Ok(socket)
}

pub fn answer(request: PathMtuAnswer) -> Result<Task, Failure> {
    check_addresses(Some(request.bind), request.peer)?;
    let token = parse_token(&request.session)?;
    ports_of(&request).check(1)?;
    Ok(Task::new(COST, move |running| {
        let mut datagrams = 0;
        let ended = answer_all(&request, &token, running, &mut datagrams);
        let failure = ended.unwrap_or_else(|failure| failure);
        conclude(Outcome::PathMtuAnswered(PathMtuAnswered { datagrams }), Some(failure))
    }))
}

fn answer_all(
    request: &PathMtuAnswer,
    token: &Token,
    running: &Running,
    datagrams: &mut u64,
) -> Result<Failure, Failure> {
    let socket = ports_of(request).take(|port| open(request.bind, port))?;
    socket
        .set_receive_timeout(Some(TICK))
        .map_err(|error| Failure::system("receive time-out", &error))?;
    running.ready(vec![local_port(&socket)?], None);
    let deadline = os::monotonic().plus_nanos(ANSWER_NS);
    let mut buffer = vec![0; LONGEST];
    while !running.is_cancelled() {
        if os::monotonic() >= deadline {
            return Ok(not_ended());
        }
        // An answer that is too long does not arrive, which the other end notices.
        let Ok((length, from)) = socket.plain().recv_from(&mut buffer) else { continue };
        if from.ip() == request.peer.ip() && is_of(token, &buffer[..length]) {
            *datagrams += 1;
            reply(&socket, &mut buffer[..length], from);
        }
    }
    Ok(Failure::cancelled())
}

fn not_ended() -> Failure {
    let seconds = ANSWER_NS / 1_000_000_000;
    Failure::new("peer.no_answer", format!("not ended within {seconds} s"))
}

fn is_of(token: &Token, datagram: &[u8]) -> bool {
    datagram.len() > SHORT_LEN
        && datagram.first_chunk::<TOKEN_LEN>().is_some_and(|octets| Token(*octets).matches(token))
}

fn reply(socket: &DatagramSocket, datagram: &mut [u8], from: SocketAddr) {
    let mut short = [0; SHORT_LEN];
    short[..TOKEN_LEN].copy_from_slice(&datagram[..TOKEN_LEN]);
    let length = u16::try_from(datagram.len()).unwrap_or(u16::MAX);
    short[TOKEN_LEN..].copy_from_slice(&length.to_be_bytes());
    // Either may be lost or too long for the device; the other end notices.
    let _ = socket.plain().send_to(&short, from);
    let _ = socket.plain().send_to(datagram, from);
}

pub fn probe(request: PathMtuProbe) -> Result<Task, Failure> {
    check_addresses(Some(request.bind), request.peer)?;
    let token = parse_token(&request.session)?;
    check_range("most_bytes", request.most_bytes.into(), 1280, 65_535)?;
    check_range("within_ns", request.within_ns, 1_000_000, 10_000_000_000)?;
    Ok(Task::new(COST, move |running| {
        Ok(Outcome::PathMtuProbed(search(&request, &token, running)?))
    }))
}

fn search(
    request: &PathMtuProbe,
    token: &Token,
    running: &Running,
) -> Result<PathMtuProbed, Failure> {
    let peer = socket_address(request.peer, request.port)?;
    let socket = open(request.bind, 0)?;
    socket
        .plain()
        .connect(peer)
        .map_err(|error| Failure::system(format!("connect to {peer}"), &error))?;
    let (header, floor) = sizes_of(request.peer.ip());
    let began = os::monotonic();
    let mut search = PathSearch::new(floor, request.most_bytes, began, request.within_ns);
    let mut buffer = vec![0; LONGEST];
    let mut octets = vec![0; request.most_bytes as usize];
    octets[..TOKEN_LEN].copy_from_slice(&token.0);
    let (mut datagrams, mut was_told) = (0, false);
    while !search.is_done(os::monotonic()) {
        running.check()?;
        while let Some(size) = search.poll_send() {
            datagrams += 1;
            let payload = &octets[..(size - header) as usize];
            if is_told_of_another(|| socket.plain().send(payload)) {
                was_told = true;
            }
        }
        let now = os::monotonic();
        let wait = Duration::from_nanos(search.poll_timeout().nanos_since(now)).max(LEAST_WAIT);
        socket
            .set_receive_timeout(Some(wait))
            .map_err(|error| Failure::system("receive time-out", &error))?;
        match socket.plain().recv(&mut buffer) {
            Ok(length) => take(&mut search, token, &buffer[..length], header),
            Err(error) => match receive_error(&error) {
                ReceiveError::TooLong => was_told = true,
                ReceiveError::Nothing => {}
                ReceiveError::NotThere => os::sleep_until(now.plus_nanos(1_000_000)),
            },
        }
        search.handle_timeout(os::monotonic());
    }
    let found = search.found();
    let bounds = |of: Bounds| PacketBounds { least_bytes: of.least, most_bytes: of.most };
    Ok(PathMtuProbed {
        there: found.map(|(there, _)| bounds(there)),
        back: found.map(|(_, back)| bounds(back)),
        was_told,
        datagrams,
        elapsed_ns: os::monotonic().nanos_since(began),
    })
}

#[derive(Debug, PartialEq, Eq)]
enum ReceiveError {
    /// A router reported that a datagram was too long for its next link.
    TooLong,
    Nothing,
    /// The port is closed, or a router has no route. Later datagrams may still be answered.
    NotThere,
}

fn receive_error(error: &io::Error) -> ReceiveError {
    if DatagramSocket::is_too_long(error) {
        ReceiveError::TooLong
    } else if is_idle(error) {
        ReceiveError::Nothing
    } else {
        ReceiveError::NotThere
    }
}

/// Send a datagram. A router's error about an earlier, oversized one is reported once by a later call: retry, and
/// return whether that succeeded. An unsent datagram gets no answer.
fn is_told_of_another(mut send: impl FnMut() -> io::Result<usize>) -> bool {
    send().is_err_and(|error| DatagramSocket::is_too_long(&error)) && send().is_ok()
}

fn take(search: &mut PathSearch, token: &Token, datagram: &[u8], header: u32) {
    let Some((octets, rest)) = datagram.split_first_chunk::<TOKEN_LEN>() else { return };
    if !Token(*octets).matches(token) {
        return;
    }
    let now = os::monotonic();
    if let Ok(length) = <[u8; 2]>::try_from(rest) {
        search.handle_seen(u32::from(u16::from_be_bytes(length)) + header, now);
    } else {
        let length = u32::try_from(datagram.len()).unwrap_or(u32::MAX);
        search.handle_whole(length.saturating_add(header), now);
    }
}

#[cfg(test)]
mod tests;
