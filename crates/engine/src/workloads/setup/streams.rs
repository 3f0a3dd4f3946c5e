//! The session of TCP flows, opened with the token; the TCP handshake proves both addresses.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use lanlab_files::HostAddress;
use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_wire::session::{ANSWER_LEN, Kind, Message, QUESTION_LEN, Token};
use os::socket_options::{apply_buffers, apply_dscp};
use socket2::{Domain, Protocol, Socket, Type};

use super::{
    TICK, accept_timeout_ns, check_waiting, is_closed, is_idle, random_u64, setup_ns,
    socket_address,
};
use crate::messages::{Failure, SocketOptions, TcpFacts};
use crate::running::Running;

fn tcp_socket(address: SocketAddr, options: &SocketOptions, flow: u16) -> Result<Socket, Failure> {
    let build = || -> io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        // Before listening or connecting, because the handshake fixes the window scale.
        apply_buffers(
            &socket,
            options.send_buffer_bytes.map(|bytes| bytes as usize),
            options.receive_buffer_bytes.map(|bytes| bytes as usize),
        )?;
        apply_dscp(&socket, address, options.dscp)?;
        Ok(socket)
    };
    let socket = build().map_err(|error| Failure::system("TCP socket", &error))?;
    if let Some(name) = congestion_control_of(&options.congestion_controls, flow) {
        os::set_congestion_control(&socket, name).map_err(|error| {
            Failure::new(
                "socket.congestion_control",
                format!("congestion control `{name}`: {error}"),
            )
            .hint("`sysctl net.ipv4.tcp_allowed_congestion_control` lists those that this user may choose")
        })?;
    }
    Ok(socket)
}

/// The congestion control of a flow: the names are used in turn.
fn congestion_control_of(names: &[String], flow: u16) -> Option<&String> {
    names.get(flow as usize % names.len().max(1))
}

const BACKLOG: i32 = 4096;

pub fn listen(
    address: HostAddress,
    port: u16,
    options: &SocketOptions,
) -> Result<TcpListener, Failure> {
    let address = socket_address(address, port)?;
    let socket = tcp_socket(address, options, 0)?;
    let start = || -> io::Result<TcpListener> {
        // A port just used may be bound again; a listening one is still an error.
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    start().map_err(|error| Failure::system(format!("TCP port {port} on {}", address.ip()), &error))
}

/// Maximum connections being opened, and the minimum time for each. A longer tolerated silence
/// extends the time, as lost questions are resent. Above the limit the oldest is closed, so silent
/// connections cannot block others.
const MAX_OPENING: usize = 64;
const OPENING_NS: u64 = 1_000_000_000;

/// A connection not yet known to belong to the session.
struct Opening {
    stream: TcpStream,
    octets: [u8; QUESTION_LEN],
    filled: usize,
    deadline: Instant,
}

enum Opened {
    Not,
    Flow(Message),
    Foreign,
}

impl Opening {
    fn new(stream: TcpStream, patience_ns: u64) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let deadline = os::monotonic().plus_nanos(patience_ns);
        Ok(Self { stream, octets: [0; QUESTION_LEN], filled: 0, deadline })
    }

    fn read(&mut self, token: Token) -> Opened {
        while self.filled < QUESTION_LEN {
            match (&mut &self.stream).read(&mut self.octets[self.filled..]) {
                Ok(0) => return Opened::Foreign,
                Ok(octets) => self.filled += octets,
                Err(error) => return not_read(&error, os::monotonic() >= self.deadline),
            }
        }
        match Message::parse(&self.octets) {
            Ok(message)
                if matches!(message.kind, Kind::Hello { .. }) && message.token.matches(&token) =>
            {
                Opened::Flow(message)
            }
            _ => Opened::Foreign,
        }
    }

    fn accept(self, message: &Message, options: &SocketOptions) -> io::Result<TcpStream> {
        let Kind::Hello { nonce } = message.kind else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        self.stream.set_nonblocking(false)?;
        self.stream.set_nodelay(options.nodelay)?;
        // A newly connected socket has room for this.
        self.stream.set_write_timeout(Some(TICK))?;
        let answer = Message { kind: Kind::Accept { nonce }, ..*message };
        (&mut &self.stream).write_all(&answer.emit())?;
        self.stream.set_write_timeout(None)?;
        Ok(self.stream)
    }
}

fn not_read(error: &io::Error, is_late: bool) -> Opened {
    if is_idle(error) && !is_late { Opened::Not } else { Opened::Foreign }
}

/// Accept the session's `flows` connections: from the peer, and with its token.
pub fn accept_streams(
    listener: &TcpListener,
    peer: IpAddr,
    (token, flows): (Token, u16),
    options: &SocketOptions,
    silence_ns: u64,
    running: &Running,
) -> Result<Vec<TcpStream>, Failure> {
    let mut streams: Vec<Option<TcpStream>> = (0..flows).map(|_| None).collect();
    let mut opening: VecDeque<Opening> = VecDeque::with_capacity(MAX_OPENING + 1);
    let mut since = os::monotonic();
    while streams.iter().any(Option::is_none) {
        check_waiting(running, since, accept_timeout_ns(silence_ns))?;
        let mut idle = true;
        match listener.accept() {
            Ok((stream, from)) => {
                idle = false;
                // Only the peer's connections are read.
                let one = Opening::new(stream, OPENING_NS.max(silence_ns));
                if let Some(one) = one.ok().filter(|_| from.ip() == peer) {
                    opening.push_back(one);
                }
            }
            Err(error) => unless_gone(&error)?,
        }
        for _ in 0..opening.len() {
            let Some(mut one) = opening.pop_front() else { break };
            match one.read(token) {
                Opened::Not => opening.push_back(one),
                Opened::Foreign => {}
                Opened::Flow(message) => {
                    if let Some(place) = streams.get_mut(message.flow as usize)
                        && place.is_none()
                    {
                        *place = one.accept(&message, options).ok();
                        since = os::monotonic();
                    }
                }
            }
        }
        make_room(&mut opening);
        if idle {
            os::sleep_until(os::monotonic().plus_nanos(1_000_000));
        }
    }
    Ok(streams.into_iter().flatten().collect())
}

/// Ignore that no connection is waiting, or that it was gone before being accepted (accept(2)).
fn unless_gone(error: &io::Error) -> Result<(), Failure> {
    if is_idle(error) || is_closed(error) {
        return Ok(());
    }
    Err(Failure::system("accept", error))
}

fn make_room<T>(opening: &mut VecDeque<T>) {
    if opening.len() > MAX_OPENING {
        opening.pop_front();
    }
}

/// Open a TCP flow to a receiver; silence of up to `silence_ns` is tolerated.
pub fn connect_stream(
    (bind, peer): (Option<HostAddress>, SocketAddr),
    options: &SocketOptions,
    token: Token,
    flow: u16,
    silence_ns: u64,
    running: &Running,
) -> Result<(TcpStream, u64), Failure> {
    let (nonce, patience_ns) = (random_u64()?, setup_ns(silence_ns));
    let open = opener((bind, peer), options, flow, patience_ns)?;
    let connect = || -> io::Result<(TcpStream, u64)> {
        let stream = open()?;
        let sent_at = os::monotonic();
        let hello = Message { token, flow, kind: Kind::Hello { nonce } };
        (&stream).write_all(&hello.emit())?;
        let mut octets = [0; ANSWER_LEN];
        read_answer(&stream, &mut octets, sent_at.plus_nanos(patience_ns), running)?;
        if !is_acceptance(&octets, nonce, token) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok((stream, os::monotonic().nanos_since(sent_at)))
    };
    connect().map_err(|error| {
        if running.is_cancelled() {
            return Failure::cancelled();
        }
        if is_without_way(&error) {
            return Failure::system(format!("connect to {peer}"), &error);
        }
        Failure::new(
            "peer.no_answer",
            format!("session with TCP port {} of {}: {error}", peer.port(), peer.ip()),
        )
        .hint(super::NO_ANSWER_HINT)
    })
}

/// Opens a connection; the caller words the error.
fn opener(
    (bind, peer): (Option<HostAddress>, SocketAddr),
    options: &SocketOptions,
    flow: u16,
    patience_ns: u64,
) -> Result<impl FnOnce() -> io::Result<TcpStream>, Failure> {
    let socket = tcp_socket(peer, options, flow)?;
    let bind = bind.map(|address| socket_address(address, 0)).transpose()?;
    let nodelay = options.nodelay;
    Ok(move || {
        if let Some(bind) = bind {
            socket.bind(&bind.into())?;
        }
        socket.connect_timeout(&peer.into(), Duration::from_nanos(patience_ns))?;
        let stream = TcpStream::from(socket);
        stream.set_nodelay(nodelay)?;
        stream.set_read_timeout(Some(TICK))?;
        Ok(stream)
    })
}

/// A non-blocking socket to a peer that is not an engine, which resets the connection on close: after many
/// connections, the peer keeps no state, and this host has its port back.
pub fn fleeting_socket(
    (bind, peer): (Option<HostAddress>, SocketAddr),
    options: &SocketOptions,
) -> Result<Socket, Failure> {
    let socket = tcp_socket(peer, options, 0)?;
    if let Some(bind) = bind {
        socket
            .bind(&socket_address(bind, 0)?.into())
            .map_err(|error| Failure::system(format!("connect from {bind}"), &error))?;
    }
    socket
        .set_nonblocking(true)
        .and_then(|()| socket.set_linger(Some(Duration::ZERO)))
        .map_err(|error| Failure::system("socket options", &error))?;
    Ok(socket)
}

/// Open a connection to a peer that is not an engine, and return its handshake time.
pub fn connect_to_peer(
    (bind, peer): (Option<HostAddress>, SocketAddr),
    options: &SocketOptions,
    flow: u16,
    silence_ns: u64,
) -> Result<(TcpStream, u64), Failure> {
    let open = opener((bind, peer), options, flow, setup_ns(silence_ns))?;
    let began = os::monotonic();
    match open() {
        Ok(stream) => Ok((stream, os::monotonic().nanos_since(began))),
        Err(error) if is_without_way(&error) => {
            Err(Failure::system(format!("connect to {peer}"), &error))
        }
        Err(error) => {
            let (port, address) = (peer.port(), peer.ip());
            Err(Failure::new("peer.no_answer", format!("TCP port {port} of {address}: {error}"))
                .hint("check that a program listens there and no firewall blocks it"))
        }
    }
}

/// Whether this host cannot send there. An unreachable host may be a firewall's answer; an unreachable network is
/// not.
fn is_without_way(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, NetworkUnreachable};
    matches!(error.kind(), AddrNotAvailable | NetworkUnreachable)
}

fn is_acceptance(octets: &[u8], nonce: u64, token: Token) -> bool {
    Message::parse(octets)
        .is_ok_and(|reply| reply.kind == Kind::Accept { nonce } && reply.token.matches(&token))
}

/// Read all of `octets` before `deadline`, unless cancelled.
fn read_answer(
    mut stream: &TcpStream,
    octets: &mut [u8],
    deadline: Instant,
    running: &Running,
) -> io::Result<()> {
    let mut filled = 0;
    while filled < octets.len() {
        match stream.read(&mut octets[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => filled += more,
            Err(error) if is_idle(&error) => {
                if running.is_cancelled() || os::monotonic() >= deadline {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

pub fn tcp_facts(stream: &TcpStream) -> Option<TcpFacts> {
    let facts = os::tcp_info(stream).ok()?.facts;
    Some(TcpFacts { congestion_control: congestion_control(stream), ..facts })
}

fn congestion_control(stream: &TcpStream) -> Option<String> {
    let name = socket2::SockRef::from(stream).tcp_congestion().ok()?;
    let end = name.iter().position(|octet| *octet == 0).unwrap_or(name.len());
    String::from_utf8(name[..end].to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::output::Output;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        near.set_read_timeout(Some(TICK)).unwrap();
        (near, listener.accept().unwrap().0)
    }

    fn running() -> Running {
        Running::new(1, Output::new(io::sink()))
    }

    fn in_a_minute() -> Instant {
        os::monotonic().plus_nanos(60_000_000_000)
    }

    #[test]
    fn late_and_split_answers_are_read() {
        let (near, far) = pair();
        let answerer = thread::spawn(move || {
            for octet in 1..=3_u8 {
                thread::sleep(3 * TICK);
                (&far).write_all(&[octet]).unwrap();
            }
        });
        let mut octets = [0; 3];
        read_answer(&near, &mut octets, in_a_minute(), &running()).unwrap();
        assert_eq!(octets, [1, 2, 3]);
        answerer.join().unwrap();
    }

    #[test]
    fn waiting_for_an_answer_ends_at_its_deadline() {
        let (near, _far) = pair();
        let deadline = os::monotonic().plus_nanos(60_000_000);
        let error = read_answer(&near, &mut [0], deadline, &running()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(os::monotonic() >= deadline);
    }

    #[test]
    fn a_cancelled_request_does_not_wait_for_its_deadline() {
        let (near, _far) = pair();
        let (running, deadline) = (running(), os::monotonic().plus_nanos(5_000_000_000));
        running.cancel();
        assert!(read_answer(&near, &mut [0], deadline, &running).is_err());
        assert!(os::monotonic() < deadline);
    }

    #[test]
    fn a_closed_peer_gives_no_answer() {
        let (near, far) = pair();
        (&far).write_all(&[1]).unwrap();
        drop(far);
        let error = read_answer(&near, &mut [0; 2], in_a_minute(), &running()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn tcp_info_is_reported_per_connection() {
        let (near, far) = pair();
        (&near).write_all(&[7; 1_000]).unwrap();
        (&far).read_exact(&mut [0; 1_000]).unwrap();
        let (sent, received) = (tcp_facts(&near).unwrap(), tcp_facts(&far).unwrap());
        assert_eq!((received.received_bytes, sent.received_bytes), (1_000, 0));
        assert_eq!((sent.data_segments_sent, received.data_segments_received), (1, 1));
        let usual = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
        assert_eq!(sent.congestion_control.as_deref(), Some(usual.trim()));
    }

    #[test]
    fn flows_use_the_congestion_controls_in_turn() {
        let names = ["reno", "cubic", "bbr"].map(str::to_owned);
        let of = |names: &'static [&str], flow| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            congestion_control_of(&names, flow).cloned()
        };
        let found = [0, 1, 2, 3, 7].map(|flow| congestion_control_of(&names, flow).unwrap());
        assert_eq!(found, ["reno", "cubic", "bbr", "reno", "cubic"]);
        assert_eq!((of(&[], 0), of(&[], 5)), (None, None));
        assert_eq!(of(&["reno"], 5).as_deref(), Some("reno"));
    }

    const TOKEN: Token = Token([7; 16]);

    fn message(token: Token, kind: Kind) -> Vec<u8> {
        Message { token, flow: 3, kind }.emit().to_vec()
    }

    #[test]
    fn only_an_answer_to_our_question_is_an_acceptance() {
        let is = |token, kind| is_acceptance(&message(token, kind), 5, TOKEN);
        assert!(is(TOKEN, Kind::Accept { nonce: 5 }));
        assert!(!is(TOKEN, Kind::Accept { nonce: 6 }));
        assert!(!is(Token([8; 16]), Kind::Accept { nonce: 5 }));
        assert!(!is(TOKEN, Kind::Challenge { cookie: 5 }));
        assert!(!is_acceptance(&[7; ANSWER_LEN], 5, TOKEN));
    }

    #[test]
    fn only_dead_connections_are_skipped() {
        use io::ErrorKind::{ConnectionAborted, Interrupted, OutOfMemory, WouldBlock};
        let passed = [WouldBlock, Interrupted, ConnectionAborted, OutOfMemory]
            .map(|kind| unless_gone(&kind.into()).is_ok());
        assert_eq!(passed, [true, true, true, false]);
    }

    #[test]
    fn the_oldest_of_too_many_connections_makes_room() {
        let mut opening: VecDeque<usize> = (0..64).collect();
        make_room(&mut opening);
        assert_eq!((opening.len(), opening.front()), (64, Some(&0)));
        opening.push_back(64);
        make_room(&mut opening);
        assert_eq!((opening.len(), opening.front(), opening.back()), (64, Some(&1), Some(&64)));
        opening.truncate(3);
        make_room(&mut opening);
        assert_eq!(opening, [1, 2, 3]);
    }

    fn opening(octets: &[u8]) -> (Opening, TcpStream) {
        let (near, far) = pair();
        (&far).write_all(octets).unwrap();
        let mut opening = Opening::new(near, OPENING_NS).unwrap();
        opening.deadline = in_a_minute();
        (opening, far)
    }

    #[test]
    fn openings_are_read_in_pieces_and_checked_against_the_session() {
        let question = message(TOKEN, Kind::Hello { nonce: 5 });
        let (mut one, far) = opening(&question[..40]);
        assert!(matches!(one.read(TOKEN), Opened::Not));
        (&far).write_all(&question[40..]).unwrap();
        let Opened::Flow(asked) = one.read(TOKEN) else { panic!("not opened") };
        assert_eq!((asked.flow, asked.kind), (3, Kind::Hello { nonce: 5 }));
        // Data after the question belongs to the stream.
        (&far).write_all(b"stream").unwrap();
        let stream = one.accept(&asked, &SocketOptions::default()).unwrap();
        let mut answer = [0; ANSWER_LEN];
        (&far).read_exact(&mut answer).unwrap();
        assert!(is_acceptance(&answer, 5, TOKEN));
        let mut octets = [0; 6];
        (&stream).read_exact(&mut octets).unwrap();
        assert_eq!(&octets, b"stream");
    }

    #[test]
    fn connections_without_our_opening_are_foreign() {
        let other = Token([8; 16]);
        let prove = message(TOKEN, Kind::Prove { cookie: 1, nonce: 5 });
        for question in [message(other, Kind::Hello { nonce: 5 }), prove, vec![0; QUESTION_LEN]] {
            let (mut one, _far) = opening(&question);
            assert!(matches!(one.read(TOKEN), Opened::Foreign), "{question:?}");
        }
        let (mut late, _far) = opening(&[1; 10]);
        late.deadline = os::monotonic();
        assert!(matches!(late.read(TOKEN), Opened::Foreign));
        let (mut ended, far) = opening(&[1; 10]);
        drop(far);
        assert!(matches!(ended.read(TOKEN), Opened::Foreign));
    }

    /// Closed without a pause, a connection with unread octets is reset (RFC 2525, section 2.17).
    #[test]
    fn reset_connections_are_not_waited_for() {
        let (near, far) = pair();
        (&near).write_all(&[1]).unwrap();
        far.peek(&mut [0]).unwrap();
        drop(far);
        let error = read_answer(&near, &mut [0], in_a_minute(), &running()).unwrap_err();
        assert!(is_closed(&error), "{error}");
        let is_waited_for =
            |kind: io::ErrorKind, is_late| matches!(not_read(&kind.into(), is_late), Opened::Not);
        assert!(is_waited_for(io::ErrorKind::WouldBlock, false));
        assert!(!is_waited_for(io::ErrorKind::WouldBlock, true));
        assert!(!is_waited_for(io::ErrorKind::ConnectionReset, false));
    }
}
