use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::{TcpInfo, TcpLimits};

fn unsupported<T>(what: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, format!("{what} is not known on this system")))
}

pub fn tcp_info<S>(_connection: &S) -> io::Result<TcpInfo> {
    unsupported("TCP_INFO")
}

pub fn set_congestion_control<S>(_socket: &S, _name: &str) -> io::Result<()> {
    unsupported("choosing a congestion control")
}

pub fn limit_tcp<S>(_socket: &S, _limits: TcpLimits) -> io::Result<()> {
    unsupported("limiting the segments and the window of TCP")
}

/// Not known here, and nothing is done: the system acknowledges as it chooses.
pub fn acknowledge_at_once<S>(_socket: &S) -> io::Result<()> {
    Ok(())
}

/// Not known here, and nothing is done.
pub fn shut_down_connections(_port: u16, _peers: &BTreeSet<SocketAddr>) {}

/// Not known here: none.
pub fn unread_bytes<S>(_socket: &S) -> io::Result<u64> {
    Ok(0)
}

/// Not known here, and nothing is done: a bound socket has its port at once.
pub fn choose_port_late<S>(_socket: &S) -> io::Result<()> {
    Ok(())
}

/// Read what is there without waiting for more.
///
/// # Errors
/// The system's own; `WouldBlock` if there is nothing.
pub fn receive_now(mut connection: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    connection.set_nonblocking(true)?;
    let received = connection.read(buffer);
    connection.set_nonblocking(false)?;
    received
}

/// Write as much as there is room for without waiting for more.
///
/// # Errors
/// The system's own; `WouldBlock` if there is no room.
pub fn send_now(mut connection: &TcpStream, octets: &[u8]) -> io::Result<usize> {
    connection.set_nonblocking(true)?;
    let sent = connection.write(octets);
    connection.set_nonblocking(false)?;
    sent
}
