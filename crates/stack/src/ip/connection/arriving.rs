//! Checks of a segment before smoltcp handles it: whether it may end or change the connection (RFC 5961), and
//! whether its acknowledgement is delayed.

use lanlab_units::Instant;
use smoltcp::socket::tcp::State;
use smoltcp::time::Duration;
use smoltcp::wire::{TcpOption, TcpPacket, TcpSeqNumber};

use super::super::frames::ip_header_bytes;
use super::segments::PROBE_LENGTH;
use super::{Connection, NANOS_PER_MICRO};

/// Time for a second segment after one that is pushed and full: small senders (mTCP) push every segment, and each
/// acknowledgement costs their processor as much as a segment.
const SECOND_SEGMENT_NS: u64 = 1_000_000;
/// Segment size of a peer that names none (RFC 9293, 3.7.1).
const USUAL_MSS_BYTES: u16 = 536;

#[derive(Debug, Default)]
pub(super) struct Peer {
    first: Option<TcpSeqNumber>,
    /// Shift of the peer's windows, and its largest window (RFC 5961, 5.2).
    pub(super) window_shift: u8,
    largest_window: u32,
    mss_bytes: Option<u16>,
    data_came: Option<Instant>,
}

impl Connection {
    /// If a blind attacker may have sent the segment: a probe that smoltcp answers with an
    /// acknowledgement, at most one per second. `None`: smoltcp handles the segment itself.
    ///
    /// Suspicious segments are a reset within the window whose number is not exactly the next one
    /// (RFC 5961, 3.2), a SYN on an open connection (4.2), and an acknowledgement of unsent or very
    /// old data (5.2).
    pub(super) fn challenge(&self, packet: &[u8]) -> Option<Vec<u8>> {
        let ends = self.addresses();
        let tcp = self.tcp(packet)?;
        let (next, first_sent) = (self.next_expected()?, self.sent.first?);
        let socket = self.socket();
        if self.kept.is_some() || !tcp.verify_checksum(&ends.0, &ends.1) {
            return None;
        }
        let is_open = socket.state() != State::SynReceived;
        let unacknowledged = socket.send_queue();
        let acknowledged_bytes = self.facts.accepted_bytes - unacknowledged as u64;
        let oldest = after(first_sent, 1 + acknowledged_bytes);
        let is_challenged = if tcp.rst() {
            let ahead = tcp.seq_number().0.wrapping_sub(next.0);
            let room = socket.recv_capacity() - socket.recv_queue();
            ahead > 0 && (ahead.cast_unsigned() as usize) < room
        } else if tcp.syn() {
            is_open
        } else {
            let probe = if self.sent.is_window_closed { PROBE_LENGTH } else { 0 };
            let acknowledged = tcp.ack_number().0.cast_unsigned();
            let beyond = acknowledged.wrapping_sub(self.sent.up_to?).cast_signed();
            let behind = oldest.wrapping_sub(acknowledged).cast_signed();
            is_open
                && tcp.ack()
                && (beyond > probe || behind > self.seen.largest_window.cast_signed())
        };
        if !is_challenged {
            return None;
        }
        let mut question = self.without_data(packet, next - 1)?;
        let mut tcp = TcpPacket::new_unchecked(&mut question[ip_header_bytes(self.local.ip())..]);
        tcp.clear_flags();
        tcp.set_ack(true);
        tcp.set_ack_number(TcpSeqNumber(oldest.cast_signed()));
        tcp.fill_checksum(&ends.0, &ends.1);
        Some(question)
    }

    fn next_expected(&self) -> Option<TcpSeqNumber> {
        let socket = self.socket();
        let has_ended = matches!(
            socket.state(),
            State::CloseWait | State::LastAck | State::Closing | State::TimeWait
        );
        // Data already taken by the program stays in smoltcp's buffer until its room is announced.
        let taken = self.facts.received_bytes - self.unshown_bytes as u64;
        let length = 1 + taken + socket.recv_queue() as u64 + u64::from(has_ended);
        let first = self.seen.first?.0.cast_unsigned();
        Some(TcpSeqNumber(after(first, length).cast_signed()))
    }

    /// Record facts about the segment that smoltcp does not report.
    pub(super) fn look_at_peer(&mut self, now: Instant, packet: &[u8]) {
        let state = self.socket().state();
        let Some(tcp) = self.tcp(packet) else { return };
        let (is_syn, first, window) = (tcp.syn(), tcp.seq_number(), u32::from(tcp.window_len()));
        let (is_pushed, bytes) = (tcp.psh(), tcp.payload().len());
        let mut options = tcp.options();
        let mut shift = 0;
        while let Ok((rest, option)) = TcpOption::parse(options)
            && option != TcpOption::EndOfList
        {
            match option {
                TcpOption::WindowScale(scale) => shift = scale.min(14),
                TcpOption::MaxSegmentSize(bytes) if is_syn => self.seen.mss_bytes = Some(bytes),
                _ => {}
            }
            options = rest;
        }
        if is_syn && matches!(state, State::Listen | State::SynSent) {
            (self.seen.first, self.seen.window_shift) = (Some(first), shift);
        }
        self.seen.largest_window = self.seen.largest_window.max(window << self.seen.window_shift);
        if bytes > 0 {
            self.acknowledge_soon(now, is_pushed, bytes);
        }
    }

    /// The largest segment that both ends accept.
    pub(super) fn largest_bytes(&self) -> u16 {
        let of_peer = self.seen.mss_bytes.unwrap_or(USUAL_MSS_BYTES).max(1);
        of_peer.min(self.facts.mss_bytes as u16)
    }

    /// Acknowledge at once if the data ends a write of the peer's program, or follows a pause as
    /// long as the delay: the peer may wait for the acknowledgement.
    fn acknowledge_soon(&mut self, now: Instant, is_pushed: bool, bytes: usize) {
        let Some(delay_ns) = self.ack_delay_ns else { return };
        let before = self.seen.data_came.replace(now);
        let is_after_pause = before.is_none_or(|at| now.nanos_since(at) >= delay_ns);
        let is_full = bytes >= usize::from(self.largest_bytes());
        let waits_ns = match (is_pushed, is_full) {
            _ if is_after_pause => 0,
            (true, false) => 0,
            (true, true) => SECOND_SEGMENT_NS,
            (false, _) => delay_ns,
        };
        let waits = Duration::from_micros(waits_ns / NANOS_PER_MICRO);
        self.socket_mut().set_ack_delay(Some(waits));
    }
}

/// The sequence number `length` octets after `first`: numbers begin again after 2^32 octets, and smoltcp's addition
/// panics beyond 2^31.
fn after(first: u32, length: u64) -> u32 {
    first.wrapping_add(length as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_begin_again() {
        assert_eq!(after(u32::MAX, 1), 0);
        assert_eq!(after(7, 1 << 31), 0x8000_0007);
        assert_eq!(after(7, (5 << 32) + 3), 10);
    }
}
