//! How a link handles a PDU of the other end.

use lanlab_units::Instant;
use lanlab_wire::llc::{
    Control, FrameReject, Header, Reasons, Supervisory, UnknownControl, Unnumbered,
};

use super::link::{Link, Pending};
use super::numbers::{Acknowledged, is_past, next};
use super::report::{Ended, Event, State};

impl Link {
    /// Handle a PDU of the other end. Returns the information of an I frame that arrived in order.
    pub fn handle_frame<'a>(&mut self, now: Instant, pdu: &'a [u8]) -> Option<&'a [u8]> {
        let Ok((header, information)) = Header::parse(pdu) else {
            self.handle_unknown(now, pdu);
            return None;
        };
        match header.control {
            Control::Unnumbered { kind, poll } => {
                self.handle_unnumbered(now, kind, header.is_response, poll, information);
                None
            }
            control if self.state != State::Opened => {
                self.handle_without_link(header.is_response, control.poll());
                None
            }
            Control::Supervisory { kind, receive_number, poll } => {
                if information.is_empty() {
                    match self.take_receive_number(now, header, receive_number) {
                        Acknowledged::Frames(_) => {
                            self.handle_supervisory(now, kind, header.is_response, poll);
                        }
                        // An overtaken frame reports the peer's earlier state, which may be outdated.
                        Acknowledged::Late => self.counts.ignored += 1,
                        Acknowledged::Never => {}
                    }
                } else {
                    self.reject(now, header, Reasons::UNEXPECTED_INFORMATION);
                }
                None
            }
            Control::Information { send_number, receive_number, poll } => {
                if self.take_receive_number(now, header, receive_number) == Acknowledged::Never {
                    return None;
                }
                // I frames sent as a response are tolerated; their F bit answers a poll.
                if header.is_response && poll {
                    self.poll_was_answered();
                }
                let is_asked = poll && !header.is_response;
                let is_taken = self.handle_information(now, send_number, is_asked);
                self.set_timers(now);
                is_taken.then_some(information)
            }
        }
    }

    fn handle_without_link(&mut self, is_response: bool, poll: bool) {
        self.counts.ignored += 1;
        if is_response {
            return;
        }
        match self.state {
            State::Disconnected | State::Disconnecting => self.push(Pending::Unnumbered {
                kind: Unnumbered::Disconnected,
                is_response: true,
                poll,
            }),
            State::FrameRejectSent => self.push(Pending::FrameReject { poll }),
            State::Opening | State::Opened => {}
        }
    }

    fn handle_unknown(&mut self, now: Instant, pdu: &[u8]) {
        let Some(unknown) = UnknownControl::parse(pdu).filter(|_| self.state == State::Opened)
        else {
            self.counts.ignored += 1;
            return;
        };
        self.send_frame_reject(
            now,
            unknown.control,
            unknown.is_response,
            Reasons::UNKNOWN_CONTROL,
            false,
        );
    }

    fn handle_unnumbered(
        &mut self,
        now: Instant,
        kind: Unnumbered,
        is_response: bool,
        poll: bool,
        information: &[u8],
    ) {
        let answer = |kind| Pending::Unnumbered { kind, is_response: true, poll };
        match (kind, is_response) {
            (Unnumbered::Connect, false) => {
                match self.state {
                    // `accept` sends the answer.
                    State::Disconnected => self.counts.ignored += 1,
                    State::Disconnecting => self.push(answer(Unnumbered::Disconnected)),
                    State::Opening => {
                        self.is_sabme_heard = true;
                        self.push(answer(Unnumbered::Acknowledgement));
                    }
                    State::Opened => {
                        let is_fresh = self.queue.is_fresh() && self.expected == 0;
                        // If the link is up, answer the poll; if it is being set up, resend SABME.
                        if !is_fresh && self.may_be_late_copy(now) {
                            self.poll(now);
                            return;
                        }
                        self.reset_variables(is_fresh);
                        self.timers.stop_all();
                        self.push(answer(Unnumbered::Acknowledgement));
                        if !is_fresh {
                            self.events.push_back(Event::Ended(Ended::Reset));
                        }
                        self.set_timers(now);
                    }
                    State::FrameRejectSent => self.accept(now, poll),
                }
            }
            (Unnumbered::Disconnect, false) => match self.state {
                State::Disconnected => self.push(answer(Unnumbered::Disconnected)),
                State::Disconnecting => self.push(answer(Unnumbered::Acknowledgement)),
                State::Opening => {
                    self.end(Ended::Refused);
                    self.push(answer(Unnumbered::Disconnected));
                }
                State::Opened => {
                    self.end(Ended::ByPeer);
                    self.push(answer(Unnumbered::Acknowledgement));
                }
                State::FrameRejectSent => {
                    self.reset_variables(false);
                    self.timers.stop_all();
                    self.state = State::Disconnected;
                    self.push(answer(Unnumbered::Acknowledgement));
                }
            },
            (Unnumbered::Acknowledgement, true) => match self.state {
                State::Opening if poll => {
                    self.opened(now);
                    if self.profile.polls_after_connect {
                        self.poll(now);
                    }
                }
                State::Disconnecting if poll => self.end(Ended::Closed),
                _ => self.counts.ignored += 1,
            },
            (Unnumbered::Disconnected, true) => match self.state {
                State::Opening if poll => self.end(Ended::Refused),
                State::Disconnecting if poll => self.end(Ended::Closed),
                State::Opened => self.end(Ended::ByPeer),
                State::FrameRejectSent => {
                    self.reset_variables(false);
                    self.timers.stop_all();
                    self.state = State::Disconnected;
                }
                _ => self.counts.ignored += 1,
            },
            (Unnumbered::FrameReject, true) if self.state == State::Opened => {
                self.counts.frame_rejects_received += 1;
                let Ok(rejected) = FrameReject::parse(information) else {
                    self.counts.ignored += 1;
                    return;
                };
                // The link is unusable: the other end accepts only SABME and DISC.
                self.events.push_back(Event::Ended(Ended::FrameRejectReceived(rejected)));
                self.disconnect(now);
            }
            _ => self.counts.ignored += 1,
        }
    }

    /// Accept the SABME of the other end, whose P bit was `poll`.
    pub fn accept(&mut self, now: Instant, poll: bool) {
        self.reset_variables(true);
        let kind = Unnumbered::Acknowledgement;
        self.push(Pending::Unnumbered { kind, is_response: true, poll });
        self.opened(now);
    }

    /// Release the frames that N(R) acknowledges; send FRMR if it was never sent.
    ///
    /// IEEE 802.2 also requires FRMR for an N(R) that was already acknowledged, because its MAC service keeps
    /// frames in order (IEEE 802.1D, 6.3.4). Adapters with several queues, aggregated links and tunnels do
    /// not. An overtaken frame does no harm, so the link continues.
    fn take_receive_number(
        &mut self,
        now: Instant,
        header: Header,
        receive_number: u8,
    ) -> Acknowledged {
        let acknowledged = self.queue.acknowledge(receive_number);
        match acknowledged {
            Acknowledged::Never => self.reject(now, header, Reasons::RECEIVE_NUMBER),
            Acknowledged::Frames(frames) if frames > 0 => {
                self.grow_window(frames);
                if !self.is_polling {
                    self.answered();
                    self.timers.t1 = None;
                }
            }
            Acknowledged::Frames(_) | Acknowledged::Late => {}
        }
        acknowledged
    }

    fn poll_was_answered(&mut self) {
        if self.is_polling {
            (self.is_polling, self.is_sabme_heard) = (false, false);
            self.answered();
            self.timers.t1 = None;
            self.go_back();
        }
    }

    fn handle_supervisory(
        &mut self,
        now: Instant,
        kind: Supervisory,
        is_response: bool,
        poll: bool,
    ) {
        if kind == Supervisory::ReceiveNotReady {
            self.counts.not_ready_received += 1;
            self.peer_busy_since.get_or_insert(now);
        } else {
            self.peer_busy_since = None;
        }
        if kind == Supervisory::Reject {
            self.counts.rejects_received += 1;
        }
        if kind == Supervisory::Reject && !self.is_polling {
            self.go_back();
            self.timers.t1 = None;
        }
        if is_response && poll {
            self.poll_was_answered();
        }
        if !is_response && poll {
            self.push(Pending::Ready { is_response: true, poll: true });
        }
        self.set_timers(now);
    }

    fn handle_information(&mut self, now: Instant, send_number: u8, is_asked: bool) -> bool {
        if send_number != self.expected {
            self.counts.information_discarded += 1;
            if is_past(send_number, self.expected) {
                // A duplicate: REJ would cause resends of frames already in flight, and their copies would cause
                // more.
                self.push(Pending::Ready { is_response: true, poll: is_asked });
            } else if !self.is_reject_sent {
                self.is_reject_sent = true;
                self.push(Pending::Reject { is_response: true, poll: is_asked });
            } else if is_asked {
                self.push(Pending::Ready { is_response: true, poll: true });
            }
            return false;
        }
        self.counts.information_received += 1;
        self.expected = next(self.expected);
        self.is_reject_sent = false;
        self.unacknowledged = self.unacknowledged.saturating_add(1);
        if is_asked {
            self.push(Pending::Ready { is_response: true, poll: true });
        } else if self.unacknowledged >= self.profile.n3 || self.profile.t2_ns == 0 {
            self.is_ack_due = true;
        } else {
            self.timers.t2.get_or_insert(now.plus_nanos(self.profile.t2_ns));
        }
        true
    }

    fn reject(&mut self, now: Instant, header: Header, reasons: Reasons) {
        let poll = !header.is_response && header.control.poll();
        self.send_frame_reject(now, header.control.to_wire(), header.is_response, reasons, poll);
    }

    fn send_frame_reject(
        &mut self,
        now: Instant,
        control: [u8; 2],
        was_response: bool,
        reasons: Reasons,
        poll: bool,
    ) {
        let rejected = FrameReject {
            control,
            send_state: self.queue.next_number(),
            receive_state: self.expected,
            was_response,
            reasons,
        };
        self.reset_variables(false);
        self.timers.stop_all();
        self.state = State::FrameRejectSent;
        self.rejected = Some(rejected);
        self.push(Pending::FrameReject { poll });
        self.wait_for_answer(now);
        self.events.push_back(Event::Ended(Ended::FrameRejectSent(rejected)));
    }
}
