//! Requests and their replies, in any order, on one channel.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use lanlab_connections::ssh::Cut;
use lanlab_files::{Class, Fault, Result, Target};
use lanlab_wire::sftp::{Fields, Frames, Message, VERSION, kind, status};
use parking_lot::Mutex;
use russh::client::{Handle, Msg};
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Disconnect};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::exchanges::Wait;
use crate::transport;

use super::ssh_failure::ssh_fault;
use super::trust::Verifier;

#[derive(Debug, Clone)]
pub struct Reply {
    pub kind: u8,
    body: Bytes,
}

impl Reply {
    pub fn fields(&self) -> Fields<'_> {
        Fields(&self.body)
    }

    pub fn status(&self) -> Option<(u32, &str)> {
        if self.kind != kind::STATUS {
            return None;
        }
        let mut fields = self.fields();
        // Version 3 adds a text, which some servers omit.
        Some((fields.u32()?, fields.text().unwrap_or("")))
    }

    pub fn is_ok(&self) -> bool {
        self.status().is_some_and(|(code, _)| code == status::OK)
    }

    pub fn string(&self, what: &str) -> Result<Bytes> {
        let found = self.fields().string();
        found.map(|octets| self.body.slice_ref(octets)).ok_or_else(|| {
            Fault::new(Class::Protocol, format!("{what}: found a reply cut off in the middle"))
        })
    }
}

#[derive(Debug, Default)]
struct Awaited {
    replies: HashMap<u32, oneshot::Sender<Reply>>,
    over: Option<Fault>,
}

type Shared = Arc<Mutex<Awaited>>;

pub struct Exchange {
    target: Target,
    ssh: Handle<Verifier>,
    /// `None` once a message was cut off in the middle.
    writer: tokio::sync::Mutex<Option<ChannelWriteHalf<Msg>>>,
    awaited: Shared,
    reader: JoinHandle<()>,
    number: AtomicU32,
    cut: Cut,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Exchange {
    /// Start on a channel; also returns the server's extensions.
    pub async fn begin(
        target: Target,
        ssh: Handle<Verifier>,
        channel: Channel<Msg>,
        cut: Cut,
    ) -> Result<(Self, Vec<String>)> {
        let (reading, writing) = channel.split();
        let awaited = Shared::default();
        let (first, version) = oneshot::channel();
        let reader = tokio::spawn(read(reading, Arc::clone(&awaited), first));
        let writer = tokio::sync::Mutex::new(Some(writing));
        let number = AtomicU32::new(0);
        let exchange = Self { target, ssh, writer, awaited, reader, number, cut };
        let what = "SFTP version";
        let greeting = async {
            exchange.send(&what, Message::new(kind::INIT, 0).u32(VERSION).finish()).await?;
            version.await.map_err(|_| exchange.over(&what))
        };
        let version = transport::within(&exchange.target, what, greeting).await?;
        let extensions = extensions(&version).ok_or_else(|| {
            let message = format!("{what}: found something else; allowed: {VERSION}");
            Fault::new(Class::Protocol, message)
        })?;
        Ok((exchange, extensions))
    }

    pub fn no_delay(&self) -> Option<bool> {
        self.cut.no_delay()
    }

    pub async fn ask(
        &self,
        what: &dyn fmt::Display,
        kind: u8,
        room: usize,
        write: impl FnOnce(Message) -> Message,
    ) -> Result<Reply> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let message = write(Message::new(kind, room).u32(number)).finish();
        let (sender, receiver) = oneshot::channel();
        {
            let mut awaited = self.awaited.lock();
            if awaited.over.is_none() {
                awaited.replies.insert(number, sender);
            }
        }
        let wait = Wait::begin(message.len());
        let forget = Forget { awaited: &self.awaited, number };
        let asking = async {
            let sending = self.send(what, message);
            tokio::pin!(sending, receiver);
            tokio::select! {
                biased;
                sent = &mut sending => {
                    sent?;
                    receiver.await.map_err(|_| self.over(what))
                }
                // A channel with a closed window does not report that its connection is gone.
                early = &mut receiver => {
                    let reply = early.map_err(|_| self.over(what))?;
                    sending.await?;
                    Ok(reply)
                }
            }
        };
        let patience = std::time::Duration::from_nanos(self.target.timeout_ns);
        let reply = tokio::time::timeout(patience, asking).await.unwrap_or_else(|_| {
            let waited_s = patience.as_secs_f64();
            Err(Fault::new(Class::TimedOut, format!("{what}: no answer within {waited_s} s")))
        });
        drop(forget);
        if let Ok(reply) = &reply {
            wait.answered(reply.body.len());
        }
        reply
    }

    async fn send(&self, what: &dyn fmt::Display, message: Bytes) -> Result<()> {
        let mut writer = self.writer.lock().await;
        // A caller that gives up in the middle leaves `None` behind, because nothing can follow an
        // incomplete message.
        let Some(channel) = writer.take() else {
            let message = format!("{what}: a message before it was cut off");
            return Err(Fault::new(Class::Reset, message));
        };
        match channel.data_bytes(message).await {
            Ok(()) => {
                *writer = Some(channel);
                Ok(())
            }
            Err(error) => Err(ssh_fault(&what.to_string(), &error)),
        }
    }

    fn over(&self, what: &dyn fmt::Display) -> Fault {
        let why = self.awaited.lock().over.clone();
        match why {
            Some(fault) => Fault { message: format!("{what}: {}", fault.message), ..fault },
            None => Fault::new(Class::Reset, format!("{what}: the connection ended")),
        }
    }

    pub async fn end(self) -> Result<()> {
        let leaving = async {
            let gone = |error: &russh::Error| ssh_fault("SSH farewell", error);
            if let Some(channel) = self.writer.lock().await.take() {
                channel.close().await.map_err(|error| gone(&error))?;
            }
            let farewell = self.ssh.disconnect(Disconnect::ByApplication, "", "en");
            farewell.await.map_err(|error| gone(&error))
        };
        transport::within(&self.target, "SSH farewell", leaving).await
    }
}

struct Forget<'a> {
    awaited: &'a Shared,
    number: u32,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.awaited.lock().replies.remove(&self.number);
    }
}

async fn read(mut channel: ChannelReadHalf, awaited: Shared, version: oneshot::Sender<Bytes>) {
    let mut frames = Frames::default();
    let (mut version, mut status) = (Some(version), None);
    let why = loop {
        match channel.wait().await {
            Some(ChannelMsg::Data { data }) => {
                frames.push(&data);
                if let Err(why) = take(&mut frames, &awaited, &mut version) {
                    break why;
                }
            }
            Some(ChannelMsg::ExitStatus { exit_status }) => status = Some(exit_status),
            // The exit status follows.
            Some(ChannelMsg::Eof) if version.is_some() => {}
            Some(ChannelMsg::Eof | ChannelMsg::Close) | None => {
                let Some(status) = status.filter(|_| version.is_some()) else {
                    break Fault::new(Class::Reset, "the server ended the session");
                };
                let message = format!("the program for SFTP ended at once with status {status}");
                let fault = Fault::new(Class::Unsupported, message);
                // Shells return these if a program is missing or cannot be executed.
                break if matches!(status, 126 | 127) {
                    fault.hint("install a program for SFTP there, as OpenSSH's `sftp-server`")
                } else {
                    fault.hint("see whether a forced command or the login shell keeps the user out")
                };
            }
            // Messages for the user, and window sizes.
            Some(_) => {}
        }
    };
    let mut awaited = awaited.lock();
    awaited.over = Some(why);
    awaited.replies.clear();
}

fn take(
    frames: &mut Frames,
    awaited: &Shared,
    version: &mut Option<oneshot::Sender<Bytes>>,
) -> Result<()> {
    loop {
        let message = frames.next_message().map_err(|length| {
            let message = format!("found an SFTP message of {length} octets");
            Fault::new(Class::Protocol, message)
                .hint("check whether the server's login shell prints anything")
        })?;
        let Some(message) = message else { return Ok(()) };
        if let Some(version) = version.take() {
            // The caller may no longer be waiting.
            let _ = version.send(message);
            continue;
        }
        let mut fields = Fields(&message);
        let (Some(kind), Some(number)) = (fields.u8(), fields.u32()) else {
            return Err(Fault::new(Class::Protocol, "found an SFTP message cut off in the middle"));
        };
        let reply = Reply { kind, body: message.slice(5..) };
        // A reply to a cancelled or unknown request.
        if let Some(sender) = awaited.lock().replies.remove(&number) {
            let _ = sender.send(reply);
        }
    }
}

/// The extensions in a server's first message; `None`: unsupported version.
pub fn extensions(version: &[u8]) -> Option<Vec<String>> {
    let mut fields = Fields(version);
    if fields.u8()? != kind::VERSION || fields.u32()? < VERSION {
        return None;
    }
    let mut names = Vec::new();
    while let (Some(name), Some(_)) = (fields.string(), fields.string()) {
        names.push(String::from_utf8_lossy(name).into_owned());
    }
    Some(names)
}
