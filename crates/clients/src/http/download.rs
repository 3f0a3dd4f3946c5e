//! A file from the server: one stream if read in order; otherwise each read is a request for a
//! range (RFC 9110, section 14).

use std::cell::RefCell;

use hyper::StatusCode;
use hyper::header::RANGE;
use hyper::http::request::Builder;
use lanlab_files::{Class, Fault, Result};

use super::Outgoing;
use super::answer::Answer;
use super::outgoing::whole_request;
use super::peer::Http;

#[derive(Debug)]
pub struct Download {
    pub what: String,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Busy,
    Stream {
        answer: Box<Answer>,
        at: u64,
    },
    Ended {
        at: u64,
    },
    Ranges,
}

impl Download {
    /// Continue to read the response to a request for the whole file.
    pub fn new(what: String, answer: Answer) -> Self {
        let state = State::Stream { answer: Box::new(answer), at: 0 };
        Self { what, state: RefCell::new(state) }
    }

    /// Fill `buffer` from `offset` on, up to the end of the file. `request` requests the file,
    /// `refused` converts an error response into a fault.
    pub async fn read_at(
        &self,
        http: &Http,
        offset: u64,
        buffer: &mut [u8],
        request: impl FnOnce() -> Result<Builder>,
        refused: impl Fn(StatusCode, &[u8]) -> Fault,
    ) -> Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let what = &self.what;
        match self.state.take() {
            State::Busy => {
                let message = format!("{what}: another call is under way, or has failed");
                Err(Fault::new(Class::Unsupported, message))
            }
            State::Stream { mut answer, at } if at == offset => {
                let filled = answer.fill(http, what, buffer).await?;
                let at = at + filled as u64;
                if filled < buffer.len() {
                    answer.done(http, what).await?;
                    self.state.replace(State::Ended { at });
                } else {
                    self.state.replace(State::Stream { answer, at });
                }
                Ok(filled)
            }
            State::Ended { at } if at == offset => {
                self.state.replace(State::Ended { at });
                Ok(0)
            }
            // A stream that is abandoned in the middle closes its connection.
            left @ (State::Stream { .. } | State::Ended { .. } | State::Ranges) => {
                drop(left);
                let done = self.read_range(http, offset, buffer, request()?, refused).await;
                self.state.replace(State::Ranges);
                done
            }
        }
    }

    pub async fn finish(self, http: &Http) -> Result<()> {
        // Finish a stream whose data may have been read completely, but not its end, where an extra
        // byte or an invalid chunk would show. A stream that is abandoned in the middle closes its
        // connection.
        if let State::Stream { mut answer, at } = self.state.take()
            && answer.may_end_at(at)
            && answer.read(http, &self.what, &mut [0]).await? == 0
        {
            answer.done(http, &self.what).await?;
        }
        Ok(())
    }

    async fn read_range(
        &self,
        http: &Http,
        offset: u64,
        buffer: &mut [u8],
        request: Builder,
        refused: impl Fn(StatusCode, &[u8]) -> Fault,
    ) -> Result<usize> {
        let what = &self.what;
        let last = offset.saturating_add(buffer.len() as u64 - 1);
        let request = request.header(RANGE, format!("bytes={offset}-{last}"));
        let request = whole_request(what, request, Outgoing::nothing())?;
        let mut answer = http.ask(what, request).await?;
        let status = answer.status();
        match status {
            StatusCode::PARTIAL_CONTENT => {}
            StatusCode::RANGE_NOT_SATISFIABLE => {
                answer.reason(http, what).await?;
                return Ok(0);
            }
            StatusCode::OK => {
                let message = format!("{what}: the server gives whole files only");
                return Err(Fault::new(Class::Unsupported, message).hint("read it in order"));
            }
            _ => {
                let text = answer.reason(http, what).await?;
                return Err(refused(status, &text));
            }
        }
        let said = answer.said_range();
        let Some((first, until)) = said.filter(|(first, until)| *first == offset && *until <= last)
        else {
            let found = said.map_or("none".to_owned(), |(first, until)| format!("{first}-{until}"));
            let message = format!("{what}: asked for octets {offset}-{last}, was given {found}");
            return Err(Fault::new(Class::Length, message));
        };
        let expected = (until - first + 1) as usize;
        let filled = answer.fill(http, what, &mut buffer[..expected]).await?;
        let is_more = filled == expected && answer.read(http, what, &mut [0]).await? > 0;
        if filled != expected || is_more {
            let message = format!("{what}: found not the {expected} octets that were said");
            return Err(Fault::new(Class::Length, message));
        }
        answer.done(http, what).await?;
        Ok(filled)
    }
}
