//! One end of a link: state, output and timers.

use std::collections::VecDeque;

use lanlab_units::Instant;
use lanlab_wire::llc::{FrameReject, Unnumbered};

use super::numbers::SendQueue;
use super::report::{Counts, Ended, Event, State};
use super::timers::{Timers, take_due};
use crate::profile::LinkProfile;

/// A frame to be sent. N(R) and RR or RNR are filled in when it is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pending {
    Unnumbered { kind: Unnumbered, is_response: bool, poll: bool },
    Ready { is_response: bool, poll: bool },
    Reject { is_response: bool, poll: bool },
    FrameReject { poll: bool },
}

/// Maximum frames queued; the driver must send them before it passes in the next received one.
const MOST_PENDING: usize = 32;
/// Maximum I frames waiting for the window, without those in flight.
const MOST_WAITING: usize = 2;
/// Time after a link is opened within which a SABME may be a late copy, ns.
const LATE_COPY_NS: u64 = 10_000_000_000;

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of the standard's state tables")]
pub struct Link {
    pub(super) profile: LinkProfile,
    pub(super) saps: [u8; 2],
    pub(super) state: State,
    pub(super) queue: SendQueue,
    pub(super) expected: u8,
    pub(super) peer_busy_since: Option<Instant>,
    pub(super) is_reject_sent: bool,
    /// A poll is outstanding: no I frames until its answer.
    pub(super) is_polling: bool,
    /// A SABME arrived while ours was outstanding, or on a new link, where it may be a duplicate.
    pub(super) is_sabme_heard: bool,
    opened_at: Instant,
    pub(super) attempts: u32,
    wait_ns: u64,
    pub(super) window: u8,
    grown: u8,
    pub(super) unacknowledged: u8,
    pub(super) is_ack_due: bool,
    pub(super) timers: Timers,
    pub(super) pending: VecDeque<Pending>,
    pub(super) rejected: Option<FrameReject>,
    pub(super) events: VecDeque<Event>,
    pub(super) counts: Counts,
}

impl Link {
    /// A closed link between the same SAP at both ends.
    pub fn new(profile: &LinkProfile, sap: u8) -> Self {
        Self::between(profile, sap, sap)
    }

    /// A closed link between one of our SAPs and a different one at the other end.
    pub fn between(profile: &LinkProfile, own_sap: u8, peer_sap: u8) -> Self {
        Self {
            profile: *profile,
            saps: [own_sap, peer_sap],
            state: State::Disconnected,
            queue: SendQueue::default(),
            expected: 0,
            peer_busy_since: None,
            is_reject_sent: false,
            is_polling: false,
            is_sabme_heard: false,
            opened_at: Instant::ZERO,
            attempts: 0,
            wait_ns: profile.t1_ns,
            window: profile.window,
            grown: 0,
            unacknowledged: 0,
            is_ack_due: false,
            timers: Timers::default(),
            pending: VecDeque::new(),
            rejected: None,
            events: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    pub const fn state(&self) -> State {
        self.state
    }

    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Send SABME to set up a closed link; otherwise does nothing.
    pub fn connect(&mut self, now: Instant) {
        if self.state == State::Disconnected {
            self.reset_variables(true);
            self.state = State::Opening;
            self.attempt(now, Unnumbered::Connect);
        }
    }

    pub fn disconnect(&mut self, now: Instant) {
        match self.state {
            State::Disconnected | State::Disconnecting => {}
            State::Opening | State::Opened | State::FrameRejectSent => {
                self.reset_variables(false);
                self.timers.stop_all();
                self.state = State::Disconnecting;
                self.attempt(now, Unnumbered::Disconnect);
            }
        }
    }

    /// Whether another I frame may be queued, also while the link is being set up.
    pub fn has_room(&self) -> bool {
        matches!(self.state, State::Opening | State::Opened) && self.queue.waiting() < MOST_WAITING
    }

    pub fn is_drained(&self) -> bool {
        self.queue.len() == 0
    }

    /// Queue an I frame: write its information to the returned buffer. Requires [`has_room`](Self::has_room).
    pub fn send(&mut self) -> &mut Vec<u8> {
        self.queue.push()
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timers.next()
    }

    pub fn handle_timeout(&mut self, now: Instant) {
        if take_due(&mut self.timers.t2, now) {
            self.is_ack_due = true;
        }
        if take_due(&mut self.timers.t1, now) {
            self.counts.t1_expiries += 1;
            self.handle_t1(now);
        }
        if take_due(&mut self.timers.ti, now) && self.state == State::Opened {
            self.counts.ti_expiries += 1;
            if self.timers.t1.is_none() {
                self.poll(now);
            }
        }
    }

    fn handle_t1(&mut self, now: Instant) {
        let is_given_up = self.attempts >= self.profile.n2;
        match self.state {
            State::Disconnected => {}
            State::Opening if self.is_sabme_heard => self.opened(now),
            State::Opening | State::Opened if is_given_up => self.end(Ended::NoAnswer),
            State::Opening => self.attempt(now, Unnumbered::Connect),
            State::Disconnecting if is_given_up => self.end(Ended::Closed),
            State::Disconnecting => self.attempt(now, Unnumbered::Disconnect),
            State::FrameRejectSent if is_given_up => self.state = State::Disconnected,
            State::FrameRejectSent => {
                self.push(Pending::FrameReject { poll: false });
                self.wait_for_answer(now);
            }
            State::Opened => {
                let is_too_long = self
                    .peer_busy_since
                    .is_some_and(|since| now.nanos_since(since) >= self.profile.longest_busy_ns);
                if is_too_long {
                    self.end(Ended::Busy);
                } else {
                    self.poll(now);
                }
            }
        }
    }

    pub(super) fn poll(&mut self, now: Instant) {
        self.is_polling = true;
        self.push(Pending::Ready { is_response: false, poll: true });
        self.wait_for_answer(now);
    }

    fn attempt(&mut self, now: Instant, kind: Unnumbered) {
        self.push(Pending::Unnumbered { kind, is_response: false, poll: true });
        self.wait_for_answer(now);
    }

    /// Start T1, longer than before if the last wait brought no answer.
    pub(super) fn wait_for_answer(&mut self, now: Instant) {
        if self.attempts > 0 {
            let tick_ns = self.profile.tick_ns.max(1);
            let grown_ns = self.wait_ns.saturating_mul(self.profile.t1_growth_percent) / 100;
            self.wait_ns = (grown_ns / tick_ns * tick_ns).max(self.wait_ns);
        }
        self.attempts += 1;
        self.timers.ti = None;
        self.timers.t1 = Some(now.plus_nanos(self.wait_ns));
    }

    pub(super) fn answered(&mut self) {
        self.attempts = 0;
        self.wait_ns = self.profile.t1_ns;
    }

    /// Start T1 or Ti, depending on what is in flight.
    pub(super) fn set_timers(&mut self, now: Instant) {
        if self.state != State::Opened || self.is_polling {
            return;
        }
        if self.queue.on_their_way() > 0 || self.peer_busy_since.is_some() {
            self.timers.ti = None;
            self.timers.t1.get_or_insert(now.plus_nanos(self.wait_ns));
        } else {
            self.timers.t1 = None;
            self.timers.ti = Some(now.plus_nanos(self.profile.ti_ns));
        }
    }

    pub(super) fn opened(&mut self, now: Instant) {
        self.state = State::Opened;
        (self.opened_at, self.is_sabme_heard) = (now, false);
        self.answered();
        self.timers.stop_all();
        self.events.push_back(Event::Opened);
        self.set_timers(now);
    }

    /// Whether a SABME may be a late duplicate of the one that opened the link: a station that has restarted sends
    /// it repeatedly.
    pub(super) fn may_be_late_copy(&mut self, now: Instant) -> bool {
        let is_new = now.nanos_since(self.opened_at) < LATE_COPY_NS;
        is_new && !std::mem::replace(&mut self.is_sabme_heard, true)
    }

    pub(super) fn end(&mut self, why: Ended) {
        self.state = State::Disconnected;
        self.reset_variables(false);
        self.timers.stop_all();
        self.events.push_back(Event::Ended(why));
    }

    /// Reset all variables. Unsent I frames may stay.
    pub(super) fn reset_variables(&mut self, keeps_waiting: bool) {
        self.queue.reset(keeps_waiting);
        self.expected = 0;
        self.peer_busy_since = None;
        self.is_reject_sent = false;
        self.is_polling = false;
        self.is_sabme_heard = false;
        self.unacknowledged = 0;
        self.is_ack_due = false;
        self.rejected = None;
        self.window = self.profile.window;
        self.grown = 0;
        self.answered();
        self.pending.clear();
    }

    pub(super) fn go_back(&mut self) {
        if self.queue.go_back() && self.profile.window_growth > 0 {
            self.window = 1;
            self.grown = 0;
        }
    }

    pub(super) fn grow_window(&mut self, frames: u8) {
        let growth = self.profile.window_growth;
        if growth == 0 || self.window >= self.profile.window {
            return;
        }
        self.grown += frames;
        while self.grown >= growth && self.window < self.profile.window {
            self.grown -= growth;
            self.window += 1;
        }
    }

    pub(super) fn push(&mut self, pending: Pending) {
        if self.pending.len() < MOST_PENDING {
            self.pending.push_back(pending);
        } else {
            self.counts.ignored += 1;
        }
    }

    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
