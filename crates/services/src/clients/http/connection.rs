//! Connections, and one request over one of them.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_LENGTH, HOST, HeaderValue, SERVER};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;

use super::answer::Answer;
use super::outgoing::Outgoing;
use crate::fault::{Class, Fault, Result};
use crate::target::Target;
use crate::transport;

/// Octets of a connection that are held here at most, either way; no head of an answer is longer.
const BUFFER_BYTES: usize = 1 << 19;

/// Octets of the name that a server gives itself that are kept.
const SERVER_BYTES: usize = 200;

/// A server, and how to reach it.
#[derive(Debug)]
pub struct Http {
    target: Target,
    usual_port: u16,
    tls: Option<Arc<ClientConfig>>,
    authority: String,
    host: HeaderValue,
    idle: RefCell<Option<Connection>>,
    opened: Cell<u32>,
    server: RefCell<Option<String>>,
    protection: RefCell<String>,
}

/// A connection and the task that moves its octets; both end together.
#[derive(Debug)]
pub struct Connection {
    sender: SendRequest<Outgoing>,
    running: Running,
}

/// The head of an answer that is on its way.
pub type Coming = Pin<Box<dyn Future<Output = hyper::Result<Response<Incoming>>> + Send>>;

#[derive(Debug)]
struct Running(JoinHandle<hyper::Result<()>>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Http {
    /// How to reach the server of a target, over TLS or not. Nothing is opened yet.
    pub fn new(target: &Target, with_tls: bool) -> Result<Self> {
        let tls = with_tls.then(|| transport::tls_client(target)).transpose()?;
        let tls = tls.map(|config| {
            let mut config = (*config).clone();
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
            Arc::new(config)
        });
        let usual_port = if with_tls { 443 } else { 80 };
        let authority = authority(target, usual_port)?;
        let host = HeaderValue::from_str(&authority).map_err(|_| {
            Fault::new(Class::Name, format!("`{authority}` is no name of a server"))
        })?;
        let opened = Cell::new(0);
        let protection = RefCell::new("none".to_owned());
        Ok(Self {
            target: target.clone(),
            usual_port,
            tls,
            authority,
            host,
            idle: RefCell::new(None),
            opened,
            server: RefCell::new(None),
            protection,
        })
    }

    /// What the session is with.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Name of the server and, unless it is the usual one, its port.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Connections opened so far.
    pub fn opened(&self) -> u32 {
        self.opened.get()
    }

    /// The protocol, with the number of connections if it took more than one.
    pub fn named(&self, protocol: &str) -> String {
        match self.opened() {
            0 | 1 => protocol.to_owned(),
            opened => format!("{protocol}, {opened} connections"),
        }
    }

    /// What the server calls itself.
    pub fn server(&self) -> Option<String> {
        self.server.borrow().clone()
    }

    /// How the connection is protected.
    pub fn protection(&self) -> String {
        self.protection.borrow().clone()
    }

    /// Make a request and wait for the head of its answer.
    pub async fn ask(&self, what: &str, request: Request<Outgoing>) -> Result<Answer> {
        let (connection, coming) = self.begin(what, request).await?;
        transport::within(&self.target, what, self.answered(what, connection, coming)).await
    }

    /// Make a request and do not wait.
    pub async fn begin(
        &self,
        what: &str,
        mut request: Request<Outgoing>,
    ) -> Result<(Connection, Coming)> {
        let size_bytes = request.body().size_bytes();
        let headers = request.headers_mut();
        headers.insert(HOST, self.host.clone());
        if size_bytes > 0 || !matches!(request.method().as_str(), "GET" | "HEAD") {
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(size_bytes));
        }
        let mut connection = match self.still_open().await {
            Some(connection) => connection,
            // Boxed: it is rare and large.
            None => Box::pin(self.open(what)).await?,
        };
        let coming = connection.sender.send_request(request);
        Ok((connection, Box::pin(coming)))
    }

    /// The head of an answer that was begun to be waited for; [`transport::within`] is the caller's.
    pub async fn answered(
        &self,
        what: &str,
        connection: Connection,
        coming: impl Future<Output = hyper::Result<Response<Incoming>>>,
    ) -> Result<Answer> {
        let response = coming.await.map_err(|error| fault(what, &error))?;
        if self.server.borrow().is_none()
            && let Some(server) = response.headers().get(SERVER)
            && let Ok(server) = server.to_str()
        {
            *self.server.borrow_mut() = Some(server.chars().take(SERVER_BYTES).collect());
        }
        Ok(Answer::new(connection, response))
    }

    /// Keep a connection for the next request. Give [`Class::Length`] if more has come over it than
    /// the server had said.
    pub async fn keep(&self, what: &str, connection: Connection) -> Result<()> {
        // So that what has come by now is seen.
        tokio::task::yield_now().await;
        if !connection.sender.is_closed() {
            self.idle.replace(Some(connection));
            return Ok(());
        }
        let Connection { sender, mut running } = connection;
        drop(sender);
        let ended = transport::within(&self.target, what, async { Ok((&mut running.0).await) });
        match ended.await {
            Ok(Ok(Err(error))) if error.to_string().contains("unexpected message") => {
                let message = format!("{what}: found more octets than the server had said");
                Err(Fault::new(Class::Length, message))
            }
            _ => Ok(()),
        }
    }

    /// Close the connection that is kept.
    pub async fn end(self) -> Result<()> {
        if let Some(Connection { sender, mut running }) = self.idle.take() {
            drop(sender);
            // Whatever the server says to that, it is over.
            let _ =
                transport::within(&self.target, "end", async { Ok((&mut running.0).await) }).await;
        }
        Ok(())
    }

    /// The connection that is kept, unless the server has closed it.
    async fn still_open(&self) -> Option<Connection> {
        let mut connection = self.idle.take()?;
        // The end of a connection that has come is known only when the reactor has been asked.
        tokio::task::yield_now().await;
        connection.sender.ready().await.ok()?;
        Some(connection)
    }

    async fn open(&self, what: &str) -> Result<Connection> {
        let stream = transport::connect(&self.target, self.usual_port).await?;
        self.opened.set(self.opened.get().saturating_add(1));
        let Some(tls) = &self.tls else {
            return speak(what, stream).await;
        };
        let stream = transport::tls(&self.target, Arc::clone(tls), stream).await?;
        *self.protection.borrow_mut() = transport::tls_words(stream.get_ref().1);
        speak(what, stream).await
    }
}

async fn speak<T>(what: &str, stream: T) -> Result<Connection>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.max_buf_size(BUFFER_BYTES);
    let (mut sender, connection) =
        builder.handshake(TokioIo::new(stream)).await.map_err(|error| fault(what, &error))?;
    let running = Running(tokio::spawn(connection));
    sender.ready().await.map_err(|error| fault(what, &error))?;
    Ok(Connection { sender, running })
}

fn authority(target: &Target, usual_port: u16) -> Result<String> {
    let name = transport::server_name(target)?;
    let name = if name.contains(':') { format!("[{name}]") } else { name };
    Ok(match target.port {
        Some(port) if port != usual_port => format!("{name}:{port}"),
        _ => name,
    })
}

/// What went wrong with a connection, or with what came over it.
pub fn fault(what: &str, error: &hyper::Error) -> Fault {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(system) = cause.downcast_ref::<io::Error>() {
            // Of the decoder's, not the system's: an answer that is not HTTP.
            if matches!(system.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Other) {
                return Fault::new(Class::Protocol, format!("{what}: {system}"));
            }
            return Fault::of_connection(what, system);
        }
        source = cause.source();
    }
    let class = if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        Class::Reset
    } else if error.is_timeout() {
        Class::TimedOut
    } else {
        Class::Protocol
    };
    Fault::new(class, format!("{what}: {error}"))
}
