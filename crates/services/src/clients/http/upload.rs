//! A file that goes to the server, as the body of one request of a length said before.

use std::cell::RefCell;
use std::fmt;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use tokio::sync::mpsc;

use super::BLOCK_BYTES;
use super::answer::Answer;
use super::connection::{Coming, Connection, Http};
use super::outgoing::Outgoing;
use crate::fault::{Class, Fault, Result};
use crate::transport;

/// A file of which some octets have been sent.
#[derive(Debug)]
pub struct Upload {
    what: String,
    size_bytes: u64,
    sending: RefCell<Option<Sending>>,
}

struct Sending {
    parts: mpsc::Sender<Bytes>,
    sent_bytes: u64,
    connection: Connection,
    coming: Coming,
}

impl fmt::Debug for Sending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} octets sent", self.sent_bytes)
    }
}

impl Upload {
    /// Begin to send `size_bytes` octets; the request has no body of its own yet.
    pub async fn begin(
        http: &Http,
        what: String,
        request: hyper::http::request::Builder,
        size_bytes: u64,
    ) -> Result<Self> {
        // One part waits here while one is sent: no more, so that who writes feels the network.
        let (parts, receiver) = mpsc::channel(1);
        let body = Outgoing::Parts { parts: receiver, left_bytes: size_bytes };
        let request = whole_request(&what, request, body)?;
        let (connection, coming) = http.begin(&what, request).await?;
        let sending = Sending { parts, sent_bytes: 0, connection, coming };
        Ok(Self { what, size_bytes, sending: RefCell::new(Some(sending)) })
    }

    /// The operation, for errors.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Send all of `data`, which lies at `offset`. `refused` makes a fault of an answer that comes
    /// before the end.
    pub async fn write_at(
        &self,
        http: &Http,
        offset: u64,
        data: &[u8],
        refused: impl Fn(StatusCode, &[u8]) -> Fault,
    ) -> Result<()> {
        let mut sending = self.take()?;
        let what = &self.what;
        if offset != sending.sent_bytes {
            let message =
                format!("{what}: found octet {offset} next; allowed: {}", sending.sent_bytes);
            self.sending.replace(Some(sending));
            return Err(Fault::new(Class::Unsupported, message));
        }
        if data.len() as u64 > self.size_bytes - offset {
            let message = format!(
                "{what}: found octets beyond the {} that the server was told",
                self.size_bytes
            );
            return Err(Fault::new(Class::Length, message));
        }
        for part in data.chunks(BLOCK_BYTES as usize) {
            let early = async {
                let Sending { parts, coming, .. } = &mut sending;
                let early = tokio::select! {
                    biased;
                    early = coming.as_mut() => early,
                    room = parts.reserve() => match room {
                        Ok(room) => {
                            room.send(Bytes::copy_from_slice(part));
                            return Ok(None);
                        }
                        // Nobody sends any more: the answer says why.
                        Err(_) => coming.await,
                    },
                };
                Ok(Some(early))
            };
            if let Some(early) = transport::within(http.target(), what, early).await? {
                return Err(self.early(http, sending.connection, early, refused).await);
            }
            sending.sent_bytes += part.len() as u64;
        }
        self.sending.replace(Some(sending));
        Ok(())
    }

    /// Wait for the answer, after all has been sent.
    pub async fn finish(self, http: &Http) -> Result<Answer> {
        let sending = self.take()?;
        let (what, size_bytes) = (&self.what, self.size_bytes);
        if sending.sent_bytes != size_bytes {
            let sent_bytes = sending.sent_bytes;
            let message = format!(
                "{what}: found the end after {sent_bytes} of the {size_bytes} octets that the \
                 server was told"
            );
            return Err(Fault::new(Class::Length, message));
        }
        let answered = http.answered(what, sending.connection, sending.coming);
        transport::within(http.target(), what, answered).await
    }

    fn take(&self) -> Result<Sending> {
        self.sending.take().ok_or_else(|| {
            let message = format!("{}: another call is under way, or has failed", self.what);
            Fault::new(Class::Unsupported, message)
        })
    }

    /// Why a server answers before it has all.
    async fn early(
        &self,
        http: &Http,
        connection: Connection,
        early: hyper::Result<Response<Incoming>>,
        refused: impl Fn(StatusCode, &[u8]) -> Fault,
    ) -> Fault {
        let what = &self.what;
        let answer = match http.answered(what, connection, async { early }).await {
            Ok(answer) => answer,
            Err(fault) => return fault,
        };
        let status = answer.status();
        if status.is_success() {
            let message = format!("{what}: the server answers {status} before it has the file");
            return Fault::new(Class::Protocol, message);
        }
        // Whatever happens to the rest: the status has come.
        let text = answer.reason(http, what).await.unwrap_or_default();
        refused(status, &text)
    }
}

/// A request with its body.
pub fn whole_request(
    what: &str,
    request: hyper::http::request::Builder,
    body: Outgoing,
) -> Result<Request<Outgoing>> {
    request
        .body(body)
        .map_err(|error| Fault::new(Class::Name, format!("{what}: no request of HTTP: {error}")))
}
