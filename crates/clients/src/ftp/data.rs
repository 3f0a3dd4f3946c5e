//! Data connections: one for each file or listing that is moved.

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
    /// While it is made, which saves a round trip: the server listens already.
    Meanwhile,
}

#[derive(Debug)]
pub struct DataConnections<N> {
    network: Arc<N>,
    server: SocketAddr,
    /// EPSV (RFC 2428) until the server turned out not to know it, then PASV.
    extended: AtomicBool,
    has_worked: Arc<AtomicBool>,
}

impl<N: Network> DataConnections<N> {
    pub fn new(network: Arc<N>, server: SocketAddr) -> Self {
        let has_worked = Arc::new(AtomicBool::new(false));
        Self { network, server, extended: AtomicBool::new(true), has_worked }
    }

    /// Whether one has been used to its end: the server then knows what [`Self::command`] asks for.
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
        // Each refusal of the newer one: the older does without what that may have lacked.
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
        // An address that PASV names is passed over: behind NAT it is one of the server's own network, or none
        // at all (0.0.0.0), and a server could have us connect anywhere (RFC 2577, section 3).
        let port = if self.command() == "EPSV" {
            reply::epsv_port(answer.words())
        } else {
            reply::pasv_port(answer.words())
        };
        let mut peer = self.server;
        peer.set_port(port.ok_or_else(odd)?);
        Ok(peer)
    }

    /// Have the command `what` fill or empty a data connection to where the server listens. TLS is
    /// agreed on while the answer comes: some servers answer first, some agree first. Who `may_begin`
    /// to write does not wait for the answer, unless TLS is to be agreed on.
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
        // Of its TCP.
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
                // If it failed, the answer says why.
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
