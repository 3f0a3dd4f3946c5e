//! Session set-up between two engines: checks, and parts common to both transports.

mod datagrams;
mod ports;
mod streams;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use lanlab_files::HostAddress;
use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_wire::session::Token;
use lanlab_workloads::handshake::SETUP_NS;

use crate::messages::{Failure, SocketOptions, Transport};
use crate::running::Running;

pub use datagrams::{
    Accepted, accept_datagram, any_address, bind_datagram, connect_datagram, datagram_options,
    local_port,
};
pub use ports::Ports;
pub use streams::{
    accept_streams, connect_stream, connect_to_peer, fleeting_socket, listen, tcp_facts,
};

/// Largest UDP payload over IPv4: 65,535 octets less the IP and UDP headers.
const MAX_UDP_BYTES: u32 = 65_507;
const MAX_TCP_BYTES: u32 = 16 * 1024 * 1024;
/// Interval at which a waiting end checks for cancellation.
pub const TICK: Duration = Duration::from_millis(20);
/// How long a listener waits for each flow, unless a longer silence is tolerated.
const ACCEPT_TIMEOUT_NS: u64 = 30_000_000_000;

/// How long a listener waits for each flow of a peer whose silence of up to `silence_ns` is tolerated.
fn accept_timeout_ns(silence_ns: u64) -> u64 {
    ACCEPT_TIMEOUT_NS.max(2 * silence_ns)
}

pub fn setup_ns(silence_ns: u64) -> u64 {
    SETUP_NS.max(silence_ns)
}

const NO_ANSWER_HINT: &str = "see whether the other engine is ready, the link is up and no firewall is between; for a path whose round trip takes seconds, allow more by `--idle-timeout`";

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

pub fn check_range(key: &str, value: u64, least: u64, most: u64) -> Result<(), Failure> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Failure::value(key, value, format!("{least} to {most}")))
}

pub fn check_kernel_timestamps(transport: Transport) -> Result<(), Failure> {
    if transport == Transport::Tcp {
        return Err(Failure::value("timestamps", "kernel", "program over tcp"));
    }
    Ok(())
}

pub fn check_processor(processor: Option<u16>) -> Result<(), Failure> {
    // On a separate thread, so that this one stays unbound.
    let tried = std::thread::spawn(move || bind(processor)).join();
    tried.unwrap_or_else(|_| Err(Failure::new("engine.defect", "binding a thread panicked")))
}

pub fn bind(processor: Option<u16>) -> Result<(), Failure> {
    let Some(processor) = processor else { return Ok(()) };
    os::bind_to_processor(processor.into()).map_err(|error| {
        Failure::new("processor.unusable", format!("processor {processor}: {error}"))
            .hint("the first processor is 0; `nproc --all` prints their number")
    })
}

pub fn parse_token(text: &str) -> Result<Token, Failure> {
    let wrong = || Failure::value("session", "another text", "32 hexadecimal digits");
    // A sign is not a digit, though an integer parser accepts it.
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

pub fn socket_address(address: HostAddress, port: u16) -> Result<SocketAddr, Failure> {
    os::socket_address(address.ip(), address.zone(), port)
        .map_err(|error| Failure::new("bind.no_address", format!("address `{address}`: {error}")))
}

/// Refuse addresses that a measurement must not use, or that do not match.
pub fn check_addresses(bind: Option<HostAddress>, peer: HostAddress) -> Result<(), Failure> {
    let (bind, peer) = (bind.map(|address| address.ip()), peer.ip());
    let broadcast = peer == IpAddr::V4(Ipv4Addr::BROADCAST);
    if peer.is_multicast() || peer.is_unspecified() || broadcast {
        return Err(Failure::value("peer", peer, "the address of one host"));
    }
    match bind {
        Some(bind) if bind.is_ipv4() != peer.is_ipv4() => {
            Err(Failure::value("bind", bind, format!("an address of the same kind as {peer}")))
        }
        Some(bind) if bind.is_multicast() || bind == IpAddr::V4(Ipv4Addr::BROADCAST) => {
            Err(Failure::value("bind", bind, "an address of this host"))
        }
        _ => Ok(()),
    }
}

pub fn random_bytes<const N: usize>() -> Result<[u8; N], Failure> {
    let mut octets = [0; N];
    getrandom::fill(&mut octets)
        .map_err(|error| Failure::new("system.random", error.to_string()))?;
    Ok(octets)
}

fn random_u64() -> Result<u64, Failure> {
    getrandom::u64().map_err(|error| Failure::new("system.random", error.to_string()))
}

pub fn is_idle(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

pub fn is_no_room(error: &io::Error) -> bool {
    const NO_BUFFER_SPACE: i32 = 105;
    error.raw_os_error() == Some(NO_BUFFER_SPACE)
}

pub fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset)
}

fn check_waiting(running: &Running, began: Instant, longest_ns: u64) -> Result<(), Failure> {
    running.check()?;
    if os::monotonic().nanos_since(began) >= longest_ns {
        let seconds = longest_ns / 1_000_000_000;
        return Err(Failure::new("peer.no_answer", format!("no sender came in {seconds} s"))
            .hint("check that the other engine was started and the link is up; on a slow path, raise `--idle-timeout`"));
    }
    Ok(())
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
        assert!(check(Some("0.0.0.0"), "127.0.0.1") && check(Some("::"), "::1"));
        assert!(!check(Some("224.0.0.1"), "127.0.0.1") && !check(Some("ff02::1"), "::1"));
        assert!(!check(Some("255.255.255.255"), "127.0.0.1"));
    }

    #[test]
    fn errors_of_sockets_are_distinguished() {
        use io::ErrorKind::{
            BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted,
            TimedOut, WouldBlock,
        };
        let kinds = [
            WouldBlock,
            TimedOut,
            Interrupted,
            BrokenPipe,
            ConnectionAborted,
            ConnectionReset,
            ConnectionRefused,
        ];
        let idle = kinds.map(|kind| is_idle(&kind.into()));
        assert_eq!(idle, [true, true, true, false, false, false, false]);
        let closed = kinds.map(|kind| is_closed(&kind.into()));
        assert_eq!(closed, [false, false, false, true, true, true, false]);
        {
            // ENOBUFS and ENOMEM.
            let no_room = [105, 12].map(|code| is_no_room(&io::Error::from_raw_os_error(code)));
            assert_eq!(no_room, [true, false]);
        }
    }

    #[test]
    fn waiting_for_a_sender_ends_at_deadline_or_cancellation() {
        let running = Running::new(1, crate::output::Output::new(io::sink()));
        let (now, timeout_ns) = (os::monotonic(), accept_timeout_ns(3_000_000_000));
        assert!(check_waiting(&running, now, timeout_ns).is_ok());
        let long_ago = Instant::from_nanos(now.as_nanos().saturating_sub(timeout_ns));
        assert!(check_waiting(&running, long_ago, accept_timeout_ns(20_000_000_000)).is_ok());
        let late = check_waiting(&running, long_ago, timeout_ns).unwrap_err();
        assert_eq!(
            (late.code, late.message.as_str()),
            ("peer.no_answer", "no sender came in 30 s")
        );
        running.cancel();
        let cancelled = check_waiting(&running, now, timeout_ns).unwrap_err();
        assert_eq!(cancelled.code, "cancelled");
    }

    #[test]
    fn only_existing_processors_can_be_selected() {
        assert!(check_processor(None).is_ok());
        {
            let error = check_processor(Some(u16::MAX)).unwrap_err();
            assert_eq!(error.code, "processor.unusable");
            assert!(bind(Some(u16::MAX)).is_err());
        }
    }

    #[test]
    fn kernel_timestamps_need_datagrams() {
        let refused = check_kernel_timestamps(Transport::Tcp).unwrap_err();
        assert_eq!(refused.code, "request.value");
        assert!(check_kernel_timestamps(Transport::Udp).is_ok());
    }

    #[test]
    fn tokens_differ() {
        assert_ne!(random_u64().unwrap(), random_u64().unwrap());
    }

    #[test]
    fn shared_limits_are_inclusive() {
        let plain = SocketOptions::default();
        let check = |transport, size, warmup_ns, silence_ns| {
            check_common(transport, size, &plain, warmup_ns, silence_ns).is_ok()
        };
        let (udp, tcp) = (Transport::Udp, Transport::Tcp);
        let (most_ns, least_silence_ns) = (600_000_000_000, 100_000_000);
        assert!(check(udp, 1, 0, least_silence_ns));
        assert!(check(udp, 65_507, most_ns, most_ns));
        assert!(check(tcp, 16_777_216, most_ns, most_ns));
        assert!(!check(udp, 0, 0, most_ns));
        assert!(!check(udp, 65_508, 0, most_ns));
        assert!(!check(tcp, 16_777_217, 0, most_ns));
        assert!(!check(udp, 1, most_ns + 1, most_ns));
        assert!(!check(udp, 1, 0, most_ns + 1));
        assert!(!check(udp, 1, 0, least_silence_ns - 1));
    }

    #[test]
    fn socket_options_are_checked_before_a_socket_is_made() {
        let check = |transport, options: SocketOptions| {
            check_common(transport, 64, &options, 0, 1_000_000_000).is_ok()
        };
        let send = |bytes| SocketOptions { send_buffer_bytes: Some(bytes), ..Default::default() };
        let receive =
            |bytes| SocketOptions { receive_buffer_bytes: Some(bytes), ..Default::default() };
        for transport in [Transport::Udp, Transport::Tcp] {
            assert!(check(transport, send(1024)) && check(transport, receive(1 << 30)));
            assert!(!check(transport, send(1023)) && !check(transport, receive((1 << 30) + 1)));
            assert!(check(transport, SocketOptions { dscp: 63, ..Default::default() }));
            assert!(!check(transport, SocketOptions { dscp: 64, ..Default::default() }));
        }
        let controls = || vec!["reno".to_owned()];
        let controlled = SocketOptions { congestion_controls: controls(), ..Default::default() };
        assert!(check(Transport::Tcp, controlled.clone()));
        assert!(!check(Transport::Udp, controlled));
    }
}
