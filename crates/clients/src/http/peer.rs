//! A server, and successive requests over one connection to it.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use hyper::header::{HeaderValue, SERVER};
use hyper::{Method, Request};
use lanlab_files::{Class, Fault, Result, Target};
use rustls::ClientConfig;

use super::connection::{Connection, Idle, Stream};
use super::head::Head;
use super::outgoing::{Outgoing, write_head};
use crate::exchanges::Wait;
use crate::transport;

/// Length limit for the name that a server reports.
const SERVER_BYTES: usize = 200;

#[derive(Debug)]
pub struct Http {
    pub target: Target,
    usual_port: u16,
    tls: Option<Arc<ClientConfig>>,
    /// Name of the server and, unless it is the default, its port.
    pub authority: String,
    host: HeaderValue,
    idle: RefCell<Option<Connection>>,
    opened: Cell<u32>,
    server: RefCell<Option<String>>,
    protection: RefCell<String>,
}

impl Http {
    /// How to reach the server of a target, with or without TLS. Opens nothing yet.
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

    pub fn origin(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.authority)
    }

    pub fn opened(&self) -> u32 {
        self.opened.get()
    }

    /// The protocol, with the number of connections if there were several.
    pub fn named(&self, protocol: &str) -> String {
        match self.opened() {
            0 | 1 => protocol.to_owned(),
            opened => format!("{protocol}, {opened} connections"),
        }
    }

    pub fn server(&self) -> Option<String> {
        self.server.borrow().clone()
    }

    pub fn protection(&self) -> String {
        self.protection.borrow().clone()
    }

    /// Begin a request; returns its connection and body. The header is sent with the first data.
    pub async fn begin(&self, request: Request<Outgoing>) -> Result<(Connection, Outgoing)> {
        let (parts, body) = request.into_parts();
        let mut connection = match self.still_open().await {
            Some(connection) => connection,
            // Boxed, because this future is large and rarely needed.
            None => Box::pin(self.open()).await?,
        };
        let size_bytes = body.size_bytes();
        connection.begin(parts.method == Method::HEAD, |head| {
            write_head(head, &parts, &self.host, size_bytes);
        });
        Ok((connection, body))
    }

    /// Keep a connection for the next request, if the server keeps it (`keeps_alive`). Returns
    /// [`Class::Length`] if more data arrived than the server had announced.
    pub async fn keep(
        &self,
        what: &str,
        mut connection: Connection,
        keeps_alive: bool,
    ) -> Result<()> {
        match connection.look().await {
            Idle::Octets => {
                let message = format!("{what}: found more octets than the server had said");
                return Err(Fault::new(Class::Length, message));
            }
            Idle::Quiet if keeps_alive => {
                self.idle.replace(Some(connection));
            }
            Idle::Quiet | Idle::Ended => {}
        }
        Ok(())
    }

    pub async fn end(self) -> Result<()> {
        if let Some(connection) = self.idle.take() {
            let closing = async {
                connection.close().await;
                Ok(())
            };
            // The connection is unusable, even if this fails.
            let _ = transport::within(&self.target, "end", closing).await;
        }
        Ok(())
    }

    pub(crate) fn see(&self, head: &Head, wait: Wait) {
        wait.answered(0);
        if self.server.borrow().is_none()
            && let Some(server) = head.fields.get(SERVER)
            && let Ok(server) = server.to_str()
        {
            *self.server.borrow_mut() = Some(server.chars().take(SERVER_BYTES).collect());
        }
    }

    async fn still_open(&self) -> Option<Connection> {
        let mut connection = self.idle.take()?;
        (connection.look().await == Idle::Quiet).then_some(connection)
    }

    async fn open(&self) -> Result<Connection> {
        let stream = transport::connect(&self.target, self.usual_port).await?;
        self.opened.set(self.opened.get().saturating_add(1));
        let stream: Box<dyn Stream> = match &self.tls {
            None => Box::new(stream),
            Some(tls) => {
                let stream = transport::tls(&self.target, Arc::clone(tls), stream).await?;
                *self.protection.borrow_mut() = transport::tls_words(stream.get_ref().1);
                Box::new(stream)
            }
        };
        Ok(Connection::new(stream))
    }
}

fn authority(target: &Target, usual_port: u16) -> Result<String> {
    let name = transport::server_name(target)?;
    let name = if name.contains(':') { format!("[{name}]") } else { name };
    Ok(match target.port {
        Some(port) if port != usual_port => format!("{name}:{port}"),
        _ => name,
    })
}
