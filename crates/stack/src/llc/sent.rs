//! Output of a link.

use lanlab_units::Instant;
use lanlab_wire::llc::{Control, Header, Supervisory, Unnumbered};

use super::link::{Link, Pending};
use super::report::State;

impl Link {
    pub fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        if let Some(pending) = self.pending.pop_front() {
            self.emit_pending(pending, into);
            return true;
        }
        if self.state != State::Opened {
            return false;
        }
        let may_send = !self.is_polling
            && self.peer_busy_since.is_none()
            && self.queue.on_their_way() < self.window;
        let receive_number = self.expected;
        if may_send && let Some((send_number, information, is_again)) = self.queue.send_next() {
            let control = Control::Information { send_number, receive_number, poll: false };
            emit(self.saps, false, control, into);
            into.extend_from_slice(information);
            if is_again {
                self.counts.information_sent_again += 1;
            } else {
                self.counts.information_sent += 1;
            }
            self.acknowledged();
            self.set_timers(now);
            return true;
        }
        if self.is_ack_due {
            self.emit_pending(Pending::Ready { is_response: true, poll: false }, into);
            return true;
        }
        false
    }

    fn acknowledged(&mut self) {
        self.unacknowledged = 0;
        self.is_ack_due = false;
        self.timers.t2 = None;
    }

    fn emit_pending(&mut self, pending: Pending, into: &mut Vec<u8>) {
        let receive_number = self.expected;
        let supervisory = |kind, poll| Control::Supervisory { kind, receive_number, poll };
        match pending {
            Pending::Unnumbered { kind, is_response, poll } => {
                emit(self.saps, is_response, Control::Unnumbered { kind, poll }, into);
            }
            Pending::FrameReject { poll } => {
                let kind = Unnumbered::FrameReject;
                emit(self.saps, true, Control::Unnumbered { kind, poll }, into);
                if let Some(rejected) = self.rejected {
                    into.extend_from_slice(&rejected.to_wire());
                }
                self.counts.frame_rejects_sent += 1;
            }
            Pending::Ready { is_response, poll } => {
                emit(self.saps, is_response, supervisory(Supervisory::ReceiveReady, poll), into);
                self.counts.supervisory_sent += 1;
                self.acknowledged();
            }
            Pending::Reject { is_response, poll } => {
                emit(self.saps, is_response, supervisory(Supervisory::Reject, poll), into);
                self.counts.supervisory_sent += 1;
                self.counts.rejects_sent += 1;
                self.acknowledged();
            }
        }
    }
}

fn emit(
    [source_sap, destination_sap]: [u8; 2],
    is_response: bool,
    control: Control,
    into: &mut Vec<u8>,
) {
    Header { destination_sap, source_sap, is_response, control }.emit(into);
}
