//! UDP flows, each opened by a datagram to the server's port, with its own socket.
//!
//! A datagram is answered only if it comes from a client that has an open control connection and is currently
//! opening flows: its TCP handshake has proved its address. The answer is as long as the question. Nothing else is
//! sent.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use lanlab_os::{DatagramOptions, DatagramSocket};
use lanlab_wire::iperf3::{HELLO_ANSWER, HELLO_BYTES};

/// Maximum datagrams read in a row, so that others get their turn.
const TAKES_IN_A_ROW: usize = 256;

pub struct Door {
    socket: DatagramSocket,
    address: SocketAddr,
}

impl Door {
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let options = DatagramOptions { shares_port: true, ..DatagramOptions::default() };
        let socket = DatagramSocket::bind(address, &options)?;
        socket.plain().set_nonblocking(true)?;
        Ok(Self { socket, address })
    }

    pub fn askers(&self) -> Vec<SocketAddr> {
        askers(self.socket.plain())
    }

    /// A socket on the same port for `peer` only, and senders of other earlier datagrams.
    pub fn connect(
        &self,
        peer: SocketAddr,
        options: DatagramOptions,
    ) -> io::Result<(DatagramSocket, Vec<SocketAddr>)> {
        let options = DatagramOptions { shares_port: true, ..options };
        let socket = DatagramSocket::bind(self.address, &options)?;
        socket.plain().set_nonblocking(true)?;
        socket.plain().connect(peer)?;
        let mut others = askers(socket.plain());
        others.retain(|from| *from != peer);
        socket.plain().send(&HELLO_ANSWER)?;
        Ok((socket, others))
    }

    /// Discard earlier datagrams, because a flow is about to begin.
    pub fn hand_over(socket: &DatagramSocket) -> io::Result<()> {
        askers(socket.plain());
        socket.enable_local_drop_reports()?;
        socket.plain().set_nonblocking(false)
    }
}

fn askers(socket: &UdpSocket) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    // One byte more than a question has, to detect longer ones.
    let mut octets = [0; HELLO_BYTES + 1];
    for _ in 0..TAKES_IN_A_ROW {
        match socket.recv_from(&mut octets) {
            // Content differs between versions and architectures, so check only the length.
            Ok((HELLO_BYTES, from)) => found.push(from),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(_) => break,
        }
    }
    found
}
