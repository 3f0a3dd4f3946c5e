//! What a session of FTP reaches its server by: sockets of this host, or a simulated machine.

use std::fmt::Debug;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lanlab_connections::Wire;
use lanlab_files::{Class, Fault, MinimumRate, Result, Target};
use rustls::ClientConfig;
use rustls::client::TicketRequest;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsConnector, TlsStream};

use crate::{small, transport, trust};

/// Connections to a server, and a clock to wait by.
pub trait Network: Debug {
    /// A connection.
    type Wire: AsyncRead + AsyncWrite + Unpin + Debug;

    /// Connect to a port of the server, without TLS.
    ///
    /// # Errors
    /// It cannot be reached.
    fn connect(&self, peer: SocketAddr) -> impl Future<Output = Result<Self::Wire>>;

    /// Whether data connections speak TLS.
    fn has_tls(&self) -> bool;

    /// Speak TLS on a connection, if data connections do.
    ///
    /// # Errors
    /// The server does not agree to it, or is not the one that is trusted.
    fn secure(&self, what: &str, wire: Self::Wire) -> impl Future<Output = Result<Self::Wire>>;

    /// How a connection is protected, in words, and whether it sends at once (`TCP_NODELAY`).
    fn facts(&self, wire: &Self::Wire) -> (String, Option<bool>);

    /// How long an answer is waited for.
    fn patience(&self) -> Duration;

    /// Time since a moment that stays the same.
    fn now(&self) -> Duration;

    /// Bounded wait: `work`, within the patience.
    ///
    /// # Errors
    /// Those of `work`, and that it took longer.
    fn within<T>(
        &self,
        what: &str,
        work: impl Future<Output = Result<T>>,
    ) -> impl Future<Output = Result<T>>;

    /// Read from a connection as soon as something comes, and see whether it moves.
    ///
    /// # Errors
    /// Those of `reading`, and that it is too slow.
    fn moving(
        &self,
        what: &str,
        pace: &mut MinimumRate,
        reading: impl Future<Output = Result<usize>>,
    ) -> impl Future<Output = Result<usize>> {
        async move {
            let began = self.now();
            let count = self.within(what, reading).await?;
            pace.moved(what, self.patience(), self.now().saturating_sub(began), count)?;
            Ok(count)
        }
    }
}

/// Sockets of this host.
#[derive(Debug)]
pub struct Sockets {
    target: Target,
    tls: Option<Tls>,
    began: Instant,
}

/// How TLS is spoken.
#[derive(Debug)]
struct Tls {
    /// With what resumes it: the same for all connections of a session, which some servers demand of a data
    /// connection as a sign that it is from the same client.
    config: Arc<ClientConfig>,
    /// To whom.
    name: ServerName<'static>,
}

impl Sockets {
    /// To a server, over TLS if `has_tls`.
    pub fn new(target: Target, has_tls: bool) -> Result<Self> {
        let tls = || -> Result<Tls> {
            Ok(Tls { config: asking_for_tickets(&target)?, name: transport::tls_name(&target)? })
        };
        let tls = has_tls.then(tls).transpose()?;
        Ok(Self { target, tls, began: Instant::now() })
    }
}

/// How TLS is spoken: each connection uses up one ticket, and asks for the next. Servers that know
/// RFC 9149 give it on connections where they only receive, too.
fn asking_for_tickets(target: &Target) -> Result<Arc<ClientConfig>> {
    let mut config = ClientConfig::clone(&*transport::tls_client(target)?);
    config.send_ticket_request = Some(TicketRequest { new_session_count: 2, resumption_count: 1 });
    Ok(Arc::new(config))
}

impl Network for Sockets {
    type Wire = Wire;

    async fn connect(&self, peer: SocketAddr) -> Result<Wire> {
        match small::connect(&self.target, peer).await? {
            Some(stream) => Ok(Wire::Small(stream)),
            None => transport::connect_to(&self.target, peer).await.map(Wire::Plain),
        }
    }

    fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    async fn secure(&self, what: &str, wire: Wire) -> Result<Wire> {
        let Some(tls) = &self.tls else { return Ok(wire) };
        let Wire::Plain(stream) = wire else {
            return Err(Fault::new(Class::Protocol, format!("{what}: TLS is spoken already")));
        };
        let connector = TlsConnector::from(Arc::clone(&tls.config));
        let handshake = async {
            let shaken = connector.connect(tls.name.clone(), stream).await;
            shaken.map_err(|error| trust::tls_fault(what, &error))
        };
        let stream = self.within(what, handshake).await?;
        Ok(Wire::Tls(Box::new(TlsStream::Client(stream))))
    }

    fn facts(&self, wire: &Wire) -> (String, Option<bool>) {
        let protection = match wire {
            Wire::Plain(_) | Wire::Small(_) => "none".to_owned(),
            Wire::Tls(stream) => transport::tls_words(stream.get_ref().1),
        };
        (protection, wire.no_delay())
    }

    fn patience(&self) -> Duration {
        Duration::from_nanos(self.target.timeout_ns)
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    async fn within<T>(&self, what: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
        transport::within(&self.target, what, work).await
    }
}
