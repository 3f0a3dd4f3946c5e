//! An answer: its head, and the octets after it as they come.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderName};
use hyper::{Response, StatusCode};

use super::REFUSAL_BYTES;
use super::connection::{Connection, Http, fault};
use crate::fault::{Class, Fault, Result};
use crate::transport;

/// What has come of an answer.
#[derive(Debug)]
pub struct Answer {
    connection: Connection,
    response: Response<Incoming>,
    received_bytes: u64,
}

impl Answer {
    /// The answer of which the head has come over a connection.
    pub fn new(connection: Connection, response: Response<Incoming>) -> Self {
        Self { connection, response, received_bytes: 0 }
    }

    /// Whether it was done, or why not.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// A field of the head, if it is there and text.
    pub fn header(&self, name: HeaderName) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Octets that the server says are in it.
    pub fn said_bytes(&self) -> Option<u64> {
        self.header(CONTENT_LENGTH)?.parse().ok()
    }

    /// First and last octet of `Content-Range` (RFC 9110, section 14.4).
    pub fn said_range(&self) -> Option<(u64, u64)> {
        let range = self.header(CONTENT_RANGE)?.strip_prefix("bytes ")?;
        let (first, last) = range.split('/').next()?.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some((first, last))
    }

    /// The next octets; `None` at the end.
    pub async fn next(&mut self, http: &Http, what: &str) -> Result<Option<Bytes>> {
        loop {
            let body = self.response.body_mut();
            let coming = async { Ok(body.frame().await) };
            let Some(frame) = transport::within(http.target(), what, coming).await? else {
                return Ok(None);
            };
            let frame = frame.map_err(|error| {
                let cut = fault(what, &error);
                // HTTP cannot tell a server that said too much from one that broke off.
                match (cut.class, self.said_bytes()) {
                    (Class::Reset, Some(said)) => Fault::new(
                        Class::Reset,
                        format!(
                            "{what}: the connection ended after {} of {said} octets",
                            self.received_bytes
                        ),
                    ),
                    _ => cut,
                }
            })?;
            if let Ok(data) = frame.into_data()
                && !data.is_empty()
            {
                self.received_bytes += data.len() as u64;
                return Ok(Some(data));
            }
        }
    }

    /// Keep the connection, after [`Answer::next`] gave `None`.
    pub async fn done(self, http: &Http, what: &str) -> Result<()> {
        // The body first: hyper takes one that goes before its end for given up.
        let Self { connection, response, .. } = self;
        drop(response);
        http.keep(what, connection).await
    }

    /// All of it, at most `limit_bytes`.
    pub async fn whole(mut self, http: &Http, what: &str, limit_bytes: usize) -> Result<Vec<u8>> {
        let mut whole = Vec::new();
        while let Some(part) = self.next(http, what).await? {
            if whole.len() + part.len() > limit_bytes {
                let message = format!("{what}: found an answer longer than {limit_bytes} octets");
                return Err(Fault::new(Class::Protocol, message));
            }
            whole.extend_from_slice(&part);
        }
        self.done(http, what).await?;
        Ok(whole)
    }

    /// What is said in an answer of which the status is enough: nothing, if that does not end.
    pub async fn reason(self, http: &Http, what: &str) -> Result<Vec<u8>> {
        match self.whole(http, what, REFUSAL_BYTES).await {
            Err(fault) if fault.class.is_passing() => Err(fault),
            said => Ok(said.unwrap_or_default()),
        }
    }
}

/// What a status says (RFC 9110, section 15; RFC 4918, section 11) where no more is known.
pub fn refusal(what: &str, status: StatusCode) -> Fault {
    let class = match status.as_u16() {
        401 | 407 => Class::Login,
        403 | 423 => Class::Denied,
        404 | 409 | 410 => Class::Missing,
        405 | 411 | 415 | 501 => Class::Unsupported,
        408 | 504 => Class::TimedOut,
        412 => Class::Exists,
        413 | 507 => Class::NoSpace,
        414 => Class::Name,
        _ => Class::Protocol,
    };
    let fault = Fault::new(class, format!("{what}: the server answers {status}"));
    match status.as_u16() {
        301 | 302 | 303 | 307 | 308 => {
            fault.hint("it is elsewhere; give the address that the server answers at")
        }
        413 => fault.hint("the server takes no file of this size"),
        _ => fault,
    }
}
