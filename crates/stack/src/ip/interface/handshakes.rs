//! Handshakes that peers begin. They take no connection's place and little memory: as with SYN cookies (RFC 4987, 3.6),
//! the connection is made again from a few numbers once its peer has answered and there is room.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use lanlab_units::Instant;
use smoltcp::wire::{IpAddress, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber};

use super::{Connection, ConnectionId, Event, Interface, Mac, frames, local_address};
use crate::ip::{ETHERNET_HEADER_BYTES, TcpProfile};

/// Maximum handshakes at a time for each connection of an interface with limited connections.
pub(super) const HANDSHAKES: usize = 6;
/// Maximum SYN+ACKs of a handshake: at once, and after 1, 3, 7 and 15 s. It ends after 31 s.
const MOST_ANSWERS: u8 = 5;
const SECOND_NS: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy)]
pub(super) struct Handshake {
    pub port: u16,
    peer: SocketAddr,
    mac: Mac,
    number: u64,
    answered: Instant,
    answers: u8,
    /// When the next SYN+ACK is due; `None`: now, unless the handshake is complete.
    pub resend_at: Option<Instant>,
    /// Whether the peer has answered, and waits for room.
    is_complete: bool,
    first: TcpSeqNumber,
    own_first: TcpSeqNumber,
    window_len: u16,
    window_scale: Option<u8>,
    max_seg_size: Option<u16>,
    sack_permitted: bool,
}

impl Handshake {
    /// Write the peer's SYN, or its acknowledgement of ours, to `frame`.
    fn emit(&self, local: SocketAddr, is_syn: bool, frame: &mut Vec<u8>) {
        let Self { window_len, window_scale, max_seg_size, sack_permitted, .. } = *self;
        let tcp = TcpRepr {
            control: if is_syn { TcpControl::Syn } else { TcpControl::None },
            seq_number: self.first + usize::from(!is_syn),
            ack_number: (!is_syn).then(|| self.own_first + 1),
            window_len,
            window_scale,
            max_seg_size,
            sack_permitted,
            ..frames::bare(self.peer.port(), self.port)
        };
        frames::emit_segment((self.mac, self.mac), (self.peer, local), &tcp, frame);
    }
}

impl Interface {
    pub(super) fn handle_syn(
        &mut self,
        now: Instant,
        (peer, to): (SocketAddr, SocketAddr),
        packet: &[u8],
    ) -> bool {
        let Ok((_, mac)) = self.way_to(peer) else { return false };
        let Some(syn) = frames::parse_segment(peer, to, packet) else { return false };
        let port = to.port();
        if let Some(index) = self.handshake_of(port, peer) {
            let known = &mut self.handshakes[index];
            if known.is_complete || known.first == syn.seq_number {
                known.resend_at = None;
                return true;
            }
            self.handshakes.remove(index);
        }
        self.drop_handshake();
        self.opened += 1;
        let TcpRepr { window_len, window_scale, max_seg_size, sack_permitted, .. } = syn;
        self.handshakes.push_back(Handshake {
            port,
            peer,
            mac,
            number: self.opened,
            answered: now,
            answers: 0,
            resend_at: None,
            is_complete: false,
            first: syn.seq_number,
            own_first: TcpSeqNumber(0),
            window_len,
            window_scale,
            max_seg_size,
            sack_permitted,
        });
        true
    }

    /// Handle a segment for no connection: the peer's answer to a SYN+ACK opens one, others get a reset. Returns the
    /// connection that must handle the segment, and whether it was expected.
    pub(super) fn handle_answer(
        &mut self,
        now: Instant,
        (peer, to): (SocketAddr, SocketAddr),
        packet: &[u8],
    ) -> (Option<usize>, bool) {
        let port = to.port();
        if let Some(index) = self.handshake_of(port, peer)
            && let Some(segment) = frames::parse_segment(peer, to, packet)
        {
            let is_waiting = |one: &&Handshake| one.is_complete && one.port == port;
            let waiting = self.handshakes.iter().filter(is_waiting).count();
            let has_room = waiting < self.most_handshakes() / 4 * 3;
            let window = self.config.tcp.receive_buffer_bytes;
            let known = &mut self.handshakes[index];
            if segment.control == TcpControl::Rst {
                if segment.seq_number == known.first + 1 {
                    self.handshakes.remove(index);
                }
                return (None, true);
            }
            // A blind attacker must guess this number, too (RFC 9293, 3.10.7.4).
            let ahead = segment.seq_number.0.wrapping_sub(known.first.0).cast_unsigned() as usize;
            if segment.control == TcpControl::Syn || !(1..=window).contains(&ahead) {
                return (None, true);
            }
            let is_expected = segment.ack_number == Some(known.own_first + 1) && known.answers > 0;
            if is_expected && (known.is_complete || has_room) {
                (known.is_complete, known.resend_at) = (true, None);
                known.window_len = segment.window_len;
                self.admit(now);
                let has_more = segment.segment_len() > 0;
                return (self.by_ends.get(&(port, peer)).copied().filter(|_| has_more), true);
            }
            if is_expected {
                self.handshakes.remove(index);
            }
        }
        self.reset(peer, to, packet);
        (None, false)
    }

    fn handshake_of(&self, port: u16, peer: SocketAddr) -> Option<usize> {
        self.handshakes.iter().position(|one| one.port == port && one.peer == peer)
    }

    fn most_handshakes(&self) -> usize {
        self.most_connections.map_or(usize::MAX, |most| HANDSHAKES * most)
    }

    /// If there is no room for another handshake, drop the oldest that its peer has not answered (RFC 4987, 3.4), at
    /// the port with the most: strangers at one port drop none at another.
    fn drop_handshake(&mut self) {
        if self.handshakes.len() >= self.most_handshakes() {
            let rank = |(index, one, count)| (Reverse(one), count, Reverse(index));
            let worst = self.ranked().max_by_key(|&ranked| rank(ranked));
            worst.and_then(|(index, ..)| self.handshakes.remove(index));
        }
    }

    /// Place of each handshake, whether it is complete, and how many there are at its port.
    fn ranked(&self) -> impl Iterator<Item = (usize, bool, usize)> {
        let mut of_port = BTreeMap::new();
        for handshake in &self.handshakes {
            *of_port.entry(handshake.port).or_insert(0) += 1;
        }
        let ranked = self.handshakes.iter().enumerate();
        ranked.map(move |(index, one)| (index, one.is_complete, of_port[&one.port]))
    }

    /// Open the connections of complete handshakes for which there is room; returns whether there was one.
    pub(super) fn admit(&mut self, now: Instant) -> bool {
        let before = self.handshakes.len();
        while self.handshakes.iter().any(|one| one.is_complete) && self.makes_room(now) {
            let complete = self.ranked().filter(|&(_, is_complete, _)| is_complete);
            let first = complete.min_by_key(|&(index, _, count)| (count, index));
            let Some(one) = first.and_then(|(index, ..)| self.handshakes.remove(index)) else {
                break;
            };
            let mut frame = Vec::new();
            if let Some(mut connection) = self.begin(&one, &self.config.tcp, &mut frame) {
                one.emit(connection.local, false, &mut frame);
                connection.handle_packet(now, &frame[ETHERNET_HEADER_BYTES..]);
                let id = self.keep(connection);
                self.events.push_back(Event::Accepted(ConnectionId(id), one.port));
                self.touched(now, id);
                self.tell(id);
            }
        }
        self.handshakes.len() < before
    }

    /// The connection of a handshake before its last segment. Its SYN+ACK is written to `frame`.
    fn begin(&self, one: &Handshake, tcp: &TcpProfile, frame: &mut Vec<u8>) -> Option<Connection> {
        let local = local_address(&self.config.addresses, one.peer.ip())?;
        let ends = (SocketAddr::new(local, one.port), one.peer);
        let mut connection = self.connection(one.answered, ends, one.mac, tcp, one.number);
        connection.listen(self.most_connections.is_some());
        one.emit(ends.0, true, frame);
        connection.handle_packet(one.answered, &frame[ETHERNET_HEADER_BYTES..]);
        connection.make_segment(one.answered);
        connection.take_frame(frame).then_some(connection)
    }

    /// Write the next SYN+ACK that is due to `into`. False if there is none.
    pub(super) fn answer_handshake(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        let is_due = |one: &Handshake| one.resend_at.is_none() && !one.is_complete;
        while let Some(index) = self.handshakes.iter().position(is_due) {
            let one = &mut self.handshakes[index];
            (one.answered, one.answers) = (now, one.answers + 1);
            one.resend_at = Some(now.plus_nanos(SECOND_NS << (one.answers - 1)));
            let one = *one;
            let answer = (one.answers <= MOST_ANSWERS).then(|| self.emit_answer(&one, into));
            if let Some(own_first) = answer.flatten() {
                self.handshakes[index].own_first = own_first;
                return true;
            }
            self.handshakes.remove(index);
        }
        false
    }

    fn emit_answer(&self, one: &Handshake, into: &mut Vec<u8>) -> Option<TcpSeqNumber> {
        let mut tcp = self.config.tcp;
        let window = tcp.receive_buffer_bytes.min(u16::MAX.into()) as u16;
        if self.most_connections.is_some() {
            // There may be no memory for the buffers yet.
            (tcp.receive_buffer_bytes, tcp.send_buffer_bytes) = (0, 0);
        }
        let local = self.begin(one, &tcp, into)?.local.ip();
        frames::emit_ethernet(self.config.mac, one.mac, local, into);
        let segment = &mut into[ETHERNET_HEADER_BYTES + frames::ip_header_bytes(local)..];
        let mut segment = TcpPacket::new_unchecked(segment);
        segment.set_window_len(window);
        segment.fill_checksum(&IpAddress::from(local), &IpAddress::from(one.peer.ip()));
        Some(segment.seq_number())
    }
}
