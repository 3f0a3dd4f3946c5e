//! Setting up a session between two engines: addresses, sockets, and the proof that both ends
//! receive where they say.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use lanlab_link as link;
use lanlab_link::{DatagramOptions, DatagramSocket};
use lanlab_units::Instant;
use lanlab_wire::session::{Kind, MESSAGE_LEN, Message, Token};
use link::socket_options::{apply_buffers, apply_dscp};
use socket2::{Domain, Protocol, Socket, Type};

use crate::failure::Failure;
use crate::messages::{SocketOptions, TcpFacts, Transport};
use crate::running::Running;
use crate::session::{Acceptor, Initiator, InitiatorState, SETUP_NS};

/// Largest UDP payload over IPv4: 65,535 octets less the IP and UDP headers.
const MAX_UDP_BYTES: u32 = 65_507;
const MAX_TCP_BYTES: u32 = 16 * 1024 * 1024;
/// How often a waiting end looks whether the driver wants it to stop.
pub const TICK: Duration = Duration::from_millis(20);
/// A listener waits so long for the driver to start the other end.
const ACCEPT_TIMEOUT_NS: u64 = 30_000_000_000;

/// Check what `stream` and `echo` have in common.
pub fn check_common(
    transport: Transport,
    message_size_bytes: u32,
    socket: &SocketOptions,
    warmup_ns: u64,
    silence_ns: u64,
) -> Result<(), Failure> {
    let largest = if transport == Transport::Udp { MAX_UDP_BYTES } else { MAX_TCP_BYTES };
    check_range("message_size_bytes", message_size_bytes.into(), 1, largest.into())?;
    check_range("warmup_ns", warmup_ns, 0, 600_000_000_000)?;
    check_range("silence_ns", silence_ns, 100_000_000, 600_000_000_000)?;
    check_range("socket.dscp", socket.dscp.into(), 0, 63)?;
    for (key, value) in [
        ("socket.send_buffer_bytes", socket.send_buffer_bytes),
        ("socket.receive_buffer_bytes", socket.receive_buffer_bytes),
    ] {
        if let Some(value) = value {
            check_range(key, value.into(), 1024, 1 << 30)?;
        }
    }
    if transport == Transport::Udp && !socket.congestion_controls.is_empty() {
        return Err(Failure::value("socket.congestion_controls", "a name", "none over udp"));
    }
    Ok(())
}

/// Check that a value lies between two others, which are allowed themselves.
pub fn check_range(key: &str, value: u64, least: u64, most: u64) -> Result<(), Failure> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Failure::value(key, value, format!("{least} to {most}")))
}

/// The kernel's stamps are of datagrams, where it gives any.
pub fn check_kernel_timestamps(transport: Transport) -> Result<(), Failure> {
    if transport == Transport::Tcp {
        return Err(Failure::value("timestamps", "kernel", "program over tcp"));
    }
    if !link::capabilities().kernel_timestamps {
        return Err(Failure::new(
            "timestamps.unsupported",
            "no time stamps of the kernel on this system",
        )
        .hint("use timestamps `program`"));
    }
    Ok(())
}

/// Check that threads of this process may be bound to a processor, before anything is set up.
pub fn check_processor(processor: Option<u16>) -> Result<(), Failure> {
    // On a thread of its own, as this one shall stay free.
    let tried = std::thread::spawn(move || bind(processor)).join();
    tried.unwrap_or_else(|_| Err(Failure::new("engine.defect", "binding a thread panicked")))
}

/// Bind this thread to a processor, if one is asked for.
pub fn bind(processor: Option<u16>) -> Result<(), Failure> {
    let Some(processor) = processor else { return Ok(()) };
    link::bind_to_processor(processor.into()).map_err(|error| {
        Failure::new("processor.unusable", format!("processor {processor}: {error}"))
            .hint("`describe` says how many processors there are; the first is 0")
    })
}

/// Read a session's token.
pub fn parse_token(text: &str) -> Result<Token, Failure> {
    let wrong = || Failure::value("session", "another text", "32 hexadecimal digits");
    // A sign is no digit, though an integer parser would take it.
    if text.len() != 32 || !text.bytes().all(|octet| octet.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let mut octets = [0; 16];
    for (octet, digits) in octets.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
        *octet = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
    }
    Ok(Token(octets))
}

/// Refuse addresses that a measurement must not go to, or that do not go together.
pub fn check_addresses(bind: Option<IpAddr>, peer: IpAddr) -> Result<(), Failure> {
    let broadcast = peer == IpAddr::V4(Ipv4Addr::BROADCAST);
    if peer.is_multicast() || peer.is_unspecified() || broadcast {
        return Err(Failure::value("peer", peer, "the address of one host"));
    }
    match bind {
        Some(bind) if bind.is_ipv4() != peer.is_ipv4() => {
            Err(Failure::value("bind", bind, format!("an address of the same kind as {peer}")))
        }
        Some(bind) if bind.is_multicast() => {
            Err(Failure::value("bind", bind, "an address of this host"))
        }
        _ => Ok(()),
    }
}

/// The address to send from when the driver names none.
fn any_address(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}

fn random_u64() -> Result<u64, Failure> {
    getrandom::u64().map_err(|error| Failure::new("system.random", error.to_string()))
}

/// A UDP socket bound as the request says.
pub fn bind_datagram(
    address: IpAddr,
    port: u16,
    options: &SocketOptions,
) -> Result<DatagramSocket, Failure> {
    let address = SocketAddr::new(address, port);
    let options = DatagramOptions {
        send_buffer_bytes: options.send_buffer_bytes.map(|bytes| bytes as usize),
        receive_buffer_bytes: options.receive_buffer_bytes.map(|bytes| bytes as usize),
        dscp: options.dscp,
    };
    DatagramSocket::bind(address, &options)
        .map_err(|error| Failure::system(format!("UDP port {port} on {}", address.ip()), &error))
}

/// The port that a socket is bound to.
pub fn local_port(socket: &DatagramSocket) -> Result<u16, Failure> {
    let address = socket.plain().local_addr();
    address.map(|address| address.port()).map_err(|error| Failure::system("local port", &error))
}

/// Whether a receive came back without anything, and will be tried again.
pub fn is_idle(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// Whether the system had no room for a datagram in a queue of this host.
pub fn is_no_room(error: &io::Error) -> bool {
    #[cfg(target_os = "linux")]
    const NO_BUFFER_SPACE: i32 = 105;
    #[cfg(windows)]
    const NO_BUFFER_SPACE: i32 = 10_055;
    #[cfg(not(any(target_os = "linux", windows)))]
    const NO_BUFFER_SPACE: i32 = 55;
    error.raw_os_error() == Some(NO_BUFFER_SPACE)
}

/// Whether the peer has closed the connection.
pub fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset)
}

/// A socket connected to a receiver that has accepted the session.
pub struct Connected {
    pub socket: DatagramSocket,
    pub round_trip_ns: u64,
}

/// Open a flow to a receiver over UDP.
pub fn connect_datagram(
    bind: Option<IpAddr>,
    peer: SocketAddr,
    options: &SocketOptions,
    token: Token,
    flow: u16,
    running: &Running,
) -> Result<Connected, Failure> {
    let socket = bind_datagram(bind.unwrap_or_else(|| any_address(peer.ip())), 0, options)?;
    socket
        .plain()
        .connect(peer)
        .map_err(|error| Failure::system(format!("connect to {peer}"), &error))?;
    let system = |error: &io::Error| Failure::system(format!("session with {peer}"), error);
    let mut initiator = Initiator::new(token, flow, random_u64()?, link::monotonic());
    let mut buffer = [0; MESSAGE_LEN + 1];
    loop {
        if running.is_cancelled() {
            return Err(Failure::cancelled());
        }
        let now = link::monotonic();
        while let Some(message) = initiator.poll_transmit(now) {
            match socket.plain().send(&message.emit()) {
                // A port that is not open yet, or a link that is not up yet: asked again in time.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(system(&error)),
            }
        }
        match initiator.state() {
            InitiatorState::Accepted { round_trip_ns } => {
                return Ok(Connected { socket, round_trip_ns });
            }
            InitiatorState::GaveUp => {
                let seconds = SETUP_NS / 1_000_000_000;
                return Err(Failure::new(
                    "peer.no_answer",
                    format!("no answer from UDP port {} of {} in {seconds} s", peer.port(), peer.ip()),
                )
                .hint("see whether the other engine is ready, the link is up and no firewall is between"));
            }
            InitiatorState::Asking => {}
        }
        let timeout = initiator.poll_timeout().unwrap_or(now);
        let wait =
            Duration::from_nanos(timeout.nanos_since(now)).clamp(Duration::from_millis(1), TICK);
        socket.set_receive_timeout(Some(wait)).map_err(|error| system(&error))?;
        match socket.plain().recv(&mut buffer) {
            Ok(length) => {
                if let Ok(message) = Message::parse(&buffer[..length]) {
                    initiator.handle(&message, link::monotonic());
                }
            }
            Err(error) if is_idle(&error) => {}
            // The port is not open: the peer may be about to open it.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                link::sleep_until(link::monotonic().plus_nanos(1_000_000));
            }
            Err(error) => return Err(system(&error)),
        }
        initiator.handle_timeout(link::monotonic());
    }
}

/// Wait for the sender of a flow over UDP to prove its address, and connect to it. `while_waiting`
/// is called some fifty times a second.
pub fn accept_datagram(
    socket: &DatagramSocket,
    peer: IpAddr,
    token: Token,
    flow: u16,
    running: &Running,
    mut while_waiting: impl FnMut() -> Result<(), Failure>,
) -> Result<Acceptor, Failure> {
    let mut acceptor = Acceptor::new(token, flow, random_u64()?);
    let mut buffer = [0; MESSAGE_LEN + 1];
    let deadline = link::monotonic().plus_nanos(ACCEPT_TIMEOUT_NS);
    let system = |error: &io::Error| Failure::system("session set-up", error);
    socket.set_receive_timeout(Some(TICK)).map_err(|error| system(&error))?;
    while !acceptor.is_proved() {
        check_waiting(running, deadline)?;
        match socket.plain().recv_from(&mut buffer) {
            Ok((length, from)) if from.ip() == peer => {
                let reply = Message::parse(&buffer[..length])
                    .ok()
                    .and_then(|message| acceptor.handle(&message));
                if let Some(reply) = reply {
                    // A reply that is lost is asked for again.
                    let _ = socket.plain().send_to(&reply.emit(), from);
                    if acceptor.is_proved() {
                        socket.plain().connect(from).map_err(|error| system(&error))?;
                    }
                }
            }
            // Nobody but the peer is answered.
            Ok(_) => {}
            Err(error) if is_idle(&error) => while_waiting()?,
            Err(error) => return Err(system(&error)),
        }
    }
    Ok(acceptor)
}

/// While waiting for the start: the sender may not have heard that it was accepted.
pub fn answer_again(socket: &DatagramSocket, acceptor: &mut Acceptor) -> Result<(), Failure> {
    let mut buffer = [0; MESSAGE_LEN + 1];
    loop {
        match socket.try_receive(&mut buffer) {
            Ok(None) => return Ok(()),
            Ok(Some(length)) => {
                let message = Message::parse(&buffer[..length]).ok();
                if let Some(reply) = message.and_then(|message| acceptor.handle(&message)) {
                    let _ = socket.plain().send(&reply.emit());
                }
            }
            Err(error) if is_idle(&error) => {}
            Err(error) => return Err(Failure::system("session", &error)),
        }
    }
}

fn check_waiting(running: &Running, deadline: Instant) -> Result<(), Failure> {
    if running.is_cancelled() {
        return Err(Failure::cancelled());
    }
    if link::monotonic() >= deadline {
        let seconds = ACCEPT_TIMEOUT_NS / 1_000_000_000;
        return Err(Failure::new("peer.no_answer", format!("no sender came in {seconds} s"))
            .hint("see whether the other engine was started and the link is up"));
    }
    Ok(())
}

fn tcp_socket(address: SocketAddr, options: &SocketOptions, flow: u16) -> Result<Socket, Failure> {
    let build = || -> io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        // Before listening or connecting: the window scale is agreed on in the handshake.
        apply_buffers(
            &socket,
            options.send_buffer_bytes.map(|bytes| bytes as usize),
            options.receive_buffer_bytes.map(|bytes| bytes as usize),
        )?;
        apply_dscp(&socket, address, options.dscp)?;
        Ok(socket)
    };
    let socket = build().map_err(|error| Failure::system("TCP socket", &error))?;
    let controls = &options.congestion_controls;
    if let Some(name) = controls.get(flow as usize % controls.len().max(1)) {
        link::set_congestion_control(&socket, name).map_err(|error| {
            Failure::new(
                "socket.congestion_control",
                format!("congestion control `{name}`: {error}"),
            )
            .hint("`describe` lists those that this user may choose")
        })?;
    }
    Ok(socket)
}

/// Listen for the flows of a session over TCP.
pub fn listen(address: IpAddr, port: u16, options: &SocketOptions) -> Result<TcpListener, Failure> {
    let address = SocketAddr::new(address, port);
    let socket = tcp_socket(address, options, 0)?;
    let start = || -> io::Result<TcpListener> {
        // A port just used may be bound again; what still listens there is an error all the same.
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(128)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    start().map_err(|error| Failure::system(format!("TCP port {port} on {}", address.ip()), &error))
}

/// Accept the `flows` connections of a session: from the peer, and with its token.
pub fn accept_streams(
    listener: &TcpListener,
    peer: IpAddr,
    token: Token,
    flows: u16,
    options: &SocketOptions,
    running: &Running,
) -> Result<Vec<TcpStream>, Failure> {
    let mut streams: Vec<Option<TcpStream>> = (0..flows).map(|_| None).collect();
    let deadline = link::monotonic().plus_nanos(ACCEPT_TIMEOUT_NS);
    while streams.iter().any(Option::is_none) {
        check_waiting(running, deadline)?;
        match listener.accept() {
            Ok((stream, from)) if from.ip() == peer => {
                // A connection that does not open as ours is closed; the session goes on waiting.
                if let Ok(flow) = open_accepted(&stream, token, options)
                    && let Some(place) = streams.get_mut(flow as usize)
                    && place.is_none()
                {
                    *place = Some(stream);
                }
            }
            Ok(_) => {}
            Err(error) if is_idle(&error) => {
                link::sleep_until(link::monotonic().plus_nanos(1_000_000));
            }
            Err(error) => return Err(Failure::system("accept", &error)),
        }
    }
    Ok(streams.into_iter().flatten().collect())
}

fn open_accepted(stream: &TcpStream, token: Token, options: &SocketOptions) -> io::Result<u16> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(options.nodelay)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut octets = [0; MESSAGE_LEN];
    (&mut &*stream).read_exact(&mut octets)?;
    let message = Message::parse(&octets).map_err(io::Error::other)?;
    let Kind::Hello { nonce } = message.kind else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    if !message.token.matches(&token) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    (&mut &*stream).write_all(&Message { kind: Kind::Accept { nonce }, ..message }.emit())?;
    Ok(message.flow)
}

/// Open a flow to a receiver over TCP, which proves both addresses by its own handshake.
pub fn connect_stream(
    bind: Option<IpAddr>,
    peer: SocketAddr,
    options: &SocketOptions,
    token: Token,
    flow: u16,
    running: &Running,
) -> Result<(TcpStream, u64), Failure> {
    let socket = tcp_socket(peer, options, flow)?;
    let nonce = random_u64()?;
    let connect = || -> io::Result<(TcpStream, u64)> {
        if let Some(bind) = bind {
            socket.bind(&SocketAddr::new(bind, 0).into())?;
        }
        socket.connect_timeout(&peer.into(), Duration::from_nanos(SETUP_NS))?;
        let stream = TcpStream::from(socket);
        stream.set_nodelay(options.nodelay)?;
        stream.set_read_timeout(Some(TICK))?;
        let sent_at = link::monotonic();
        let hello = Message { token, flow, kind: Kind::Hello { nonce } };
        (&stream).write_all(&hello.emit())?;
        let mut octets = [0; MESSAGE_LEN];
        read_answer(&stream, &mut octets, sent_at.plus_nanos(SETUP_NS), running)?;
        match Message::parse(&octets) {
            Ok(reply) if reply.kind == Kind::Accept { nonce } && reply.token.matches(&token) => {
                Ok((stream, link::monotonic().nanos_since(sent_at)))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    };
    connect().map_err(|error| {
        if running.is_cancelled() {
            return Failure::cancelled();
        }
        if error.kind() == io::ErrorKind::AddrNotAvailable {
            return Failure::system(format!("connect to {peer}"), &error);
        }
        Failure::new(
            "peer.no_answer",
            format!("session with TCP port {} of {}: {error}", peer.port(), peer.ip()),
        )
        .hint("see whether the other engine is ready, the link is up and no firewall is between")
    })
}

/// Read all of `octets` before `deadline`, unless the driver wants the end.
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
                if running.is_cancelled() || link::monotonic() >= deadline {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What TCP knows of a connection, where the system tells.
pub fn tcp_facts(stream: &TcpStream) -> Option<TcpFacts> {
    let info = link::tcp_info(stream).ok()?;
    Some(TcpFacts {
        congestion_control: congestion_control(stream),
        segments_sent: info.segments_sent,
        data_segments_sent: info.data_segments_sent,
        retransmitted_segments: info.retransmitted_segments,
        acknowledged_bytes: info.acknowledged_bytes,
        received_bytes: info.received_bytes,
        data_segments_received: info.data_segments_received,
        round_trip_ns: info.round_trip_ns,
        round_trip_variation_ns: info.round_trip_variation_ns,
        minimum_round_trip_ns: info.minimum_round_trip_ns,
        congestion_window_segments: info.congestion_window_segments,
        maximum_segment_bytes: info.maximum_segment_bytes,
        busy_ns: info.busy_ns,
        receive_window_limited_ns: info.receive_window_limited_ns,
        send_buffer_limited_ns: info.send_buffer_limited_ns,
    })
}

#[cfg(target_os = "linux")]
fn congestion_control(stream: &TcpStream) -> Option<String> {
    let name = socket2::SockRef::from(stream).tcp_congestion().ok()?;
    let end = name.iter().position(|octet| *octet == 0).unwrap_or(name.len());
    String::from_utf8(name[..end].to_vec()).ok()
}

#[cfg(not(target_os = "linux"))]
fn congestion_control(_stream: &TcpStream) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_32_hexadecimal_digits() {
        let token = parse_token("000102030405060708090a0b0c0d0e0f").unwrap();
        assert_eq!(token.short(), 0x0c0d_0e0f);
        for wrong in
            ["", "00", "zz0102030405060708090a0b0c0d0e0f", "+0+1+2+3+4+5+6+7+8+9+a+b+c+d+e+f"]
        {
            assert!(parse_token(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_single_hosts_are_peers() {
        let check = |bind: Option<&str>, peer: &str| {
            let bind = bind.map(|address| address.parse().unwrap());
            check_addresses(bind, peer.parse().unwrap()).is_ok()
        };
        assert!(check(None, "127.0.0.1"));
        assert!(check(Some("::1"), "fd77::2"));
        assert!(!check(Some("127.0.0.1"), "::1"));
        for peer in ["224.0.0.1", "255.255.255.255", "0.0.0.0", "ff02::1", "::"] {
            assert!(!check(None, peer), "{peer}");
        }
    }
}
