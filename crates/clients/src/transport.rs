//! Our connections, with `TCP_NODELAY`, requested buffers, and a timeout on every wait.

use std::future::Future;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lanlab_files::{Class, Fault, HostAddress, MinimumRate, Result, Target, TcpAgreed, TcpProfile};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::trust;

/// Privileged ports that no current service uses.
const LOW_PORTS: Range<u16> = 665..1024;

const MOST_LOW_PORTS: u16 = 32;

fn address(target: &Target) -> Result<HostAddress> {
    target.address.ok_or_else(|| {
        Fault::new(Class::Unreachable, format!("{:?}: found no address", target.service))
            .hint("name the server's address")
    })
}

/// Name of the server, e.g. for certificates; its address if it has no other.
pub fn server_name(target: &Target) -> Result<String> {
    match &target.server_name {
        Some(name) => Ok(name.clone()),
        // A zone is local to this host and not sent to the server (RFC 6874, section 4).
        None => Ok(address(target)?.ip().to_string()),
    }
}

pub async fn within<T>(
    target: &Target,
    what: &str,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let patience = Duration::from_nanos(target.timeout_ns);
    let done = tokio::time::timeout(patience, work).await;
    done.unwrap_or_else(|_| Err(Fault::late(what, patience)))
}

/// Read from a stream as soon as data arrives, and check its rate.
pub async fn moving(
    target: &Target,
    what: &str,
    pace: &mut MinimumRate,
    reading: impl Future<Output = Result<usize>>,
) -> Result<usize> {
    let began = Instant::now();
    let count = within(target, what, reading).await?;
    pace.moved(what, Duration::from_nanos(target.timeout_ns), began.elapsed(), count)?;
    Ok(count)
}

pub async fn connect(target: &Target, usual: u16) -> Result<TcpStream> {
    connect_to(target, peer(target, target.port.unwrap_or(usual))?).await
}

pub fn peer(target: &Target, port: u16) -> Result<SocketAddr> {
    socket_address(address(target)?, port)
}

fn socket_address(address: HostAddress, port: u16) -> Result<SocketAddr> {
    lanlab_os::socket_address(address.ip(), address.zone(), port)
        .map_err(|error| Fault::new(Class::Unreachable, format!("address `{address}`: {error}")))
}

/// Connect to an address that the server has named, such as an FTP data port.
pub async fn connect_to(target: &Target, peer: SocketAddr) -> Result<TcpStream> {
    connect_from(target, peer, 0).await.map_err(|(fault, _)| fault)
}

/// Connect from a port below 1024 if permitted and available, otherwise from any port.
pub async fn connect_from_low_port(target: &Target, peer: SocketAddr) -> Result<TcpStream> {
    let mut random = [0; 2];
    let first = getrandom::fill(&mut random).map_or(0, |()| u16::from_ne_bytes(random));
    for place in 0..MOST_LOW_PORTS {
        let port = LOW_PORTS.start + first.wrapping_add(place) % (LOW_PORTS.end - LOW_PORTS.start);
        match connect_from(target, peer, port).await {
            // The port is in use, or was within the last minute for a connection to the same peer.
            Err((_, Some(ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable))) => {}
            Err((_, Some(ErrorKind::PermissionDenied))) => break,
            done => return done.map_err(|(fault, _)| fault),
        }
    }
    connect_to(target, peer).await
}

/// Connect from a port of this host; 0: any. A failure includes the kind of system error.
async fn connect_from(
    target: &Target,
    peer: SocketAddr,
    port: u16,
) -> std::result::Result<TcpStream, (Fault, Option<ErrorKind>)> {
    let what = format!("connect to {peer}");
    let failed = |error: &std::io::Error| (Fault::of_connection(&what, error), Some(error.kind()));
    let anywhere = if peer.is_ipv4() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED)
    } else {
        IpAddr::V6(Ipv6Addr::UNSPECIFIED)
    };
    let bind = match target.bind {
        Some(address) => Some(socket_address(address, port).map_err(|fault| (fault, None))?),
        None => (port > 0).then(|| SocketAddr::new(anywhere, port)),
    };
    let connecting = async {
        let socket = if peer.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
        let socket = socket.map_err(|error| failed(&error))?;
        let set = || -> std::io::Result<()> {
            socket.set_nodelay(true)?;
            if let Some(bytes) = target.send_buffer_bytes {
                socket.set_send_buffer_size(bytes)?;
            }
            if let Some(bytes) = target.receive_buffer_bytes {
                socket.set_recv_buffer_size(bytes)?;
            }
            if let Some(profile) = target.options.smb1().tcp_profile {
                lanlab_os::limit_tcp(&socket, limits(profile))?;
            }
            let Some(address) = bind else { return Ok(()) };
            if port == 0 {
                lanlab_os::choose_port_late(&socket)?;
            }
            socket.bind(address)
        };
        set().map_err(|error| failed(&error))?;
        socket.connect(peer).await.map_err(|error| failed(&error))
    };
    let patience = Duration::from_nanos(target.timeout_ns);
    tokio::time::timeout(patience, connecting).await.unwrap_or_else(|_| {
        let fault = Fault::late(&what, patience).hint(
            "see whether address and port are right, and whether a firewall drops what goes there",
        );
        Err((fault, None))
    })
}

fn limits(profile: TcpProfile) -> lanlab_os::TcpLimits {
    match profile {
        TcpProfile::Nt4 => {
            lanlab_os::TcpLimits { maximum_segment_bytes: 1460, window_bytes: 6 * 1460 }
        }
    }
}

pub fn tcp_agreed(profile: Option<TcpProfile>, stream: &TcpStream) -> Option<TcpAgreed> {
    let (profile, info) = (profile?, lanlab_os::tcp_info(stream).ok()?);
    Some(TcpAgreed {
        profile,
        maximum_segment_bytes: info.facts.maximum_segment_bytes,
        window_bytes: info.window_bytes,
        server_window_bytes: info.peer_window_bytes,
        has_selective_acknowledgement: info.has_selective_acknowledgement,
        has_timestamps: info.has_timestamps,
        has_window_scaling: info.has_window_scaling,
    })
}

/// The verifier of the server's certificate, according to [`Target::trust`].
pub fn tls_client(target: &Target) -> Result<Arc<ClientConfig>> {
    trust::tls_client(&target.trust, rustls::DEFAULT_VERSIONS)
}

pub fn tls_name(target: &Target) -> Result<ServerName<'static>> {
    let name = server_name(target)?;
    ServerName::try_from(name.clone()).map_err(|_| {
        Fault::new(Class::Name, format!("`{name}` is no name that a certificate can be for"))
    })
}

/// Start TLS on a connection with a configuration from [`tls_client`].
pub async fn tls(
    target: &Target,
    config: Arc<ClientConfig>,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>> {
    let connector = TlsConnector::from(config);
    let name = tls_name(target)?;
    let handshake = async {
        connector.connect(name, stream).await.map_err(|error| trust::tls_fault("TLS", &error))
    };
    within(target, "TLS", handshake).await
}

/// Protection of a connection, such as `TLS 1.3, AES-256-GCM`.
pub fn tls_words(connection: &rustls::CommonState) -> String {
    let version = match connection.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLS 1.2",
        Some(rustls::ProtocolVersion::TLSv1_3) => "TLS 1.3",
        _ => "TLS",
    };
    match connection.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str()) {
        Some(suite) => format!("{version}, {suite}"),
        None => version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    /// Seconds until reads of `bytes` bytes, each after `wait`, count as too slow; at most a day.
    fn ends_after_s(bytes: usize, wait: Duration) -> Option<f64> {
        let (mut pace, mut passed) = (MinimumRate::default(), Duration::ZERO);
        while passed < Duration::from_hours(24) {
            passed += wait;
            if pace.moved("read", PATIENCE, wait, bytes).is_err() {
                return Some(passed.as_secs_f64());
            }
        }
        None
    }

    #[test]
    fn dripping_servers_time_out_and_slow_links_do_not() {
        let ended = ends_after_s(1, Duration::from_millis(300)).expect("a drip");
        assert!((30.0..31.0).contains(&ended), "{ended}");
        assert_eq!(ends_after_s(1000, Duration::from_millis(100)), None);
        // A server that waits long, and then sends much.
        assert_eq!(ends_after_s(64_000, Duration::from_secs(29)), None);
    }

    #[test]
    fn a_late_burst_is_not_a_drip() {
        let mut pace = MinimumRate::default();
        pace.moved("read", PATIENCE, Duration::from_secs(29), 100).expect("the first octets");
        pace.moved("read", PATIENCE, Duration::from_secs(2), 0).expect("and their end");
    }

    #[test]
    fn a_low_source_port_is_used_if_permitted() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let may = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 1023)).is_ok();
        let target = Target::new(lanlab_files::ServiceKind::Nfs);
        let peer = listener.local_addr().unwrap();
        let streams: Vec<_> = (0..3)
            .map(|_| runtime.block_on(connect_from_low_port(&target, peer)).unwrap())
            .collect();
        for stream in &streams {
            assert_eq!(stream.local_addr().unwrap().port() < 1024, may);
        }
    }
}
