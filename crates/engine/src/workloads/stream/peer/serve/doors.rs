//! Flows over UDP: each opens with a datagram to the server's port, and has a socket of its own there.
//!
//! A datagram is answered only if it came from the address of a client whose control connection is open and
//! which was asked to open its flows just now: who sends from there has shown by the handshake of TCP that it
//! receives there. The answer is as long as the question. Nothing else goes to anybody.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use lanlab_os::{DatagramOptions, DatagramSocket};
use lanlab_wire::iperf3::{HELLO_ANSWER, HELLO_BYTES};

/// Datagrams taken in a row, so that others have their turn.
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

    /// A socket of the same port for what `peer` alone sends, and who else asked there before it was so.
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

    /// A flow is about to begin: what its socket has until now is none of its messages.
    pub fn hand_over(socket: &DatagramSocket) -> io::Result<()> {
        askers(socket.plain());
        socket.enable_local_drop_reports()?;
        socket.plain().set_nonblocking(false)
    }
}

fn askers(socket: &UdpSocket) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    // One more octet than a question has shows what is longer.
    let mut octets = [0; HELLO_BYTES + 1];
    for _ in 0..TAKES_IN_A_ROW {
        match socket.recv_from(&mut octets) {
            // Versions and processors differ in what they ask with: that it is so short is enough.
            Ok((HELLO_BYTES, from)) => found.push(from),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(_) => break,
        }
    }
    found
}
