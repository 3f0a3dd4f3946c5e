//! A transfer of a file or listing over a data connection, until both ends agree that it is
//! complete.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lanlab_files::{Class, Fault, MinimumRate, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::control::Control;
use super::network::Network;
use super::reply::Reply;
use crate::exchanges::Wait;

/// Maximum bytes that may still arrive on a connection for writing: TLS tickets and the TLS close.
const MAX_FAREWELL_OCTETS: usize = 1 << 16;

/// Bytes written before the server has accepted the transfer, which saves a round trip for each
/// small file. They fit into any window, so that writing does not block.
const MAX_UNHEARD_OCTETS: usize = 16 << 10;

/// The reply that announces the transfer. For a short one, a server may report its end instead.
pub async fn preliminary(
    control: &mut Control<impl Network>,
    what: &str,
    has_worked: &AtomicBool,
) -> Result<Reply> {
    let reply = control.reply(what).await?;
    if reply.is_preliminary() || reply.is_done() {
        return Ok(reply);
    }
    Err(refused(&reply, what, Class::Missing, has_worked))
}

/// The meaning of the reply to a transfer. A TLS ticket is valid for one connection. A connection
/// that the server refuses before TLS uses up a ticket and brings none. After several refusals no
/// ticket is left; a new session solves that.
fn refused(reply: &Reply, what: &str, usual: Class, has_worked: &AtomicBool) -> Fault {
    let fault = reply.fault(what, usual);
    if reply.is_not_resumed() && has_worked.load(Ordering::Relaxed) {
        return Fault { class: Class::Reset, hint: None, ..fault };
    }
    fault
}

#[derive(Debug)]
pub enum Beginning {
    Unheard,
    Announced,
    Done(Reply),
}

impl Beginning {
    pub fn of(answer: Reply) -> Self {
        if answer.is_done() { Self::Done(answer) } else { Self::Announced }
    }
}

#[derive(Debug)]
pub struct Transfer<N: Network> {
    network: Arc<N>,
    /// `None` once it has ended.
    wire: Option<N::Wire>,
    pub position: u64,
    pub length: Option<u64>,
    beginning: Beginning,
    has_worked: Arc<AtomicBool>,
    wait: Wait,
    pace: MinimumRate,
}

impl<N: Network> Transfer<N> {
    pub fn new(
        network: Arc<N>,
        wire: N::Wire,
        length: Option<u64>,
        beginning: Beginning,
        has_worked: Arc<AtomicBool>,
    ) -> Self {
        let (wait, pace) = (Wait::begin(0), MinimumRate::default());
        Self { network, wire: Some(wire), position: 0, length, beginning, has_worked, wait, pace }
    }

    /// Read the next data; zero at the end of the file, which the server has then confirmed.
    pub async fn read(
        &mut self,
        control: &mut Control<N>,
        what: &str,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let Some(wire) = self.wire.as_mut() else { return Ok(0) };
        if buffer.is_empty() {
            return Ok(0);
        }
        let reading =
            async { wire.read(buffer).await.map_err(|error| Fault::of_connection(what, &error)) };
        let count = self.network.moving(what, &mut self.pace, reading).await?;
        self.position += count as u64;
        let (position, length) = (self.position, self.length);
        let differs =
            length.filter(|said| if count == 0 { position != *said } else { position > *said });
        if count == 0 {
            self.wire = None;
            // The reply, if any, says why the transfer ended early.
            self.confirm(control, what).await?;
            self.wait.moved(position);
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
            .hint("the file changed during the read, or the server is faulty")),
        }
    }

    pub async fn read_to_end(
        &mut self,
        control: &mut Control<N>,
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

    pub async fn write(&mut self, control: &mut Control<N>, what: &str, data: &[u8]) -> Result<()> {
        if self.position > 0 || data.len() > MAX_UNHEARD_OCTETS {
            // A server that refused the transfer may not read any more, and a write would block.
            self.hear(control, what).await?;
        }
        let Some(wire) = self.wire.as_mut() else {
            return Err(Fault::new(Class::Reset, format!("{what}: the connection has ended")));
        };
        let writing = async {
            wire.write_all(data).await.map_err(|error| Fault::of_connection(what, &error))
        };
        match self.network.within(what, writing).await {
            Ok(()) => {
                self.position += data.len() as u64;
                Ok(())
            }
            Err(fault) => Err(self.reason(control, what, fault).await),
        }
    }

    pub async fn end_reading(&mut self, control: &mut Control<N>, what: &str) -> Result<()> {
        if self.wire.is_none() {
            return Ok(());
        }
        if self.length.is_none_or(|length| self.position < length) {
            return self.give_up(control, what).await;
        }
        // The file is complete: check that no more data follows.
        let mut beyond = [0; 1];
        self.read(control, what, &mut beyond).await.map(drop)
    }

    /// Stop reading. The server's reply to that does not matter, but must not be mistaken for the
    /// reply to another command.
    pub async fn give_up(&mut self, control: &mut Control<N>, what: &str) -> Result<()> {
        let Some(mut wire) = self.wire.take() else { return Ok(()) };
        if self.network.has_tls() {
            // Each connection uses up a TLS ticket and brings one before the first byte. A server
            // that requires TLS resumption would refuse a client without tickets.
            let ticket = async {
                // Other data, or no data, is ignored.
                let _ = wire.read(&mut [0; 1]).await;
                Ok(())
            };
            self.network.within(what, ticket).await?;
        }
        drop(wire);
        if matches!(self.beginning, Beginning::Announced) {
            control.reply(what).await?;
        }
        Ok(())
    }

    pub async fn end_writing(&mut self, control: &mut Control<N>, what: &str) -> Result<()> {
        let Some(mut wire) = self.wire.take() else {
            return Err(Fault::new(Class::Reset, format!("{what}: the connection has ended")));
        };
        let ending = async {
            // TLS buffers data that it has not yet sent.
            wire.shutdown().await.map_err(|error| Fault::of_connection(what, &error))
        };
        if let Err(fault) = self.network.within(what, ending).await {
            return Err(self.reason(control, what, fault).await);
        }
        self.confirm(control, what).await?;
        self.wait.answered(self.position as usize);
        if self.network.has_tls() {
            // An unread ticket could not resume a later connection, and closing a connection with
            // unread data resets it.
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
            self.network.within(what, farewell).await?;
            self.network.note_tickets(&wire);
        }
        Ok(())
    }

    async fn hear(&mut self, control: &mut Control<N>, what: &str) -> Result<()> {
        if matches!(self.beginning, Beginning::Unheard) {
            // The server replies once, whether this succeeds or fails.
            self.beginning = Beginning::Announced;
            let answer = preliminary(control, what, &self.has_worked).await;
            self.beginning = Beginning::of(answer.inspect_err(|_| self.wire = None)?);
        }
        Ok(())
    }

    async fn confirm(&mut self, control: &mut Control<N>, what: &str) -> Result<()> {
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

    /// Why writing failed: the server's reply, if there is one, otherwise the local error.
    async fn reason(&mut self, control: &mut Control<N>, what: &str, seen: Fault) -> Fault {
        self.wire = None;
        if seen.class == Class::TimedOut {
            return seen;
        }
        match self.confirm(control, what).await {
            Err(said) if said.class != Class::TimedOut => said,
            // pyftpdlib does this on a full disk.
            Err(said) => Fault::new(said.class, format!("{}; then {}", seen.message, said.message)),
            Ok(()) => seen,
        }
    }
}
