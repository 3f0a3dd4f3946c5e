//! The network of an FTP session: sockets of this host, or a simulated machine.

use std::fmt::Debug;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use lanlab_connections::Wire;
use lanlab_files::{Class, Fault, MinimumRate, Result, Target};
use parking_lot::Mutex;
use rustls::client::TicketRequest;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsConnector, TlsStream};

use crate::{small, transport, trust};

/// Connections to a server, and a clock for timeouts.
pub trait Network: Debug {
    type Wire: AsyncRead + AsyncWrite + Unpin + Debug;

    /// Connect to a port of the server, without TLS.
    fn connect(&self, peer: SocketAddr) -> impl Future<Output = Result<Self::Wire>>;

    fn has_tls(&self) -> bool;

    /// Start TLS on a connection, if data connections use it.
    fn secure(&self, what: &str, wire: Self::Wire) -> impl Future<Output = Result<Self::Wire>>;

    /// Protection of a connection in words, and whether it sends at once (`TCP_NODELAY`).
    fn facts(&self, wire: &Self::Wire) -> (String, Option<bool>);

    /// Expect that uploads bring no TLS tickets. Call before [`Network::secure`].
    fn expect_no_tickets(&self) {}

    /// Learn from an upload's connection whether uploads bring TLS tickets.
    fn note_tickets(&self, _wire: &Self::Wire) {}

    /// Timeout for a reply.
    fn patience(&self) -> Duration;

    /// Time since a fixed moment.
    fn now(&self) -> Duration;

    /// Run `work` with the reply timeout.
    fn within<T>(
        &self,
        what: &str,
        work: impl Future<Output = Result<T>>,
    ) -> impl Future<Output = Result<T>>;

    /// Read from a connection as soon as data arrives, and check its rate.
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

#[derive(Debug)]
pub struct Sockets {
    target: Target,
    tls: Option<Tls>,
    began: Instant,
}

#[derive(Debug)]
struct Tls {
    /// All connections of a session resume TLS from one store, because some servers require that to
    /// recognise the client of a data connection.
    newest: Arc<ClientConfig>,
    chosen: OnceLock<Arc<ClientConfig>>,
    name: ServerName<'static>,
}

impl Sockets {
    pub fn new(target: Target, has_tls: bool) -> Result<Self> {
        let tls = || -> Result<Tls> {
            let newest = asking_for_tickets(&target, rustls::DEFAULT_VERSIONS)?;
            let name = transport::tls_name(&target)?;
            Ok(Tls { newest, chosen: OnceLock::new(), name })
        };
        let tls = has_tls.then(tls).transpose()?;
        Ok(Self { target, tls, began: Instant::now() })
    }
}

/// Each connection uses up one ticket and requests the next. Servers with RFC 9149 also send one on
/// connections on which they only receive.
fn asking_for_tickets(
    target: &Target,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<Arc<ClientConfig>> {
    let mut config = ClientConfig::clone(&*trust::tls_client(&target.trust, versions)?);
    config.send_ticket_request = Some(TicketRequest { new_session_count: 2, resumption_count: 1 });
    Ok(Arc::new(config))
}

/// Servers that sent no TLS 1.3 ticket with an upload, such as `ProFTPD`: a session with them would
/// end after two files. With TLS 1.2, one ticket resumes any number of connections.
static WITHOUT_TICKETS: Mutex<Vec<Server>> = Mutex::new(Vec::new());

type Server = (Option<String>, Option<u16>);

fn server(target: &Target) -> Server {
    (target.address.as_ref().map(ToString::to_string), target.port)
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
        if tls.chosen.get().is_none() {
            let is_without = WITHOUT_TICKETS.lock().contains(&server(&self.target));
            let _ = tls.chosen.set(if is_without {
                asking_for_tickets(&self.target, &[&rustls::version::TLS12])?
            } else {
                Arc::clone(&tls.newest)
            });
        }
        let config = tls.chosen.get().unwrap_or(&tls.newest);
        let connector = TlsConnector::from(Arc::clone(config));
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

    fn expect_no_tickets(&self) {
        let (mut known, server) = (WITHOUT_TICKETS.lock(), server(&self.target));
        if !known.contains(&server) {
            known.push(server);
        }
    }

    fn note_tickets(&self, wire: &Wire) {
        let Wire::Tls(stream) = wire else { return };
        let TlsStream::Client(client) = &**stream else { return };
        let tls = client.get_ref().1;
        let is_newest = tls.protocol_version() == Some(rustls::ProtocolVersion::TLSv1_3);
        if is_newest && tls.tls13_tickets_received() == 0 {
            self.expect_no_tickets();
        }
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

#[cfg(test)]
mod tests {
    use lanlab_files::{ServiceKind, Trust};
    use rcgen::{CertificateParams, KeyPair};
    use rustls::ServerConfig;
    use rustls::pki_types::PrivateKeyDer;
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    /// Like an upload to `ProFTPD`: no ticket arrives, and each connection must resume TLS.
    async fn server_without_tickets() -> (SocketAddr, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        let sha256 = lanlab_connections::tls::sha256_hex(&certificate);
        let mut config = ServerConfig::builder_with_provider(lanlab_connections::tls::provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        config.send_tls13_tickets = 0;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            for _ in 0..2 {
                let (stream, _) = listener.accept().await.unwrap();
                let _shaken = acceptor.accept(stream).await.unwrap();
            }
        });
        (address, sha256)
    }

    #[test]
    fn servers_without_tickets_get_tls_1_2_from_then_on() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (peer, sha256) = server_without_tickets().await;
            let target = Target {
                address: Some(peer.ip().into()),
                port: Some(peer.port()),
                trust: Trust::Sha256(sha256),
                timeout_ns: 10_000_000_000,
                ..Target::new(ServiceKind::Ftps)
            };
            for protection in ["TLS 1.3", "TLS 1.2"] {
                let sockets = Sockets::new(target.clone(), true).unwrap();
                let plain = sockets.connect(peer).await.unwrap();
                let wire = sockets.secure("test", plain).await.unwrap();
                assert!(
                    sockets.facts(&wire).0.starts_with(protection),
                    "{:?}",
                    sockets.facts(&wire)
                );
                sockets.note_tickets(&wire);
            }
        });
    }
}
