//! Socket options that the system may grant only partially.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

/// Options of a datagram socket. `None` leaves the system's default.
#[derive(Debug, Clone, Copy, Default)]
pub struct DatagramOptions {
    /// `SO_SNDBUF`, bytes.
    pub send_buffer_bytes: Option<usize>,
    /// `SO_RCVBUF`, bytes.
    pub receive_buffer_bytes: Option<usize>,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Share the port with other sockets of this user; connected sockets have priority.
    pub shares_port: bool,
}

/// A UDP socket bound to `address` with `options` in force.
pub fn bind_datagram(address: SocketAddr, options: &DatagramOptions) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    apply_buffers(&socket, options.send_buffer_bytes, options.receive_buffer_bytes)?;
    apply_dscp(&socket, address, options.dscp)?;
    if options.shares_port {
        socket.set_reuse_port(true)?;
    }
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// A socket for ICMP echo bound to `address`, and whether it is raw: a datagram socket if this user may open
/// one (`net.ipv4.ping_group_range`, icmp(7)), otherwise a raw one.
///
/// # Errors
/// A system error; `PermissionDenied` if this user may open neither.
pub fn bind_icmp(address: SocketAddr, options: &DatagramOptions) -> io::Result<(UdpSocket, bool)> {
    let protocol = if address.is_ipv4() { Protocol::ICMPV4 } else { Protocol::ICMPV6 };
    let open = |kind| Socket::new(Domain::for_address(address), kind, Some(protocol));
    // Report the raw socket's error, because users can be granted the right to open one.
    let (socket, is_raw) = match open(Type::DGRAM) {
        Ok(socket) => (socket, false),
        Err(_) => (open(Type::RAW)?, true),
    };
    apply_buffers(&socket, options.send_buffer_bytes, options.receive_buffer_bytes)?;
    apply_dscp(&socket, address, options.dscp)?;
    socket.bind(&address.into())?;
    Ok((socket.into(), is_raw))
}

/// Begin to connect a non-blocking socket, which becomes writable once connected or failed.
pub fn begin_to_connect(socket: &Socket, to: SocketAddr) -> io::Result<()> {
    match socket.connect(&to.into()) {
        Err(error) if is_in_progress(&error) => Ok(()),
        done => done,
    }
}

fn is_in_progress(error: &io::Error) -> bool {
    if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) {
        return true;
    }
    error.kind() == io::ErrorKind::WouldBlock
}

/// Set both buffers, and check that the system did not silently limit them.
pub fn apply_buffers(
    socket: &Socket,
    send_bytes: Option<usize>,
    receive_bytes: Option<usize>,
) -> io::Result<()> {
    let refused = |name: &str, asked: usize, granted: usize| {
        let message = format!("{name} buffer: asked for {asked} bytes, granted {granted}");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    };
    // Linux reports twice the requested size, including bookkeeping (socket(7)).
    if let Some(asked) = send_bytes {
        socket.set_send_buffer_size(asked)?;
        let granted = socket.send_buffer_size()?;
        if granted < asked {
            return Err(refused("send", asked, granted));
        }
    }
    if let Some(asked) = receive_bytes {
        socket.set_recv_buffer_size(asked)?;
        let granted = socket.recv_buffer_size()?;
        if granted < asked {
            return Err(refused("receive", asked, granted));
        }
    }
    Ok(())
}

/// Set the differentiated services code point of sent packets (RFC 2474).
pub fn apply_dscp(socket: &Socket, address: SocketAddr, dscp: u8) -> io::Result<()> {
    if dscp == 0 {
        return Ok(());
    }
    let traffic_class = u32::from(dscp) << 2;
    if address.is_ipv4() {
        socket.set_tos_v4(traffic_class)
    } else {
        socket.set_tclass_v6(traffic_class)
    }
}
