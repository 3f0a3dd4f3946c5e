//! Data connections: one for each file or listing that is moved.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, TlsStream};

use crate::fault::{Class, Fault, Result};
use crate::ftp::Wire;
use crate::minimum_rate::MinimumRate;
use crate::target::Target;
use crate::transport;
use crate::trust;

use super::control::Control;
use super::reply::{self, Reply};

/// Octets that may still come on a connection for writing: TLS's tickets and farewell.
const MAX_FAREWELL_OCTETS: usize = 1 << 16;

/// How TLS is spoken.
#[derive(Debug)]
pub struct Tls {
    /// With what resumes it.
    pub config: Arc<ClientConfig>,
    /// To whom.
    pub name: ServerName<'static>,
}

/// When the command that fills or empties a data connection is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// It was, before the connection is made.
    Already,
    /// While it is made, which saves a round trip: the server listens already.
    Meanwhile,
}

/// How data connections are made.
#[derive(Debug)]
pub struct DataConnections {
    target: Arc<Target>,
    server: IpAddr,
    tls: Option<Tls>,
    /// EPSV (RFC 2428) until the server turned out not to know it, then PASV.
    extended: AtomicBool,
    /// Whether one has been used to its end.
    has_worked: Arc<AtomicBool>,
}

/// Octets that are written before the server has said that it wants them, which saves a round trip
/// with each small file: no more than any window takes, so that writing does not wait.
const MAX_UNHEARD_OCTETS: usize = 16 << 10;

/// The answer to a data connection that does not resume TLS, of servers that demand it (RFC 4217
/// section 10).
const NOT_RESUMED: u16 = 522;

impl DataConnections {
    /// Connections to a server.
    pub fn new(target: Arc<Target>, server: IpAddr, tls: Option<Tls>) -> Self {
        let has_worked = Arc::new(AtomicBool::new(false));
        Self { target, server, tls, extended: AtomicBool::new(true), has_worked }
    }

    /// Whether one has been used to its end: the server then knows what [`Self::command`] asks for.
    pub fn have_worked(&self) -> bool {
        self.has_worked.load(Ordering::Relaxed)
    }

    /// What asks for one.
    pub fn command(&self) -> &'static str {
        if self.extended.load(Ordering::Relaxed) { "EPSV" } else { "PASV" }
    }

    /// Where the server listens, from its answer.
    pub async fn peer(
        &self,
        control: &mut Control,
        what: &str,
        mut answer: Reply,
    ) -> Result<SocketAddr> {
        let unknown = matches!(answer.code, 500..=502 | 504 | 522);
        if unknown && self.server.is_ipv4() && self.command() == "EPSV" {
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
        if self.command() == "EPSV" {
            let port = reply::epsv_port(answer.words()).ok_or_else(odd)?;
            return Ok(SocketAddr::new(self.server, port));
        }
        let (address, port) = reply::pasv_address(answer.words()).ok_or_else(odd)?;
        let address = IpAddr::from(address);
        if address != self.server {
            // RFC 2577 section 3: or a server could have us connect anywhere.
            let server = self.server;
            let message =
                format!("{what}: PASV names {address}; allowed: the server's own, {server}");
            return Err(Fault::new(Class::Protocol, message)
                .hint("set the address that the server gives behind its NAT, or its EPSV"));
        }
        Ok(SocketAddr::new(address, port))
    }

    /// Have the command `what` fill or empty a data connection to where the server listens. TLS is
    /// agreed on while the answer comes: some servers answer first, some agree first. Who `may_begin`
    /// to write does not wait for the answer, unless TLS is to be agreed on.
    pub async fn begin(
        &self,
        control: &mut Control,
        what: &str,
        peer: SocketAddr,
        asked: Asked,
        length: Option<u64>,
        may_begin: bool,
    ) -> Result<Transfer> {
        let commands = [what];
        let connecting = transport::connect_to(&self.target, peer);
        let stream = match asked {
            Asked::Already => connecting.await?,
            Asked::Meanwhile => tokio::try_join!(connecting, control.send(what, &commands))?.0,
        };
        if may_begin && self.tls.is_none() {
            return Ok(self.transfer(Wire::Plain(stream), length, Beginning::Unheard));
        }
        let (answer, wire) = {
            let answer = preliminary(control, what, &self.has_worked);
            let handshake = self.secure(what, stream);
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

    fn transfer(&self, wire: Wire, length: Option<u64>, beginning: Beginning) -> Transfer {
        let target = Arc::clone(&self.target);
        let has_worked = Arc::clone(&self.has_worked);
        Transfer {
            target,
            wire: Some(wire),
            position: 0,
            length,
            beginning,
            has_worked,
            pace: MinimumRate::default(),
        }
    }

    async fn secure(&self, what: &str, stream: TcpStream) -> Result<Wire> {
        let Some(tls) = &self.tls else { return Ok(Wire::Plain(stream)) };
        let connector = TlsConnector::from(Arc::clone(&tls.config));
        let handshake = async {
            let shaken = connector.connect(tls.name.clone(), stream).await;
            shaken.map_err(|error| trust::tls_fault(&format!("{what}: TLS for data"), &error))
        };
        let stream = transport::within(&self.target, what, handshake).await?;
        Ok(Wire::Tls(Box::new(TlsStream::Client(stream))))
    }
}

/// The answer that data comes or is awaited; a server may call so little done already.
async fn preliminary(control: &mut Control, what: &str, has_worked: &AtomicBool) -> Result<Reply> {
    let reply = control.reply(what).await?;
    if reply.is_preliminary() || reply.is_done() {
        return Ok(reply);
    }
    Err(refused(&reply, what, Class::Missing, has_worked))
}

/// What the answer to a transfer says. A ticket of TLS is good for one connection, and one that the
/// server refuses before TLS uses up a ticket and brings none: after some refusals nothing is left to
/// resume TLS with, which a new session mends.
fn refused(reply: &Reply, what: &str, usual: Class, has_worked: &AtomicBool) -> Fault {
    let fault = reply.fault(what, usual);
    if reply.code == NOT_RESUMED && has_worked.load(Ordering::Relaxed) {
        return Fault { class: Class::Reset, hint: None, ..fault };
    }
    fault
}

/// What the server has said of a transfer.
#[derive(Debug)]
enum Beginning {
    /// Nothing that was looked at.
    Unheard,
    /// That data comes or is awaited.
    Announced,
    /// That it is done.
    Done(Reply),
}

impl Beginning {
    fn of(answer: Reply) -> Self {
        if answer.is_done() { Self::Done(answer) } else { Self::Announced }
    }
}

/// A file or listing on its way.
#[derive(Debug)]
pub struct Transfer {
    target: Arc<Target>,
    /// `None` once it has ended.
    wire: Option<Wire>,
    /// Octets from the beginning of the file to where it is.
    pub position: u64,
    /// Octets that the file has, as the server said.
    pub length: Option<u64>,
    beginning: Beginning,
    has_worked: Arc<AtomicBool>,
    pace: MinimumRate,
}

impl Transfer {
    /// Read what comes next; zero where the file ends, which the server has confirmed then.
    pub async fn read(
        &mut self,
        control: &mut Control,
        what: &str,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let Some(wire) = self.wire.as_mut() else { return Ok(0) };
        if buffer.is_empty() {
            return Ok(0);
        }
        let reading =
            async { wire.read(buffer).await.map_err(|error| Fault::of_connection(what, &error)) };
        let count = transport::moving(&self.target, what, &mut self.pace, reading).await?;
        self.position += count as u64;
        let (position, length) = (self.position, self.length);
        let differs =
            length.filter(|said| if count == 0 { position != *said } else { position > *said });
        if count == 0 {
            self.wire = None;
            // Why it ended early is in the answer, if it is anywhere.
            self.confirm(control, what).await?;
        }
        if differs.is_some() {
            self.give_up(control, what).await?;
        }
        match differs {
            None => Ok(count),
            Some(said) => Err(Fault::new(
                Class::Length,
                format!("{what}: found {position} octets; the server had said {said}"),
            )
            .hint("the file was changed while it was read, or the server does not tell the truth")),
        }
    }

    /// Read all that comes, if it is no more than `limit`.
    pub async fn read_to_end(
        &mut self,
        control: &mut Control,
        what: &str,
        limit: usize,
    ) -> Result<Vec<u8>> {
        let (mut all, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
        loop {
            let count = self.read(control, what, &mut buffer).await?;
            if count == 0 {
                return Ok(all);
            }
            all.extend_from_slice(&buffer[..count]);
            if all.len() > limit {
                let message = format!("{what}: found more than {limit} octets of a listing");
                return Err(Fault::new(Class::Protocol, message));
            }
        }
    }

    /// Write what comes next.
    pub async fn write(&mut self, control: &mut Control, what: &str, data: &[u8]) -> Result<()> {
        if self.position > 0 || data.len() > MAX_UNHEARD_OCTETS {
            // A server that does not want it need not read it: to write on would wait for nobody.
            self.hear(control, what).await?;
        }
        let Some(wire) = self.wire.as_mut() else {
            return Err(Fault::new(Class::Reset, format!("{what}: the connection has ended")));
        };
        let writing = async {
            wire.write_all(data).await.map_err(|error| Fault::of_connection(what, &error))
        };
        match transport::within(&self.target, what, writing).await {
            Ok(()) => {
                self.position += data.len() as u64;
                Ok(())
            }
            Err(fault) => Err(self.reason(control, what, fault).await),
        }
    }

    /// End reading, at the end of the file or before it.
    pub async fn end_reading(&mut self, control: &mut Control, what: &str) -> Result<()> {
        if self.wire.is_none() {
            return Ok(());
        }
        if self.length.is_none_or(|length| self.position < length) {
            return self.give_up(control, what).await;
        }
        // All is there; more than that would be too much.
        let mut beyond = [0; 1];
        self.read(control, what, &mut beyond).await.map(drop)
    }

    /// Stop reading. What the server says to that is of no interest, but must not be taken for the
    /// answer to something else.
    pub async fn give_up(&mut self, control: &mut Control, what: &str) -> Result<()> {
        let Some(mut wire) = self.wire.take() else { return Ok(()) };
        if wire.is_tls() {
            // Each connection uses up one of TLS's tickets, and brings one before the first octet: a
            // server that demands that TLS is resumed would refuse a client that had none left.
            let ticket = async {
                // What comes else, or that nothing does, is given up.
                let _ = wire.read(&mut [0; 1]).await;
                Ok(())
            };
            transport::within(&self.target, what, ticket).await?;
        }
        drop(wire);
        if matches!(self.beginning, Beginning::Announced) {
            control.reply(what).await?;
        }
        Ok(())
    }

    /// End writing, and have the server confirm that it has all.
    pub async fn end_writing(&mut self, control: &mut Control, what: &str) -> Result<()> {
        let Some(mut wire) = self.wire.take() else {
            return Err(Fault::new(Class::Reset, format!("{what}: the connection has ended")));
        };
        let ending = async {
            // TLS holds back what it has not yet sent.
            wire.shutdown().await.map_err(|error| Fault::of_connection(what, &error))
        };
        if let Err(fault) = transport::within(&self.target, what, ending).await {
            return Err(self.reason(control, what, fault).await);
        }
        self.confirm(control, what).await?;
        if wire.is_tls() {
            // A ticket that is not read could resume no later connection, and a connection closed
            // with something unread is reset.
            let farewell = async {
                let (mut rest, mut total) = ([0; 4096], 0);
                while total < MAX_FAREWELL_OCTETS {
                    match wire.read(&mut rest).await {
                        Ok(count) if count > 0 => total += count,
                        _ => break,
                    }
                }
                Ok(())
            };
            transport::within(&self.target, what, farewell).await?;
        }
        Ok(())
    }

    /// See what the server says before anything else of a transfer.
    async fn hear(&mut self, control: &mut Control, what: &str) -> Result<()> {
        if matches!(self.beginning, Beginning::Unheard) {
            // Whatever it is, it is not said again.
            self.beginning = Beginning::Announced;
            let answer = preliminary(control, what, &self.has_worked).await;
            self.beginning = Beginning::of(answer.inspect_err(|_| self.wire = None)?);
        }
        Ok(())
    }

    async fn confirm(&mut self, control: &mut Control, what: &str) -> Result<()> {
        self.hear(control, what).await?;
        let last = match std::mem::replace(&mut self.beginning, Beginning::Announced) {
            Beginning::Done(last) => last,
            _ => control.reply(what).await?,
        };
        if !last.is_done() {
            return Err(refused(&last, what, Class::Protocol, &self.has_worked));
        }
        self.has_worked.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Why writing failed: what the server says of it, if it says something, else what was seen.
    async fn reason(&mut self, control: &mut Control, what: &str, seen: Fault) -> Fault {
        self.wire = None;
        if seen.class == Class::TimedOut {
            return seen;
        }
        match self.confirm(control, what).await {
            Err(said) if said.class != Class::TimedOut => said,
            _ => seen,
        }
    }
}
