use std::io;
use std::net::TcpStream;

use crate::TcpInfo;

fn unsupported<T>(what: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, format!("{what} is not known on this system")))
}

/// Not known here.
///
/// # Errors
/// Always `Unsupported`.
pub fn tcp_info(_connection: &TcpStream) -> io::Result<TcpInfo> {
    unsupported("TCP_INFO")
}

/// Not known here.
///
/// # Errors
/// Always `Unsupported`.
pub fn set_congestion_control<S>(_socket: &S, _name: &str) -> io::Result<()> {
    unsupported("choosing a congestion control")
}
