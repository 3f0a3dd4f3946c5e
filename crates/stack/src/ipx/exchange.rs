//! Client side of a protocol with one request at a time: requests queue, one is resent until answered, and an
//! answer may wait until its program resumes.

use std::collections::VecDeque;

use lanlab_units::Instant;

use super::Common;
use super::round_trip::RoundTrip;
use crate::carrier::{NotSent, SessionId};

/// Maximum requests queued behind the current one.
const MOST_WAITING: usize = 4;

#[derive(Debug)]
struct Request<I> {
    packet: Vec<u8>,
    identity: I,
    first_sent_at: Instant,
    tries: u32,
    wait_ns: u64,
    is_measured: bool,
}

/// See the module. `I` identifies the reply to a request.
#[derive(Debug, Default)]
pub(crate) struct Exchange<I> {
    waiting: VecDeque<Vec<u8>>,
    request: Option<Request<I>>,
    round_trip: RoundTrip,
    held: Option<Vec<u8>>,
    is_paused: bool,
    is_closing: bool,
}

impl<I> Exchange<I> {
    /// Queue a message of at most `longest` bytes.
    pub(crate) fn put<C>(
        &mut self,
        message: &[u8],
        longest: u32,
        common: &mut Common<C>,
    ) -> Result<(), NotSent> {
        if message.len() > longest as usize {
            return Err(NotSent::TooLong);
        }
        if self.waiting.len() >= MOST_WAITING {
            return Err(NotSent::Full);
        }
        let mut memory = common.memory();
        memory.extend_from_slice(message);
        self.waiting.push_back(memory);
        Ok(())
    }

    /// Whether a request may be sent: none is unanswered, and no answer is waiting.
    pub(crate) const fn is_ready(&self) -> bool {
        self.request.is_none() && self.held.is_none() && !self.is_paused
    }

    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        if self.is_ready() { self.waiting.pop_front() } else { None }
    }

    /// A request is being sent. Returns when its answer is late: after `least_ns` or more.
    pub(crate) fn begin(
        &mut self,
        now: Instant,
        packet: Vec<u8>,
        identity: I,
        least_ns: u64,
    ) -> Instant {
        let wait_ns = self.round_trip.timeout_ns().max(least_ns);
        let (first_sent_at, tries, is_measured) = (now, 1, true);
        self.request =
            Some(Request { packet, identity, first_sent_at, tries, wait_ns, is_measured });
        now.plus_nanos(wait_ns)
    }

    pub(crate) fn packet(&self) -> Option<&[u8]> {
        self.request.as_ref().map(|request| &request.packet[..])
    }

    pub(crate) fn packet_mut(&mut self) -> Option<&mut Vec<u8>> {
        self.request.as_mut().map(|request| &mut request.packet)
    }

    pub(crate) fn identity(&self) -> Option<&I> {
        self.request.as_ref().map(|request| &request.identity)
    }

    /// The server has the request and is busy: from now on only the answer can be lost. Resets the retry count if
    /// the answer is still wanted, and returns the new deadline.
    pub(crate) fn is_worked_on(&mut self, now: Instant, is_wanted: bool) -> Option<Instant> {
        let request = self.request.as_mut()?;
        request.is_measured = false;
        if is_wanted {
            request.tries = 1;
        }
        Some(now.plus_nanos(request.wait_ns))
    }

    /// The answer is late. Returns the new deadline if the request is to be resent, and `None` after the last
    /// retry.
    pub(crate) fn send_again(&mut self, now: Instant, most_tries: u32) -> Option<Instant> {
        let request = self.request.as_mut().filter(|request| request.tries < most_tries)?;
        request.tries += 1;
        request.is_measured = false;
        request.wait_ns = RoundTrip::longer_ns(request.wait_ns);
        Some(now.plus_nanos(request.wait_ns))
    }

    pub(crate) fn answered<C>(&mut self, now: Instant, common: &mut Common<C>) {
        let Some(request) = self.request.take() else { return };
        if request.is_measured {
            self.round_trip.measure(now.nanos_since(request.first_sent_at));
        }
        common.keep(request.packet);
    }

    pub(crate) fn deliver<C>(&mut self, to: SessionId, answer: Vec<u8>, common: &mut Common<C>) {
        if self.is_paused {
            self.held = Some(answer);
        } else {
            common.message(to, answer);
        }
    }

    pub(crate) const fn pause(&mut self) {
        self.is_paused = true;
    }

    pub(crate) fn resume<C>(&mut self, to: SessionId, common: &mut Common<C>) {
        self.is_paused = false;
        if let Some(answer) = self.held.take() {
            common.message(to, answer);
        }
    }

    pub(crate) fn close<C>(&mut self, common: &mut Common<C>) {
        (self.is_closing, self.is_paused) = (true, false);
        if let Some(answer) = self.held.take() {
            common.keep(answer);
        }
    }

    pub(crate) const fn is_closing(&self) -> bool {
        self.is_closing
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.request.is_none() && self.waiting.is_empty()
    }
}
