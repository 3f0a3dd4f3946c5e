//! Changes to segments on their way to and from smoltcp, and counters.

use smoltcp::socket::tcp::State;
use smoltcp::wire::{IpAddress, Ipv4Packet, Ipv6Packet, TcpPacket, TcpSeqNumber};

use super::super::frames::ip_header_bytes;
use super::Connection;

/// A window probe is one byte, perhaps with a FIN.
pub(super) const PROBE_LENGTH: i32 = 2;

#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) first: Option<u32>,
    pub(super) up_to: Option<u32>,
    /// The peer's window is closed and everything is acknowledged: one byte sent is a window probe.
    pub(super) is_window_closed: bool,
}

impl Connection {
    /// Addresses of the peer and of this end.
    pub(super) fn addresses(&self) -> (IpAddress, IpAddress) {
        (IpAddress::from(self.peer.ip()), IpAddress::from(self.local.ip()))
    }

    fn tcp_mut<'a>(&self, packet: &'a mut [u8]) -> Option<TcpPacket<&'a mut [u8]>> {
        TcpPacket::new_checked(packet.get_mut(ip_header_bytes(self.local.ip())..)?).ok()
    }

    /// If the window closes over data in flight, show it to smoltcp as one byte: overdue data is then resent (RFC
    /// 9293, 3.8.6), and the reply carries the window. Otherwise smoltcp would probe beyond data that may be lost,
    /// and never resend it. Show an open one up to its last [whole segment](Self::whole_segments).
    pub(super) fn look_at_window(&mut self, packet: &mut [u8]) {
        let ends = self.addresses();
        let Some(mut tcp) = self.tcp_mut(packet) else { return };
        let Some(up_to) = self.sent.up_to.filter(|_| tcp.ack() && !tcp.rst()) else { return };
        let acknowledged = tcp.ack_number().0.cast_unsigned();
        let mut waiting = up_to.wrapping_sub(acknowledged).cast_signed();
        let (window, is_closed) = (tcp.window_len(), tcp.window_len() == 0);
        let mut shown = self.whole_segments(window, waiting);
        let is_as_before = shown == window && !is_closed && !self.sent.is_window_closed;
        if is_as_before || !tcp.verify_checksum(&ends.0, &ends.1) {
            return;
        }
        if self.sent.is_window_closed && (-PROBE_LENGTH..0).contains(&waiting) {
            // The peer accepted the probe byte.
            self.sent.up_to = Some(acknowledged);
            waiting = 0;
        }
        self.sent.is_window_closed = is_closed && waiting <= 0;
        if is_closed && waiting > 0 {
            shown = 1;
        }
        if shown != window {
            tcp.set_window_len(shown);
            tcp.fill_checksum(&ends.0, &ends.1);
        }
    }

    /// The part of an unscaled window that whole segments fill after the `waiting` bytes in flight. smoltcp would fill
    /// the rest with a short segment (RFC 9293, 3.8.6.2.1).
    fn whole_segments(&self, window: u16, waiting: i32) -> u16 {
        let is_small = self.fills_by_segments && self.seen.window_shift == 0;
        let Some(waiting) = u16::try_from(waiting).ok().filter(|_| is_small) else { return window };
        let largest = self.largest_bytes();
        match window.checked_sub(waiting) {
            Some(room) if waiting > 0 || room >= largest => waiting + room / largest * largest,
            _ => window,
        }
    }

    /// The peer's FIN as a separate segment if it arrives with data. smoltcp would accept the FIN even if only part
    /// of the data fits, and lose the rest.
    pub(super) fn end_of(&self, packet: &[u8]) -> Option<Vec<u8>> {
        let ends = self.addresses();
        let tcp = self.tcp(packet)?;
        let bytes = tcp.payload().len();
        if !tcp.fin() || bytes == 0 || !tcp.verify_checksum(&ends.0, &ends.1) {
            return None;
        }
        self.without_data(packet, tcp.seq_number() + bytes)
    }

    pub(super) fn without_data(&self, packet: &[u8], number: TcpSeqNumber) -> Option<Vec<u8>> {
        let ends = self.addresses();
        let header = ip_header_bytes(self.local.ip());
        let length = usize::from(self.tcp(packet)?.header_len());
        let mut bare = packet.get(..header + length)?.to_vec();
        if self.local.is_ipv4() {
            let mut ip = Ipv4Packet::new_unchecked(&mut bare);
            ip.set_total_len((header + length) as u16);
            ip.fill_checksum();
        } else {
            Ipv6Packet::new_unchecked(&mut bare).set_payload_len(length as u16);
        }
        let mut tcp = TcpPacket::new_unchecked(&mut bare[header..]);
        tcp.set_seq_number(number);
        tcp.fill_checksum(&ends.0, &ends.1);
        Some(bare)
    }

    pub(super) fn without_end(&self, packet: &mut [u8]) {
        let ends = self.addresses();
        if let Some(mut tcp) = self.tcp_mut(packet) {
            tcp.set_fin(false);
            tcp.fill_checksum(&ends.0, &ends.1);
        }
    }

    /// Whether a segment repeats known facts while only our FIN is unacknowledged. After three of them smoltcp
    /// would fast-retransmit data that does not exist, and never the FIN.
    pub(super) fn repeats_what_is_known(&self, packet: &[u8]) -> bool {
        let Some(tcp) = self.tcp(packet) else { return false };
        let acknowledged = tcp.ack_number().0.cast_unsigned();
        let is_waiting = self.sent.up_to == Some(acknowledged.wrapping_add(1));
        is_waiting && tcp.ack() && tcp.segment_len() == 0 && !tcp.rst() && self.is_at_its_end()
    }

    fn is_at_its_end(&self) -> bool {
        let has_closed =
            matches!(self.socket().state(), State::FinWait1 | State::Closing | State::LastAck);
        has_closed && self.socket().send_queue() == 0
    }

    /// Give a pure acknowledgement the number after the highest sent. smoltcp uses the number after the resent
    /// data: if both ends do that, each takes the other's acknowledgement for old, and neither proceeds.
    pub(super) fn number_acknowledgement(&self, packet: &mut [u8]) {
        let (peer, local) = self.addresses();
        let Some(mut tcp) = self.tcp_mut(packet) else { return };
        let Some(up_to) = self.sent.up_to.filter(|_| tcp.segment_len() == 0 && !tcp.rst()) else {
            return;
        };
        if up_to.wrapping_sub(tcp.seq_number().0.cast_unsigned()).cast_signed() > 0 {
            tcp.set_seq_number(TcpSeqNumber(up_to.cast_signed()));
            tcp.fill_checksum(&local, &peer);
        }
    }

    pub(super) fn count_sent(&mut self, packet: &[u8]) {
        let Some(tcp) = self.tcp(packet) else { return };
        let (bytes, first) = (tcp.payload().len() as u32, tcp.seq_number().0.cast_unsigned());
        let length = bytes + u32::from(tcp.syn()) + u32::from(tcp.fin());
        self.sent.first = if tcp.syn() { Some(first) } else { self.sent.first };
        self.facts.segments_sent += 1;
        // One acknowledged byte sent again is a keep-alive probe.
        if bytes == 1 && self.socket().send_queue() == 0 {
            return;
        }
        self.facts.data_segments_sent += u64::from(bytes > 0);
        // A window probe is not in flight: smoltcp sends it as new data each time.
        if length == 0 || (self.sent.is_window_closed && bytes == 1) {
            return;
        }
        let end = first.wrapping_add(length);
        let is_ahead = |up_to: u32| end.wrapping_sub(up_to).cast_signed() > 0;
        if self.sent.up_to.is_none_or(is_ahead) {
            self.sent.up_to = Some(end);
        } else {
            self.facts.retransmitted_segments += 1;
        }
    }
}
