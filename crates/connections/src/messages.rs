//! Whole messages over the kernel's TCP, with the framing of `NetBIOS` on port 139 and of SMB
//! without `NetBIOS` on other ports (RFC 1002, [MS-SMB] 2.1).

use std::io::{self, ErrorKind, IoSlice};
use std::task::{Context, Poll, ready};

use bytes::BufMut;
use lanlab_wire::nbss::{Framing, HEADER_LEN, Header, Kind, Packet};
use tokio::net::TcpStream;

/// Read with a header: a short message takes one system call, little of a long one is copied twice.
const READ_AHEAD_BYTES: usize = 8 << 10;

#[derive(Debug)]
pub struct Messages {
    pub stream: TcpStream,
    framing: Framing,
    longest: usize,
    takes_requests: bool,
    sent: usize,
    ahead: Vec<u8>,
    taken: usize,
    /// Kind and length of the incoming packet, once its header has arrived.
    expected: Option<(Kind, usize)>,
    /// Unsent bytes of the reply to a session request.
    answer: Vec<u8>,
}

impl Messages {
    pub fn new(stream: TcpStream, framing: Framing, longest: usize) -> Self {
        let ahead = Vec::with_capacity(READ_AHEAD_BYTES);
        Self {
            stream,
            framing,
            longest,
            takes_requests: false,
            sent: 0,
            ahead,
            taken: 0,
            expected: None,
            answer: Vec::new(),
        }
    }

    /// Answer session requests as a server does, accepting any called name.
    #[must_use]
    pub fn with_requests(self) -> Self {
        Self { takes_requests: true, ..self }
    }

    pub fn set_longest(&mut self, longest: usize) {
        self.longest = longest;
    }

    /// Send a message of two parts. Until done, pass the same message again.
    pub fn poll_send(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 2]) -> Poll<io::Result<()>> {
        let len = parts[0].len() + parts[1].len();
        let header = Header { kind: Kind::Message, len }.emit(self.framing);
        let header = header.map_err(io::Error::other)?;
        loop {
            let mut skip = self.sent;
            let left = [&header[..], parts[0], parts[1]].map(|part| {
                let (_, left) = part.split_at(skip.min(part.len()));
                skip = skip.saturating_sub(part.len());
                IoSlice::new(left)
            });
            match self.stream.try_write_vectored(&left) {
                Ok(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ready!(self.stream.poll_write_ready(cx))?;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
            if self.sent == HEADER_LEN + len {
                self.sent = 0;
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Receive a message. Until done, pass the same buffer again.
    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut Vec<u8>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_answer(cx))?;
            if self.expected.is_none() {
                self.expected = self.begin()?;
                into.clear();
            }
            if let Some((kind, expected)) = self.expected {
                let wanted = (expected - into.len()).min(self.ahead.len() - self.taken);
                into.extend_from_slice(&self.ahead[self.taken..self.taken + wanted]);
                self.taken += wanted;
                if into.len() == expected {
                    self.expected = None;
                    if kind != Kind::Request {
                        return Poll::Ready(Ok(()));
                    }
                    Packet::parse(kind, into).map_err(io::Error::other)?;
                    let answered = Packet::Positive.emit(self.framing, &mut self.answer);
                    answered.map_err(io::Error::other)?;
                    continue;
                }
            }
            let count = match self.expected {
                // The rest of a long message is read to its destination.
                Some((_, expected)) if expected - into.len() > READ_AHEAD_BYTES => {
                    let left = expected - into.len();
                    into.reserve_exact(left);
                    self.stream.try_read_buf(&mut into.limit(left))
                }
                _ => {
                    self.ahead.drain(..self.taken);
                    self.taken = 0;
                    let room = READ_AHEAD_BYTES - self.ahead.len();
                    self.stream.try_read_buf(&mut (&mut self.ahead).limit(room))
                }
            };
            match count {
                Ok(0) => return Poll::Ready(Err(ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ready!(self.stream.poll_read_ready(cx))?;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.answer.is_empty() {
            match self.stream.try_write(&self.answer) {
                Ok(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Ok(count) => drop(self.answer.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ready!(self.stream.poll_write_ready(cx))?;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Kind and length of the next message, if its header has arrived. Keep-alives are skipped.
    fn begin(&mut self) -> io::Result<Option<(Kind, usize)>> {
        let bad = |message: String| io::Error::new(ErrorKind::InvalidData, message);
        loop {
            let Some(head) = self.ahead[self.taken..].first_chunk::<HEADER_LEN>() else {
                return Ok(None);
            };
            let header = Header::parse(head, self.framing);
            let Header { kind, len } =
                header.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            self.taken += HEADER_LEN;
            let is_taken = kind == Kind::Message || (kind == Kind::Request && self.takes_requests);
            match kind {
                Kind::KeepAlive if len == 0 => {}
                _ if is_taken && len <= self.longest => return Ok(Some((kind, len))),
                _ if is_taken => {
                    let longest = self.longest;
                    return Err(bad(format!("a message of {len} octets; allowed: {longest}")));
                }
                other => return Err(bad(format!("found {other:?}; allowed: a message"))),
            }
        }
    }
}
