//! The session of a flow over UDP: sockets, and proof of both ends' addresses.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use lanlab_files::HostAddress;
use lanlab_os::{self as os, DatagramOptions, DatagramSocket};
use lanlab_units::Instant;
use lanlab_wire::session::{Message, RECEIVE_LEN, Token};
use lanlab_workloads::handshake::{Acceptor, Initiator, InitiatorState};

use super::{
    TICK, accept_timeout_ns, check_waiting, is_idle, random_u64, setup_ns, socket_address,
};
use crate::messages::{Failure, SocketOptions};
use crate::running::Running;

pub fn any_address(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}

pub fn datagram_options(options: &SocketOptions) -> DatagramOptions {
    DatagramOptions {
        send_buffer_bytes: options.send_buffer_bytes.map(|bytes| bytes as usize),
        receive_buffer_bytes: options.receive_buffer_bytes.map(|bytes| bytes as usize),
        dscp: options.dscp,
        ..DatagramOptions::default()
    }
}

pub fn bind_datagram(
    address: HostAddress,
    port: u16,
    options: &SocketOptions,
) -> Result<DatagramSocket, Failure> {
    let address = socket_address(address, port)?;
    DatagramSocket::bind(address, &datagram_options(options))
        .map_err(|error| Failure::system(format!("UDP port {port} on {}", address.ip()), &error))
}

pub fn local_port(socket: &DatagramSocket) -> Result<u16, Failure> {
    let address = socket.plain().local_addr();
    address.map(|address| address.port()).map_err(|error| Failure::system("local port", &error))
}

pub struct Connected {
    pub socket: DatagramSocket,
    pub round_trip_ns: u64,
}

/// Open a flow to a UDP receiver; silence of up to `silence_ns` is tolerated.
pub fn connect_datagram(
    (bind, peer): (Option<HostAddress>, SocketAddr),
    options: &SocketOptions,
    token: Token,
    flow: u16,
    silence_ns: u64,
    running: &Running,
) -> Result<Connected, Failure> {
    let socket = bind_datagram(bind.unwrap_or_else(|| any_address(peer.ip()).into()), 0, options)?;
    socket
        .plain()
        .connect(peer)
        .map_err(|error| Failure::system(format!("connect to {peer}"), &error))?;
    let system = |error: &io::Error| Failure::system(format!("session with {peer}"), error);
    let patience_ns = setup_ns(silence_ns);
    let mut initiator =
        Initiator::new(token, flow, random_u64()?, os::monotonic()).patient_for(patience_ns);
    let mut buffer = [0; RECEIVE_LEN];
    loop {
        running.check()?;
        let now = os::monotonic();
        while let Some(message) = initiator.poll_transmit(now) {
            unless_refused(socket.plain().send(&message.emit())).map_err(|error| system(&error))?;
        }
        match initiator.state {
            InitiatorState::Accepted { round_trip_ns } => {
                return Ok(Connected { socket, round_trip_ns });
            }
            InitiatorState::GaveUp => return Err(no_answer(peer, patience_ns)),
            InitiatorState::Asking => {}
        }
        let timeout = initiator.poll_timeout().unwrap_or(now);
        let wait =
            Duration::from_nanos(timeout.nanos_since(now)).clamp(Duration::from_millis(1), TICK);
        socket.set_receive_timeout(Some(wait)).map_err(|error| system(&error))?;
        match socket.plain().recv(&mut buffer) {
            Ok(length) => {
                if let Ok(message) = Message::parse(&buffer[..length]) {
                    initiator.handle(&message, os::monotonic());
                }
            }
            Err(error) => {
                let pause_ns = pause_ns_after(error).map_err(|error| system(&error))?;
                os::sleep_until(os::monotonic().plus_nanos(pause_ns));
            }
        }
        initiator.handle_timeout(os::monotonic());
    }
}

/// How long to wait after a failed receive. A closed port is reported at once: the peer may be about to open it.
fn pause_ns_after(error: io::Error) -> io::Result<u64> {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Ok(1_000_000),
        _ if is_idle(&error) => Ok(0),
        _ => Err(error),
    }
}

fn unless_idle(error: io::Error) -> io::Result<()> {
    if is_idle(&error) { Ok(()) } else { Err(error) }
}

/// The result of sending to a port that may not be open yet: the message is resent later.
fn unless_refused(sent: io::Result<usize>) -> io::Result<()> {
    match sent {
        Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => Err(error),
        _ => Ok(()),
    }
}

fn no_answer(peer: SocketAddr, patience_ns: u64) -> Failure {
    let (port, address, seconds) = (peer.port(), peer.ip(), patience_ns / 1_000_000_000);
    let message = format!("no answer from UDP port {port} of {address} in {seconds} s");
    Failure::new("peer.no_answer", message).hint(super::NO_ANSWER_HINT)
}

pub struct Accepted {
    pub socket: Arc<DatagramSocket>,
    pub acceptor: Acceptor,
}

/// Wait for the sender of a UDP flow to prove its address, and connect to it, calling `while_waiting` about fifty
/// times a second.
pub fn accept_datagram(
    socket: DatagramSocket,
    peer: IpAddr,
    (token, flow): (Token, u16),
    silence_ns: u64,
    running: &Running,
    mut while_waiting: impl FnMut() -> Result<(), Failure>,
) -> Result<Accepted, Failure> {
    let mut acceptor = Acceptor::new(token, flow, random_u64()?);
    let mut buffer = [0; RECEIVE_LEN];
    let (began, longest_ns) = (os::monotonic(), accept_timeout_ns(silence_ns));
    let system = |error: &io::Error| Failure::system("session set-up", error);
    socket.set_receive_timeout(Some(TICK)).map_err(|error| system(&error))?;
    let mut next_turn = Instant::ZERO;
    let reply = loop {
        check_waiting(running, began, longest_ns)?;
        // A flood must not starve other work.
        let now = os::monotonic();
        if now >= next_turn {
            next_turn = now + TICK;
            while_waiting()?;
        }
        match socket.plain().recv_from(&mut buffer) {
            Ok((length, from)) if from.ip() == peer => {
                let now = os::monotonic();
                let message = Message::parse(&buffer[..length]).ok();
                let reply = message.and_then(|message| acceptor.handle(&message, from, now));
                if acceptor.peer().is_some() {
                    break reply;
                }
                if let Some(reply) = reply {
                    // The peer repeats its question if the reply is lost. Without room the reply is dropped: a
                    // flood of questions must not block this end.
                    let _ = socket.plain().send_to(&reply.emit(), from);
                }
            }
            // Only the peer is answered.
            Ok(_) => {}
            Err(error) => unless_idle(error).map_err(|error| system(&error))?,
        }
    };
    if let Some(from) = acceptor.peer() {
        socket.plain().connect(from).map_err(|error| system(&error))?;
    }
    let mut accepted = Accepted { socket: Arc::new(socket), acceptor };
    // Earlier datagrams may be from anybody; none belongs to the stream, which begins at its start.
    accepted.discard(running, began, longest_ns)?;
    if let Some(reply) = reply {
        let _ = accepted.socket.plain().send(&reply.emit());
    }
    Ok(accepted)
}

/// Maximum datagrams read per check while waiting, so that a flood does not block the receiver.
const LOOKED_AT: usize = 1_000;

impl Accepted {
    /// Repeat the acceptance while waiting for the start, as the sender may have missed it.
    pub fn answer_again(&mut self) -> Result<(), Failure> {
        for _ in 0..LOOKED_AT {
            if !self.take_one(true)? {
                break;
            }
        }
        Ok(())
    }

    fn discard(
        &mut self,
        running: &Running,
        began: Instant,
        longest_ns: u64,
    ) -> Result<(), Failure> {
        while self.take_one(false)? {
            check_waiting(running, began, longest_ns)?;
        }
        Ok(())
    }

    fn take_one(&mut self, answer: bool) -> Result<bool, Failure> {
        let mut buffer = [0; RECEIVE_LEN];
        match self.socket.try_receive(&mut buffer) {
            Ok(None) => return Ok(false),
            Ok(Some(length)) if answer => {
                let message = Message::parse(&buffer[..length]).ok();
                let now = os::monotonic();
                let reply = message.and_then(|message| self.acceptor.handle_again(&message, now));
                if let Some(reply) = reply {
                    let _ = self.socket.plain().send(&reply.emit());
                }
            }
            Ok(Some(_)) => {}
            Err(error) => {
                unless_idle(error).map_err(|error| Failure::system("session", &error))?;
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::thread;

    use lanlab_wire::session::Kind;

    use super::*;
    use crate::output::Output;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const TOKEN: Token = Token([7; 16]);
    const SILENCE_NS: u64 = 3_000_000_000;

    fn running() -> Running {
        Running::new(1, Output::new(io::sink()))
    }

    fn bound(port: u16) -> DatagramSocket {
        bind_datagram(HERE.into(), port, &SocketOptions::default()).unwrap()
    }

    fn connected(port: u16, running: &Running) -> Result<Connected, Failure> {
        let peer = SocketAddr::new(HERE, port);
        connect_datagram((None, peer), &SocketOptions::default(), TOKEN, 3, SILENCE_NS, running)
    }

    fn accepted(socket: DatagramSocket, peer: IpAddr, running: &Running) -> Accepted {
        accept_datagram(socket, peer, (TOKEN, 3), SILENCE_NS, running, || Ok(())).unwrap()
    }

    #[test]
    fn a_session_starts_although_the_port_opens_late() {
        let port = local_port(&bound(0)).unwrap();
        let began = os::monotonic();
        let acceptor = thread::spawn(move || {
            thread::sleep(5 * TICK);
            let mut accepted = accepted(bound(port), HERE, &running());
            // A lost answer is sent again; silence of the peer is not an error.
            accepted.answer_again().unwrap();
            accepted
        });
        let Connected { socket, round_trip_ns } = connected(port, &running()).unwrap();
        let took_ns = os::monotonic().nanos_since(began);
        let accepted = acceptor.join().unwrap();
        assert!(took_ns >= 100_000_000 && (1..took_ns).contains(&round_trip_ns), "{round_trip_ns}");
        assert_eq!(accepted.acceptor.peer().map(|peer| peer.port()), local_port(&socket).ok());
        // Both are connected, and no setup message is left in a socket.
        socket.plain().send(b"stream").unwrap();
        accepted.socket.set_receive_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut octets = [0; 16];
        assert_eq!(accepted.socket.plain().recv(&mut octets).unwrap(), 6);
        assert_eq!(&octets[..6], b"stream");
    }

    #[test]
    fn strangers_are_not_answered_or_mistaken_for_the_peer() {
        let socket = bound(0);
        let port = local_port(&socket).unwrap();
        let (here, there) = (Arc::new(running()), Arc::new(running()));
        let waiting = Arc::clone(&there);
        // The acceptor expects another host.
        let acceptor = thread::spawn(move || {
            let peer = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9));
            accept_datagram(socket, peer, (TOKEN, 3), SILENCE_NS, &waiting, || Ok(()))
                .err()
                .unwrap()
                .code
        });
        let stopper = Arc::clone(&here);
        let asking = thread::spawn(move || connected(port, &stopper).err().unwrap().code);
        let stranger = UdpSocket::bind((HERE, 0)).unwrap();
        stranger.send_to(&[0; 500], (HERE, port)).unwrap();
        thread::sleep(10 * TICK);
        assert!(!acceptor.is_finished() && !asking.is_finished());
        here.cancel();
        there.cancel();
        assert_eq!([acceptor.join().unwrap(), asking.join().unwrap()], ["cancelled"; 2]);
    }

    #[test]
    fn a_port_that_is_not_open_yet_is_no_error() {
        assert!(unless_refused(Ok(5)).is_ok());
        assert!(unless_refused(Err(io::ErrorKind::ConnectionRefused.into())).is_ok());
        let error = unless_refused(Err(io::ErrorKind::NetworkUnreachable.into())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NetworkUnreachable);
    }

    #[test]
    fn unrelated_errors_do_not_end_a_session() {
        use io::ErrorKind::{
            ConnectionRefused, Interrupted, NetworkUnreachable, TimedOut, WouldBlock,
        };
        let pause = |kind: io::ErrorKind| pause_ns_after(kind.into()).ok();
        assert_eq!([WouldBlock, TimedOut, Interrupted].map(pause), [Some(0); 3]);
        assert_eq!([ConnectionRefused, NetworkUnreachable].map(pause), [Some(1_000_000), None]);
        let passed = [WouldBlock, TimedOut, Interrupted, NetworkUnreachable]
            .map(|kind| unless_idle(kind.into()).is_ok());
        assert_eq!(passed, [true, true, true, false]);
    }

    fn answer(asking: &UdpSocket) -> Option<Message> {
        let mut octets = [0; 100];
        let length = asking.recv(&mut octets).ok()?;
        Some(Message::parse(&octets[..length]).unwrap())
    }

    #[test]
    fn only_questions_of_exact_length_are_answered() {
        let socket = bound(0);
        let asking = UdpSocket::bind((HERE, 0)).unwrap();
        asking.connect((HERE, local_port(&socket).unwrap())).unwrap();
        asking.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let acceptor = thread::spawn(move || accepted(socket, HERE, &running()));
        let ask = |kind| {
            let message = Message { token: TOKEN, flow: 3, kind };
            // A longer message gets no answer, so the only answer belongs to the other message.
            asking.send(&[&message.emit()[..], &[0]].concat()).unwrap();
            asking.send(&message.emit()).unwrap();
        };
        ask(Kind::Hello { nonce: 5 });
        let challenge = answer(&asking).unwrap();
        let Kind::Challenge { cookie } = challenge.kind else { panic!("{challenge:?}") };
        ask(Kind::Prove { cookie, nonce: 5 });
        assert_eq!(answer(&asking).unwrap().kind, Kind::Accept { nonce: 5 });
        let mut accepted = acceptor.join().unwrap();
        // Ask again, as if that answer was lost.
        ask(Kind::Prove { cookie, nonce: 5 });
        accepted.answer_again().unwrap();
        assert_eq!(answer(&asking).unwrap().kind, Kind::Accept { nonce: 5 });
        // Discarded messages get no answer.
        ask(Kind::Prove { cookie, nonce: 5 });
        accepted.discard(&running(), os::monotonic(), setup_ns(SILENCE_NS)).unwrap();
        asking.set_nonblocking(true).unwrap();
        assert_eq!(answer(&asking), None);
    }

    #[test]
    fn a_waiting_handshake_yields_and_can_be_cancelled() {
        let mut turns = 0;
        let ended = accept_datagram(bound(0), HERE, (TOKEN, 3), SILENCE_NS, &running(), || {
            turns += 1;
            if turns < 4 { Ok(()) } else { Err(Failure::cancelled()) }
        });
        assert_eq!((ended.err().unwrap().code, turns), ("cancelled", 4));
    }

    #[test]
    fn earlier_datagrams_are_discarded_and_only_the_peer_is_answered() {
        let (socket, source) = (bound(0), UdpSocket::bind((HERE, 0)).unwrap());
        source.connect((HERE, local_port(&socket).unwrap())).unwrap();
        let acceptor = Acceptor::new(TOKEN, 3, 5);
        let mut accepted = Accepted { socket: Arc::new(socket), acceptor };
        assert!(!accepted.take_one(false).unwrap());
        for _ in 0..3 {
            source.send(&[0; 500]).unwrap();
        }
        assert!(accepted.take_one(true).unwrap());
        let (began, longest_ns) = (os::monotonic(), setup_ns(SILENCE_NS));
        accepted.discard(&running(), began, longest_ns).unwrap();
        assert!(!accepted.take_one(false).unwrap());
        for _ in 0..3 {
            source.send(&[0; 500]).unwrap();
        }
        accepted.answer_again().unwrap();
        assert!(!accepted.take_one(true).unwrap());
        let cancelled = running();
        cancelled.cancel();
        source.send(&[0; 500]).unwrap();
        let ended = accepted.discard(&cancelled, began, longest_ns).unwrap_err();
        assert_eq!(ended.code, "cancelled");
    }

    #[test]
    fn addresses_and_times_are_reported_unchanged() {
        assert_eq!(any_address(HERE), IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        assert_eq!(any_address(Ipv6Addr::LOCALHOST.into()), IpAddr::V6(Ipv6Addr::UNSPECIFIED));
        for (silence_ns, said) in [(SILENCE_NS, "5 s"), (63_000_000_000, "63 s")] {
            let failure = no_answer(SocketAddr::new(HERE, 9), setup_ns(silence_ns));
            let wanted = format!("no answer from UDP port 9 of 127.0.0.1 in {said}");
            assert_eq!(failure.message, wanted);
        }
        let socket = bound(0);
        let port = local_port(&socket).unwrap();
        assert_eq!(port, socket.plain().local_addr().unwrap().port());
        assert!(bind_datagram(HERE.into(), port, &SocketOptions::default()).is_err());
    }
}
