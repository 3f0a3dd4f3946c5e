//! An upload as the body of one request with a known length.

use std::cell::RefCell;

use hyper::StatusCode;
use hyper::http::request::Builder;
use lanlab_files::{Class, Fault, Result};

use super::BLOCK_BYTES;
use super::answer::Answer;
use super::connection::Connection;
use super::outgoing::{Outgoing, whole_request};
use super::peer::Http;
use crate::transport;

#[derive(Debug)]
pub struct Upload {
    pub what: String,
    size_bytes: u64,
    sending: RefCell<Option<Sending>>,
}

#[derive(Debug)]
struct Sending {
    connection: Connection,
    sent_bytes: u64,
}

impl Upload {
    /// Start to send `size_bytes` bytes. The header is sent with the first of them, so that a short
    /// file is one segment.
    pub async fn begin(
        http: &Http,
        what: String,
        request: Builder,
        size_bytes: u64,
    ) -> Result<Self> {
        let request = whole_request(&what, request, Outgoing::Parts(size_bytes))?;
        let (connection, _) = http.begin(request).await?;
        let sending = Sending { connection, sent_bytes: 0 };
        Ok(Self { what, size_bytes, sending: RefCell::new(Some(sending)) })
    }

    /// Send all of `data`, which belongs at `offset`. `refused` converts an early response into a
    /// fault.
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
            let sent = async {
                let sent = sending.connection.send(part).await;
                sent.map_err(|broken| broken.fault(what))
            };
            if let Some(early) = transport::within(&http.target, what, sent).await? {
                let answer = http.early(sending.connection, early);
                return Err(self.early(http, answer, refused).await);
            }
            sending.sent_bytes += part.len() as u64;
        }
        self.sending.replace(Some(sending));
        Ok(())
    }

    pub async fn finish(self, http: &Http) -> Result<Answer> {
        let Sending { mut connection, sent_bytes } = self.take()?;
        let (what, size_bytes) = (&self.what, self.size_bytes);
        if sent_bytes != size_bytes {
            let message = format!(
                "{what}: found the end after {sent_bytes} of the {size_bytes} octets that the \
                 server was told"
            );
            return Err(Fault::new(Class::Length, message));
        }
        let answered = async {
            // For an empty file, the header has not been sent yet.
            let sent = connection.send(&[]).await;
            match sent.map_err(|broken| broken.fault(what))? {
                Some(early) => Ok(http.early(connection, early)),
                None => http.answered(what, connection).await,
            }
        };
        transport::within(&http.target, what, answered).await
    }

    fn take(&self) -> Result<Sending> {
        self.sending.take().ok_or_else(|| {
            let message = format!("{}: another call is under way, or has failed", self.what);
            Fault::new(Class::Unsupported, message)
        })
    }

    async fn early(
        &self,
        http: &Http,
        answer: Answer,
        refused: impl Fn(StatusCode, &[u8]) -> Fault,
    ) -> Fault {
        let what = &self.what;
        let status = answer.status();
        if status.is_success() {
            let message = format!("{what}: the server answers {status} before it has the file");
            return Fault::new(Class::Protocol, message);
        }
        // The status is known, even if the rest of the response does not arrive.
        let text = answer.reason(http, what).await.unwrap_or_default();
        refused(status, &text)
    }
}
