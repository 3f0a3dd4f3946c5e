//! Data connections, one per file or listing.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lanlab_files::{Class, Fault, Result};

use super::control::Control;
use super::network::Network;
use super::reply::{self, Reply};
use super::transfer::{Beginning, Transfer, preliminary};
use crate::exchanges::Wait;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Already,
    /// Connect while the command is sent, which saves a round trip. The server already listens.
    Meanwhile,
}

#[derive(Debug)]
pub struct DataConnections<N> {
    network: Arc<N>,
    server: SocketAddr,
    /// EPSV (RFC 2428); PASV if the server does not support it.
    extended: AtomicBool,
    has_worked: Arc<AtomicBool>,
}

impl<N: Network> DataConnections<N> {
    pub fn new(network: Arc<N>, server: SocketAddr) -> Self {
        let has_worked = Arc::new(AtomicBool::new(false));
        Self { network, server, extended: AtomicBool::new(true), has_worked }
    }

    /// Whether a data connection has worked: then the server supports [`Self::command`].
    pub fn have_worked(&self) -> bool {
        self.has_worked.load(Ordering::Relaxed)
    }

    pub fn command(&self) -> &'static str {
        if self.extended.load(Ordering::Relaxed) { "EPSV" } else { "PASV" }
    }

    pub async fn peer(
        &self,
        control: &mut Control<N>,
        what: &str,
        mut answer: Reply,
    ) -> Result<SocketAddr> {
        // If EPSV is refused for any reason, use PASV, which more servers and networks support.
        let is_refused = (400..600).contains(&answer.code) && answer.code != 421;
        if is_refused && self.server.is_ipv4() && self.command() == "EPSV" {
            self.extended.store(false, Ordering::Relaxed);
            answer = control.ask(what, "PASV").await?;
        }
        if !answer.is_done() {
            return Err(answer.fault(&format!("{what}: {}", self.command()), Class::Protocol));
        }
        let odd = || {
            let fault = answer.fault(&format!("{what}: {}", self.command()), Class::Protocol);
            Fault { class: Class::Protocol, ..fault }
        };
        // The address in a PASV reply is ignored: behind NAT it belongs to the server's own network
        // or is 0.0.0.0, and a server could make us connect anywhere (RFC 2577, section 3).
        let port = if self.command() == "EPSV" {
            reply::epsv_port(answer.words())
        } else {
            reply::pasv_port(answer.words())
        };
        let mut peer = self.server;
        peer.set_port(port.ok_or_else(odd)?);
        Ok(peer)
    }

    /// Run command `what` over a data connection to the port on which the server listens. The TLS
    /// handshake runs while waiting for the reply, because some servers reply first and others do
    /// the handshake first. With `may_begin`, writing does not wait for the reply, unless there is
    /// a TLS handshake.
    pub async fn begin(
        &self,
        control: &mut Control<N>,
        what: &str,
        peer: SocketAddr,
        asked: Asked,
        length: Option<u64>,
        may_begin: bool,
    ) -> Result<Transfer<N>> {
        let commands = [what];
        let handshake = Wait::begin(0);
        let connecting = self.network.connect(peer);
        let wire = match asked {
            Asked::Already => connecting.await?,
            Asked::Meanwhile => tokio::try_join!(connecting, control.send(what, &commands))?.0,
        };
        // The TCP handshake of the data connection.
        handshake.answered(0);
        if may_begin && !self.network.has_tls() {
            return Ok(self.transfer(wire, length, Beginning::Unheard));
        }
        let (answer, wire) = {
            let answer = preliminary(control, what, &self.has_worked);
            let tls = format!("{what}: TLS for data");
            let handshake = self.network.secure(&tls, wire);
            tokio::pin!(answer, handshake);
            tokio::select! {
                biased;
                answer = &mut answer => (answer?, handshake.await?),
                // If it failed, the reply says why.
                shaken = &mut handshake => (answer.await?, shaken?),
            }
        };
        Ok(self.transfer(wire, length, Beginning::of(answer)))
    }

    fn transfer(&self, wire: N::Wire, length: Option<u64>, beginning: Beginning) -> Transfer<N> {
        let (network, has_worked) = (Arc::clone(&self.network), Arc::clone(&self.has_worked));
        Transfer::new(network, wire, length, beginning, has_worked)
    }
}
