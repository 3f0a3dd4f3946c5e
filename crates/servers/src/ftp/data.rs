//! Data connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use lanlab_connections::Wire;
use lanlab_connections::small::SmallListener;
use lanlab_files::Result as Done;
use rustls::ServerConfig;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsStream};

use crate::identity::Identity;

/// Connections queued by the system; normally there is one.
const BACKLOG: u32 = 4;

/// Maximum TLS tickets for a client that requests them on a connection where it only writes.
const MAX_ASKED_TICKETS: usize = 2;

/// TLS configuration of a server's connections. A session from one connection resumes on any other.
#[derive(Debug)]
pub struct Tls {
    pub usual: Arc<ServerConfig>,
    /// For clients that only write and never read. Unread data would make their system reset the
    /// connection on close and drop unsent data (RFC 2525, section 2.17; RFC 8446, section 6.1). So
    /// tickets are sent only on request (RFC 9149).
    pub receiving: Arc<ServerConfig>,
}

impl Tls {
    pub fn new(identity: &Identity) -> Done<Self> {
        let usual = identity.tls_server()?;
        let mut receiving = ServerConfig::clone(&usual);
        receiving.send_tls13_tickets = 0;
        receiving.max_tls13_tickets = MAX_ASKED_TICKETS;
        Ok(Self { usual, receiving: Arc::new(receiving) })
    }
}

#[derive(Debug)]
pub enum Listener {
    System(TcpListener),
    Own(SmallListener),
}

/// Listen for data connections of a session, only at the address the client connected to.
///
/// One port serves all of them in turn: the system holds a closed port for a minute, so with a port per connection
/// a thousand stations would exhaust all ports in half a minute.
pub fn listen(mut address: SocketAddr) -> io::Result<TcpListener> {
    address.set_port(0);
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Drop connections made before this transfer: the client opened them and did not use them.
pub fn turn_away(listener: &Listener) {
    match listener {
        Listener::Own(listener) => listener.turn_away(),
        Listener::System(listener) => {
            for _ in 0..=BACKLOG {
                if SockRef::from(listener).accept().is_err() {
                    break; // No connection.
                }
            }
        }
    }
}

/// Accept a data connection from the client only (RFC 2577 section 4).
pub async fn accept(listener: &TcpListener, client: IpAddr) -> io::Result<TcpStream> {
    loop {
        let (stream, peer) = listener.accept().await?;
        if peer.ip() == client {
            stream.set_nodelay(true)?;
            return Ok(stream);
        }
    }
}

/// Open a data connection to the client, from the address it connected to.
pub async fn connect(mut from: SocketAddr, to: SocketAddr) -> io::Result<TcpStream> {
    from.set_port(0);
    let socket = if from.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(from)?;
    let stream = socket.connect(to).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

pub async fn accept_own(listener: &SmallListener, client: IpAddr) -> io::Result<Wire> {
    loop {
        let stream = listener.accept().await?;
        if stream.peer.ip() == client {
            return Ok(Wire::Small(stream));
        }
    }
}

pub async fn secure(config: &Arc<ServerConfig>, stream: TcpStream) -> io::Result<Wire> {
    let stream = TlsAcceptor::from(Arc::clone(config)).accept(stream).await?;
    Ok(Wire::Tls(Box::new(TlsStream::Server(stream))))
}
