//! One session, once the other station is found.

use std::collections::VecDeque;

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{SessionCommand, SessionHeader, flag};
use lanlab_wire::netbios_name::Name;

use super::LONGEST_PART;
use super::receiving::{Receiving, Taken, needs_no_ack};
use super::sending::{Habits, Sending};
use crate::carrier::{SessionId, Why};
use crate::netbios::{Correlators, NameCall};
use crate::profile::Profile;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Finding,
    Calling,
    Linking,
    Initializing,
    Recognized,
    Open,
    Ending,
}

impl Phase {
    pub(super) const fn uses_link(self) -> bool {
        !matches!(self, Self::Finding | Self::Calling)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Nothing,
    Opened,
    /// A message is complete. If it carried an acknowledgement, another one may be sent.
    Message {
        is_room: bool,
    },
    Room,
    Ended(Why),
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) phase: Phase,
    pub(super) is_caller: bool,
    pub(super) deadline: Option<Instant>,
    pub(super) station: Mac,
    pub(super) local_number: u8,
    pub(super) remote_number: u8,
    pub(super) call: NameCall,
    pub(super) answer_correlator: u16,
    pub(super) habits: Habits,
    pub(super) is_closing: bool,
    control: VecDeque<SessionHeader>,
    pub(super) sending: Sending,
    pub(super) receiving: Receiving,
    pub(super) last_traffic: Instant,
    /// Received frames with data.
    pub(super) requests: u32,
    pub(super) is_over: bool,
}

impl Session {
    pub(super) fn new(id: SessionId, now: Instant, profile: &Profile, names: [Name; 2]) -> Self {
        Self {
            id,
            phase: Phase::Finding,
            is_caller: true,
            deadline: None,
            station: Mac::BROADCAST,
            local_number: 0,
            remote_number: 0,
            call: NameCall::new(names),
            answer_correlator: 0,
            habits: Habits { part_bytes: LONGEST_PART, piggybacks: false },
            is_closing: false,
            control: VecDeque::new(),
            sending: Sending::new(profile.asks_receive_continue),
            receiving: Receiving::default(),
            last_traffic: now,
            requests: 0,
            is_over: false,
        }
    }

    fn header(&self, command: SessionCommand) -> SessionHeader {
        SessionHeader {
            command,
            data1: 0,
            data2: 0,
            transmit_correlator: 0,
            response_correlator: 0,
            destination_number: self.remote_number,
            source_number: self.local_number,
        }
    }

    fn agreement(profile: &Profile) -> u8 {
        let no_ack = if profile.send_no_ack_able { flag::SEND_NO_ACK_ABLE } else { 0 };
        let version = if profile.piggybacks { flag::VERSION_2 } else { 0 };
        no_ack | version
    }

    pub(super) fn initialize(
        &mut self,
        now: Instant,
        profile: &Profile,
        correlators: &mut Correlators,
    ) {
        self.phase = Phase::Initializing;
        self.deadline = Some(now.plus_nanos(profile.session_wait_ns));
        let transmit_correlator = self.answer_correlator;
        self.answer_correlator = correlators.next();
        // Largest frame "unlimited": no bridge between the stations limits it.
        let data1 = Self::agreement(profile) | 7 << 1;
        self.control.push_back(SessionHeader {
            data1,
            data2: LONGEST_PART as u16,
            transmit_correlator,
            response_correlator: self.answer_correlator,
            ..self.header(SessionCommand::SessionInitialize)
        });
    }

    fn agree(&mut self, profile: &Profile, header: &SessionHeader) {
        self.habits = Habits {
            part_bytes: usize::from(header.data2).clamp(1, LONGEST_PART),
            piggybacks: profile.piggybacks && header.data1 & flag::VERSION_2 != 0,
        };
        self.phase = Phase::Open;
        self.deadline = None;
    }

    pub(super) fn handle_frame(
        &mut self,
        now: Instant,
        profile: &Profile,
        header: &SessionHeader,
        data: &[u8],
    ) -> Step {
        self.last_traffic = now;
        match (self.phase, header.command) {
            (_, SessionCommand::SessionEnd) => {
                Step::Ended(if header.data2 == 0 { Why::ByPeer } else { Why::ByPeerAbnormally })
            }
            (Phase::Recognized, SessionCommand::SessionInitialize)
                if header.transmit_correlator == self.answer_correlator =>
            {
                self.agree(profile, header);
                self.control.push_back(SessionHeader {
                    data1: Self::agreement(profile),
                    data2: LONGEST_PART as u16,
                    transmit_correlator: header.response_correlator,
                    ..self.header(SessionCommand::SessionConfirm)
                });
                Step::Opened
            }
            (Phase::Initializing, SessionCommand::SessionConfirm)
                if header.transmit_correlator == self.answer_correlator =>
            {
                self.agree(profile, header);
                Step::Opened
            }
            (Phase::Open, _) => self.handle_open(now, profile, header, data),
            _ => Step::Nothing,
        }
    }

    fn handle_open(
        &mut self,
        now: Instant,
        profile: &Profile,
        header: &SessionHeader,
        data: &[u8],
    ) -> Step {
        match header.command {
            SessionCommand::DataAck => {
                let is_room = self.sending.handle_acknowledgement(header.transmit_correlator);
                return if is_room { Step::Room } else { Step::Nothing };
            }
            SessionCommand::ReceiveContinue => {
                self.sending.handle_continue(header.transmit_correlator);
            }
            SessionCommand::NoReceive => self.sending.handle_no_receive(),
            SessionCommand::ReceiveOutstanding => {
                self.sending.handle_receive_outstanding(header.data2);
            }
            SessionCommand::DataFirstMiddle | SessionCommand::DataOnlyLast => {
                self.requests = self.requests.saturating_add(1);
                return self.handle_data(now, profile, header, data);
            }
            _ => {}
        }
        Step::Nothing
    }

    fn handle_data(
        &mut self,
        now: Instant,
        profile: &Profile,
        header: &SessionHeader,
        data: &[u8],
    ) -> Step {
        let is_room = header.data1 & flag::ACK_INCLUDED != 0
            && self.sending.handle_acknowledgement(header.transmit_correlator);
        let idle = if is_room { Step::Room } else { Step::Nothing };
        let taken = self.receiving.handle_data(header, data);
        if taken == Taken::Part && header.data1 & flag::RECEIVE_CONTINUE != 0 {
            self.control.push_back(SessionHeader {
                transmit_correlator: header.response_correlator,
                ..self.header(SessionCommand::ReceiveContinue)
            });
        }
        match taken {
            Taken::Part | Taken::Dropped => idle,
            Taken::TooLong => Step::Ended(Why::Protocol),
            Taken::NoReceive(accepted_bytes) => {
                let data1 = if needs_no_ack(header) { flag::NO_ACK } else { 0 };
                self.control.push_back(SessionHeader {
                    data1,
                    data2: accepted_bytes,
                    ..self.header(SessionCommand::NoReceive)
                });
                idle
            }
            Taken::Whole => {
                self.release_held();
                if !needs_no_ack(header) {
                    let correlator = header.response_correlator;
                    let may_wait = header.data1 & flag::ACK_WITH_DATA_ALLOWED != 0;
                    let wait_ns = profile.piggyback_wait_ns;
                    if may_wait && self.habits.piggybacks && wait_ns > 0 {
                        self.receiving.held = Some((correlator, now.plus_nanos(wait_ns)));
                    } else {
                        self.acknowledge(correlator);
                    }
                }
                Step::Message { is_room }
            }
        }
    }

    fn acknowledge(&mut self, correlator: u16) {
        self.control.push_back(SessionHeader {
            transmit_correlator: correlator,
            ..self.header(SessionCommand::DataAck)
        });
    }

    pub(super) fn release_held(&mut self) {
        if let Some((correlator, _)) = self.receiving.held.take() {
            self.acknowledge(correlator);
        }
    }

    pub(super) fn pause(&mut self) {
        self.receiving.is_paused = true;
    }

    pub(super) fn resume(&mut self) {
        if let Some(accepted_bytes) = self.receiving.resume() {
            self.control.push_back(SessionHeader {
                data2: accepted_bytes,
                ..self.header(SessionCommand::ReceiveOutstanding)
            });
        }
    }

    pub(super) fn ask_alive(&mut self) {
        let header = self.header(SessionCommand::SessionAlive);
        self.control.push_back(header);
    }

    pub(super) fn end(&mut self, reason: u16) {
        self.phase = Phase::Ending;
        self.deadline = None;
        self.receiving.held = None;
        self.control.clear();
        self.control
            .push_back(SessionHeader { data2: reason, ..self.header(SessionCommand::SessionEnd) });
    }

    pub(super) fn has_frame(&self) -> bool {
        !self.control.is_empty() || self.phase == Phase::Open && self.sending.is_ready()
    }

    pub(super) fn next_frame(
        &mut self,
        now: Instant,
        correlators: &mut Correlators,
        into: &mut Vec<u8>,
    ) {
        self.last_traffic = now;
        if let Some(header) = self.control.pop_front() {
            self.is_over |= header.command == SessionCommand::SessionEnd;
            header.emit(into);
            return;
        }
        let base = self.header(SessionCommand::DataAck);
        let Some(part) = self.sending.next_part(self.habits, correlators) else { return };
        let mut header = SessionHeader {
            command: part.command,
            data1: part.data1,
            data2: part.data2,
            response_correlator: part.response_correlator,
            ..base
        };
        if let Some((correlator, _)) = self.receiving.held.take() {
            header.data1 |= flag::ACK_INCLUDED;
            header.transmit_correlator = correlator;
        }
        header.emit(into);
        into.extend_from_slice(part.data);
    }
}

#[cfg(test)]
mod tests {
    use lanlab_wire::nbf::flag::ACK_WITH_DATA_ALLOWED;

    use super::*;
    use crate::profile::WINDOWS_NT;

    fn session() -> Session {
        let names = [1, 2].map(|suffix| Name::new("PEER", suffix).unwrap());
        Session::new(SessionId(1), Instant::from_nanos(0), &WINDOWS_NT, names)
    }

    #[test]
    fn acknowledgements_ride_on_data_if_both_ends_support_it() {
        let with = WINDOWS_NT;
        let without = Profile { piggybacks: false, ..with };
        assert!(with.piggybacks && !without.piggybacks);
        for (profile, data1, is_agreed) in
            [(with, flag::VERSION_2, true), (with, 0, false), (without, flag::VERSION_2, false)]
        {
            let mut session = session();
            let header = session.header(SessionCommand::SessionInitialize);
            session.agree(&profile, &SessionHeader { data1, data2: 1_000, ..header });
            assert_eq!(session.habits.piggybacks, is_agreed);
            assert_eq!((session.habits.part_bytes, session.phase), (1_000, Phase::Open));
        }
    }

    /// Whether the acknowledgement of a message waits for data, as both ends have agreed.
    fn is_held(piggybacks: bool, data1: u8) -> bool {
        const { assert!(WINDOWS_NT.piggyback_wait_ns > 0) };
        let now = Instant::from_nanos(0);
        let mut session = session();
        session.phase = Phase::Open;
        session.habits.piggybacks = piggybacks;
        let header = SessionHeader {
            data1,
            response_correlator: 5,
            ..session.header(SessionCommand::DataOnlyLast)
        };
        let step = session.handle_frame(now, &WINDOWS_NT, &header, b"message");
        assert_eq!(step, Step::Message { is_room: false });
        // The acknowledgement is either delayed or sent at once in its own frame.
        assert_eq!(session.receiving.held.is_some(), !session.has_frame());
        session.receiving.held.is_some()
    }

    #[test]
    fn an_acknowledgement_is_delayed_only_if_agreed_and_allowed_by_the_message() {
        assert!(is_held(true, ACK_WITH_DATA_ALLOWED));
        assert!(!is_held(false, ACK_WITH_DATA_ALLOWED));
        assert!(!is_held(true, 0));
    }
}
