//! The control connection: commands and their replies, in order.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use lanlab_connections::Lines;
use lanlab_files::{Class, Fault, Result};
use tokio::io::{AsyncRead, AsyncWrite};

use super::network::Network;
use super::reply::{self, Reply};
use crate::exchanges::Wait;

const MAX_REPLY_LINES: usize = 512;

#[derive(Debug)]
pub struct Control<N: Network> {
    network: Arc<N>,
    lines: Lines<N::Wire>,
    /// Whether the server reads several commands of a segment. mTCP's FTPSRV of 2013 answers only the first.
    pub takes_several: bool,
    /// Commands that wait for the reply to the one before.
    later: VecDeque<String>,
    awaited: u32,
    /// Measures the wait for the first reply to the last command.
    wait: Option<Wait>,
    lost: Option<Fault>,
}

impl<N: Network> Control<N> {
    /// A dialogue on a connection. If the server `greets`, it sends first.
    pub fn new(network: Arc<N>, wire: N::Wire, greets: bool) -> Self {
        Self {
            network,
            lines: Lines::new(wire),
            takes_several: false,
            later: VecDeque::new(),
            awaited: u32::from(greets),
            wait: None,
            lost: None,
        }
    }

    pub fn wire(&self) -> &N::Wire {
        &self.lines.wire
    }

    pub fn into_wire(self) -> Result<N::Wire> {
        self.lines.into_wire().map_err(|error| Fault::of_connection("AUTH TLS", &error))
    }

    /// Send commands, whose replies must be read in order.
    ///
    /// # Errors
    /// Replies to earlier commands are outstanding, because a file is open or a call was dropped.
    /// One of them could be mistaken for the reply to this command.
    pub async fn send(&mut self, what: &str, commands: &[&str]) -> Result<()> {
        if let Some(lost) = &self.lost {
            let message = format!("{what}: this FTP session has ended: {}", lost.message);
            return Err(Fault { message, ..lost.clone() });
        }
        if self.awaited > 0 {
            let message = format!("{what}: this FTP session still waits for an answer");
            return Err(Fault::new(Class::Unsupported, message)
                .hint("close the file that is open, or take another session"));
        }
        self.awaited = commands.len() as u32;
        let line = |command: &&str| format!("{command}\r\n");
        self.later = commands.iter().map(line).collect();
        if self.takes_several {
            self.later = VecDeque::from([self.later.drain(..).collect()]);
        }
        self.send_next(what).await
    }

    async fn send_next(&mut self, what: &str) -> Result<()> {
        let Some(text) = self.later.pop_front() else { return Ok(()) };
        let Self { network, lines, .. } = self;
        let sending =
            async { lines.send(&text).await.map_err(|error| Fault::of_connection(what, &error)) };
        network.within(what, sending).await.inspect_err(|lost| {
            self.lost = Some(lost.clone());
        })?;
        // Sent together, the commands count as one exchange.
        self.wait = Some(Wait::begin(0));
        Ok(())
    }

    pub async fn reply(&mut self, what: &str) -> Result<Reply> {
        let Self { network, lines, .. } = self;
        let reply = match network.within(what, read_reply(what, lines)).await {
            Ok(reply) => reply,
            Err(lost) => {
                self.lost = Some(lost.clone());
                return Err(lost);
            }
        };
        if let Some(wait) = self.wait.take() {
            wait.answered(0);
        }
        if !reply.is_preliminary() {
            self.awaited = self.awaited.saturating_sub(1);
            self.send_next(what).await?;
        }
        Ok(reply)
    }

    pub async fn ask(&mut self, what: &str, command: &str) -> Result<Reply> {
        self.send(what, &[command]).await?;
        self.reply(what).await
    }

    pub async fn demand(&mut self, what: &str, command: &str, usual: Class) -> Result<Reply> {
        let reply = self.ask(what, command).await?;
        if reply.is_done() { Ok(reply) } else { Err(reply.fault(what, usual)) }
    }

    pub async fn shutdown(&mut self) -> io::Result<()> {
        self.lines.shutdown().await
    }
}

pub async fn read_reply(
    what: &str,
    lines: &mut Lines<impl AsyncRead + AsyncWrite + Unpin>,
) -> Result<Reply> {
    let garbage = |line: &str| {
        let shown: String = line.chars().take(80).collect();
        let message = format!("{what}: found `{}` for a reply", shown.escape_debug());
        Fault::new(Class::Protocol, message).foreign()
    };
    let mut said = Vec::new();
    let mut first = None;
    for _ in 0..MAX_REPLY_LINES {
        let line = lines.next().await.map_err(|error| Fault::of_connection(what, &error))?;
        let Some(line) = line else {
            return Err(Fault::new(Class::Reset, format!("{what}: the server ended the session")));
        };
        match (first, reply::parse(&line)) {
            (None, None) => return Err(garbage(&line)),
            (None, Some((code, last, words))) => {
                said.push(words.to_owned());
                if last {
                    return Ok(Reply { code, lines: said });
                }
                first = Some(code);
            }
            (Some(code), Some((ends, true, words))) if ends == code => {
                said.push(words.to_owned());
                return Ok(Reply { code, lines: said });
            }
            (Some(_), _) => said.push(line),
        }
    }
    let message = format!("{what}: found a reply of more than {MAX_REPLY_LINES} lines");
    Err(Fault::new(Class::Protocol, message))
}
