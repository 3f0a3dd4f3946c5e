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

/// Connections that the system holds until they are taken: there should be one.
const BACKLOG: u32 = 4;

/// Most TLS tickets for a client that asks for them on a connection where it only writes.
const MAX_ASKED_TICKETS: usize = 2;

/// How TLS is spoken on the connections of a server. What one of them brings resumes TLS on any other.
#[derive(Debug)]
pub struct Tls {
    pub usual: Arc<ServerConfig>,
    /// Where it only writes, and need not read: what it left unread would have its system reset the
    /// connection when the client closes it, and throw away what was not sent yet (RFC 2525, section
    /// 2.17; RFC 8446, section 6.1). So tickets go only to who asks for them (RFC 9149).
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

/// Listen for the data connections of a session, at the address that the client came to and no other.
///
/// One port serves all of them, one after the other: a port for each would be kept by the system for
/// a minute after its end, so that a thousand stations had none left after half a minute.
pub fn listen(mut address: SocketAddr) -> io::Result<TcpListener> {
    address.set_port(0);
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Drop connections from before the client was asked to connect: it made one and did not use it.
pub fn turn_away(listener: &Listener) {
    match listener {
        Listener::Own(listener) => listener.turn_away(),
        Listener::System(listener) => {
            for _ in 0..=BACKLOG {
                if SockRef::from(listener).accept().is_err() {
                    break; // There is none.
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

/// Make a data connection to the client, from the address that it came to.
pub async fn connect(mut from: SocketAddr, to: SocketAddr) -> io::Result<TcpStream> {
    from.set_port(0);
    let socket = if from.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(from)?;
    let stream = socket.connect(to).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

pub async fn accept_own(listener: &SmallListener, client: IpAddr) -> io::Result<Wire> {
    loop {
        let stream = listener.accept().await?;
        if stream.peer_address().ip() == client {
            return Ok(Wire::Small(stream));
        }
    }
}

pub async fn secure(config: &Arc<ServerConfig>, stream: TcpStream) -> io::Result<Wire> {
    let stream = TlsAcceptor::from(Arc::clone(config)).accept(stream).await?;
    Ok(Wire::Tls(Box::new(TlsStream::Server(stream))))
}
