//! A response: its header, and its body as it arrives.

use hyper::StatusCode;
use hyper::header::{CONTENT_RANGE, HeaderName};
use lanlab_files::{Class, Fault, MinimumRate, Result};
use lanlab_wire::http_chunks::{Chunks, Step};

use super::REFUSAL_BYTES;
use super::connection::{Broken, Connection};
use super::head::{self, Framing, Head};
use super::peer::Http;
use crate::exchanges::Wait;
use crate::transport;

const GROW_BYTES: usize = 1 << 14;

#[derive(Debug)]
pub struct Answer {
    connection: Connection,
    head: Head,
    body: Body,
    received_bytes: u64,
    body_wait: Wait,
    pace: MinimumRate,
}

#[derive(Debug)]
enum Body {
    Left(u64),
    Chunks(Chunks),
    UntilClose,
}

impl Answer {
    pub fn new(connection: Connection, head: Head) -> Self {
        let body = match head.framing {
            Framing::Nothing => Body::Left(0),
            Framing::Length(size_bytes) => Body::Left(size_bytes),
            Framing::Chunked => Body::Chunks(Chunks::default()),
            Framing::UntilClose => Body::UntilClose,
        };
        let (body_wait, pace) = (Wait::begin(0), MinimumRate::default());
        Self { connection, head, body, received_bytes: 0, body_wait, pace }
    }

    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    pub fn header(&self, name: HeaderName) -> Option<&str> {
        self.head.fields.get(name)?.to_str().ok()
    }

    pub fn headers(&self, name: HeaderName) -> impl Iterator<Item = &str> {
        self.head.fields.get_all(name).into_iter().filter_map(|value| value.to_str().ok())
    }

    pub fn said_bytes(&self) -> Option<u64> {
        match self.head.framing {
            Framing::Nothing => Some(0),
            Framing::Length(size_bytes) => Some(size_bytes),
            Framing::Chunked | Framing::UntilClose => None,
        }
    }

    /// Whether the response is complete after `at` bytes: all announced bytes, or all chunks.
    pub fn may_end_at(&self, at: u64) -> bool {
        match &self.body {
            Body::Chunks(chunks) => chunks.is_between(),
            Body::Left(_) | Body::UntilClose => self.said_bytes() == Some(at),
        }
    }

    /// First and last byte of `Content-Range` (RFC 9110, section 14.4).
    pub fn said_range(&self) -> Option<(u64, u64)> {
        let range = self.header(CONTENT_RANGE)?.strip_prefix("bytes ")?;
        let (first, last) = range.split('/').next()?.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some((first, last))
    }

    /// Read the next bytes into `buffer`, which must not be empty; zero at the end.
    pub async fn read(&mut self, http: &Http, what: &str, buffer: &mut [u8]) -> Result<usize> {
        let mut pace = std::mem::take(&mut self.pace);
        let reading = async {
            let read = self.advance(buffer).await;
            read.map_err(|broken| self.broken(what, broken))
        };
        let count = transport::moving(&http.target, what, &mut pace, reading).await?;
        self.pace = pace;
        self.received_bytes += count as u64;
        Ok(count)
    }

    pub async fn fill(&mut self, http: &Http, what: &str, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(http, what, &mut buffer[filled..]).await? {
                0 => break,
                count => filled += count,
            }
        }
        Ok(filled)
    }

    /// Keep the connection, after [`Answer::read`] returned zero.
    pub async fn done(self, http: &Http, what: &str) -> Result<()> {
        self.body_wait.moved(self.received_bytes);
        http.keep(what, self.connection, self.head.keeps_alive).await
    }

    pub async fn whole(mut self, http: &Http, what: &str, limit_bytes: usize) -> Result<Vec<u8>> {
        let (mut whole, mut length) = (Vec::new(), 0);
        loop {
            if whole.len() == length {
                whole.resize(length + GROW_BYTES, 0);
            }
            let count = self.read(http, what, &mut whole[length..]).await?;
            length += count;
            if count == 0 {
                whole.truncate(length);
                break;
            }
            if length > limit_bytes {
                let message = format!("{what}: found an answer longer than {limit_bytes} octets");
                return Err(Fault::new(Class::Protocol, message));
            }
        }
        self.done(http, what).await?;
        Ok(whole)
    }

    /// The body of a response whose status would be enough; empty if the body does not end.
    pub async fn reason(self, http: &Http, what: &str) -> Result<Vec<u8>> {
        match self.whole(http, what, REFUSAL_BYTES).await {
            Err(fault) if fault.class.is_passing() => Err(fault),
            said => Ok(said.unwrap_or_default()),
        }
    }

    async fn advance(&mut self, buffer: &mut [u8]) -> std::result::Result<usize, Broken> {
        let left_bytes = match &mut self.body {
            Body::UntilClose => u64::MAX,
            Body::Left(left_bytes) => *left_bytes,
            Body::Chunks(chunks) => loop {
                let inbox = self.connection.inbox();
                let (before, step) = chunks.step(inbox.waiting()).map_err(Broken::Wrong)?;
                inbox.take(before);
                match step {
                    Step::Data(size_bytes) => break size_bytes,
                    Step::End => break 0,
                    Step::More => {
                        if self.connection.fill().await? == 0 {
                            return Err(Broken::Ended);
                        }
                    }
                }
            },
        };
        let room = buffer.len().min(usize::try_from(left_bytes).unwrap_or(usize::MAX));
        if room == 0 {
            return Ok(0);
        }
        let count = self.connection.read(&mut buffer[..room]).await?;
        match &mut self.body {
            Body::UntilClose => {}
            _ if count == 0 => return Err(Broken::Ended),
            Body::Left(left_bytes) => *left_bytes -= count as u64,
            Body::Chunks(chunks) => chunks.took(count as u64),
        }
        Ok(count)
    }

    fn broken(&self, what: &str, broken: Broken) -> Fault {
        match (broken.fault(what), self.said_bytes()) {
            (Fault { class: Class::Reset, .. }, Some(said)) => {
                let received_bytes = self.received_bytes;
                let message =
                    format!("{what}: the connection ended after {received_bytes} of {said} octets");
                Fault::new(Class::Reset, message)
            }
            (fault, _) => fault,
        }
    }
}

/// The default meaning of a status (RFC 9110, section 15; RFC 4918, section 11).
pub fn refusal(what: &str, status: StatusCode, text: &[u8]) -> Fault {
    let class = match status.as_u16() {
        401 | 407 => Class::Login,
        403 | 423 => Class::Denied,
        404 | 409 | 410 => Class::Missing,
        405 | 411 | 415 | 501 => Class::Unsupported,
        408 | 504 => Class::TimedOut,
        412 => Class::Exists,
        413 | 507 => Class::NoSpace,
        414 => Class::Name,
        // RFC 6585, section 4; RFC 9110, section 15.6.4: a later attempt may succeed.
        429 | 503 => Class::Refused,
        _ => Class::Protocol,
    };
    let fault = Fault::new(class, format!("{what}: the server answers {status}"));
    match status.as_u16() {
        // nginx, Apache and Go say this if they receive plain HTTP at a port for TLS.
        400 if text.windows(5).any(|word| word == b"HTTPS") => fault.hint(head::NEEDS_TLS),
        301 | 302 | 303 | 307 | 308 => fault.hint("the resource moved; give its new address"),
        405 => fault.hint("check that the address is a directory where the server allows writing"),
        502 => fault.hint(
            "a proxy does not reach the server, or changes its host name: check both, or connect to \
             the server directly",
        ),
        429 | 503 => fault.hint("the server is overloaded: try later, or copy fewer files at once"),
        _ => fault,
    }
}

#[cfg(test)]
mod tests;
