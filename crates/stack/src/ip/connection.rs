//! One TCP connection with its own smoltcp socket and interface, so that the cost of an event does
//! not grow with the number of connections.

mod arriving;
mod memory;
mod opening;
mod segments;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use lanlab_units::Instant;
use smoltcp::iface::{Config as InterfaceConfig, Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp;
use smoltcp::time;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, TcpPacket};

use self::arriving::Peer;
use self::memory::ring_bytes;
use self::segments::Sent;
use super::device::Device;
use super::frames::ip_header_bytes;
use super::{ETHERNET_HEADER_BYTES, MTU_BYTES, Mac, TcpProfile};

const TCP_HEADER_BYTES: usize = 20;
const NANOS_PER_MICRO: u64 = 1_000;
/// Upper bound of acknowledgement delays (RFC 1122, 4.2.3.2); the wait after both ends have closed is longer.
const LONGEST_ACK_DELAY_NS: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// Number of bytes, 1 or more.
    Bytes(usize),
    Nothing,
    End,
    Broken,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionFacts {
    pub segments_sent: u64,
    pub data_segments_sent: u64,
    pub retransmitted_segments: u64,
    pub data_segments_received: u64,
    pub accepted_bytes: u64,
    pub unacknowledged_bytes: u64,
    pub received_bytes: u64,
    pub mss_bytes: u64,
}

pub(super) struct Connection {
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    device: Device,
    send_buffer_bytes: usize,
    pub local: SocketAddr,
    pub peer: SocketAddr,
    pub peer_mac: Mac,
    pub number: u64,
    facts: ConnectionFacts,
    sent: Sent,
    seen: Peer,
    ack_delay_ns: Option<u64>,
    fills_by_segments: bool,
    pub timeout: Option<Instant>,
    /// Bytes that the program has read but the announced window does not include yet.
    unshown_bytes: usize,
    window_step_bytes: usize,
    /// Once both ends have closed: the unread data, because smoltcp discards it after a while.
    kept: Option<VecDeque<u8>>,
    looked_at: Vec<u8>,
    pub is_sending: bool,
    pub is_told: bool,
}

fn in_micros(now: Instant) -> time::Instant {
    time::Instant::from_micros((now.as_nanos() / NANOS_PER_MICRO).cast_signed())
}

impl Connection {
    pub fn new(
        now: Instant,
        local: SocketAddr,
        peer: SocketAddr,
        peer_mac: Mac,
        profile: &TcpProfile,
        seed: u64,
    ) -> Self {
        let headers = ip_header_bytes(local.ip()) + TCP_HEADER_BYTES;
        let mtu_bytes = profile.mss_bytes.map_or(MTU_BYTES, |mss| usize::from(mss) + headers);
        let mut device = Device::new(mtu_bytes.min(MTU_BYTES));
        let mut config = InterfaceConfig::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut device, in_micros(now));
        // Every address is treated as a neighbour: hardware addresses are filled in here.
        interface.update_ip_addrs(|addresses| {
            let _ = addresses.push(IpCidr::new(local.ip().into(), 0));
        });
        let buffer = |bytes| tcp::SocketBuffer::new(vec![0; bytes]);
        let mss = device.mtu_bytes.saturating_sub(headers).max(1);
        let ring_bytes = ring_bytes(profile, mss);
        let received = buffer(profile.receive_buffer_bytes);
        let mut socket = tcp::Socket::new(received, buffer(ring_bytes));
        socket.set_nagle_enabled(profile.nagle);
        socket.set_congestion_control(tcp::CongestionControl::Reno);
        let delay = |ns: u64| time::Duration::from_micros(ns / NANOS_PER_MICRO);
        socket.set_ack_delay(profile.delayed_ack_ns.map(delay));
        let mut sockets = SocketSet::new(Vec::with_capacity(1));
        let handle = sockets.add(socket);
        Self {
            interface,
            sockets,
            handle,
            device,
            send_buffer_bytes: profile.send_buffer_bytes,
            local,
            peer,
            peer_mac,
            number: 0,
            facts: ConnectionFacts { mss_bytes: mss as u64, ..ConnectionFacts::default() },
            sent: Sent::default(),
            seen: Peer::default(),
            ack_delay_ns: profile.delayed_ack_ns.filter(|_| profile.is_modern),
            fills_by_segments: profile.is_modern,
            timeout: None,
            unshown_bytes: 0,
            kept: None,
            window_step_bytes: mss.min(profile.receive_buffer_bytes / 2),
            looked_at: Vec::new(),
            is_sending: false,
            is_told: false,
        }
    }

    /// Open the connection actively. Returns whether its addresses are valid.
    pub fn connect(&mut self) -> bool {
        let socket = self.sockets.get_mut::<tcp::Socket>(self.handle);
        let to = (IpAddress::from(self.peer.ip()), self.peer.port());
        let from = (IpAddress::from(self.local.ip()), self.local.port());
        socket.connect(self.interface.context(), to, from).is_ok()
    }

    fn socket(&self) -> &tcp::Socket<'static> {
        self.sockets.get(self.handle)
    }

    fn socket_mut(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    /// Handle a packet and send the reply at once.
    pub fn handle_packet(&mut self, now: Instant, packet: &[u8]) {
        if self.repeats_what_is_known(packet) {
            return;
        }
        if let Some(question) = self.challenge(packet) {
            return self.take_in(now, &question, |_, _| ());
        }
        self.look_at_peer(now, packet);
        if self.payload_bytes(packet) > 0 {
            self.facts.data_segments_received += 1;
        }
        let end = self.end_of(packet);
        self.take_in(now, packet, |connection, segment| {
            connection.look_at_window(segment);
            if end.is_some() {
                connection.without_end(segment);
            }
        });
        if let Some(end) = end {
            self.take_in(now, &end, Self::look_at_window);
        }
    }

    fn take_in(&mut self, now: Instant, packet: &[u8], change: impl FnOnce(&mut Self, &mut [u8])) {
        let mut buffer = self.device.unused.pop().unwrap_or_default();
        buffer.clear();
        buffer.reserve_exact(packet.len());
        buffer.extend_from_slice(packet);
        change(self, &mut buffer);
        self.device.received = Some(buffer);
        self.interface.poll_ingress_single(in_micros(now), &mut self.device, &mut self.sockets);
    }

    pub fn make_segment(&mut self, now: Instant) {
        if self.kept.is_none() && self.socket().state() == tcp::State::TimeWait {
            self.keep_the_rest();
        }
        self.interface.poll_egress(in_micros(now), &mut self.device, &mut self.sockets);
    }

    fn keep_the_rest(&mut self) {
        self.show_room();
        let mut rest = vec![0; self.socket().recv_queue()];
        let mut filled = 0;
        // The ring returns data in two parts if it wraps.
        while let Ok(bytes @ 1..) = self.socket_mut().recv_slice(&mut rest[filled..]) {
            filled += bytes;
        }
        self.kept = Some(rest.into());
    }

    /// Take the oldest frame to send, with room for its Ethernet header, into `into`.
    pub fn take_frame(&mut self, into: &mut Vec<u8>) -> bool {
        if self.device.sent.is_empty() {
            return false;
        }
        let mut frame = self.device.sent.remove(0);
        self.number_acknowledgement(&mut frame[ETHERNET_HEADER_BYTES..]);
        self.count_sent(&frame[ETHERNET_HEADER_BYTES..]);
        std::mem::swap(into, &mut frame);
        self.device.unused.push(frame);
        true
    }

    pub fn has_frame(&self) -> bool {
        !self.device.sent.is_empty()
    }

    /// Time of the next call; a time in the past means that it has something to send.
    pub fn wants(&mut self, now: Instant) -> Option<Instant> {
        let at = self.interface.poll_at(in_micros(now), &self.sockets)?;
        Some(Instant::from_nanos(at.total_micros().cast_unsigned() * NANOS_PER_MICRO))
    }

    pub fn is_established(&self) -> bool {
        self.socket().may_send()
    }

    pub fn is_over(&self) -> bool {
        matches!(self.socket().state(), tcp::State::Closed | tcp::State::TimeWait)
    }

    pub fn send(&mut self, data: &[u8]) -> usize {
        let room = data.len().min(self.room_bytes());
        let taken = self.socket_mut().send_slice(&data[..room]).unwrap_or(0);
        self.facts.accepted_bytes += taken as u64;
        taken
    }

    /// Copy received bytes to the program. The window opens only by a segment or half of the buffer (RFC 1122,
    /// 4.2.3.3), so small reads cause no small segments.
    pub fn receive(&mut self, into: &mut [u8]) -> Received {
        let wanted = into.len().min(self.readable_bytes());
        if let Some(kept) = &mut self.kept {
            for (place, octet) in into.iter_mut().zip(kept.drain(..wanted)) {
                *place = octet;
            }
            self.facts.received_bytes += wanted as u64;
            return if wanted == 0 { Received::End } else { Received::Bytes(wanted) };
        }
        if wanted == 0 {
            self.show_room();
            return self.nothing_received();
        }
        let skipped = self.unshown_bytes;
        let mut looked_at = std::mem::take(&mut self.looked_at);
        // A station's memory is bounded: reserve exactly the size needed.
        looked_at.reserve_exact((skipped + wanted).saturating_sub(looked_at.len()));
        looked_at.resize(skipped + wanted, 0);
        let seen = self.socket_mut().peek_slice(&mut looked_at).unwrap_or(0);
        let bytes = seen.saturating_sub(skipped);
        into[..bytes].copy_from_slice(&looked_at[skipped..skipped + bytes]);
        self.looked_at = looked_at;
        self.unshown_bytes += bytes;
        if self.unshown_bytes >= self.window_step_bytes {
            self.show_room();
        }
        self.facts.received_bytes += bytes as u64;
        Received::Bytes(bytes)
    }

    fn show_room(&mut self) {
        while self.unshown_bytes > 0 {
            let most = self.unshown_bytes;
            // The ring returns data in two parts if it wraps.
            let taken =
                self.socket_mut().recv(|bytes| (bytes.len().min(most), bytes.len().min(most)));
            match taken {
                Ok(taken) if taken > 0 => self.unshown_bytes -= taken,
                _ => self.unshown_bytes = 0,
            }
        }
    }

    fn nothing_received(&mut self) -> Received {
        let socket = self.socket_mut();
        match socket.recv_slice(&mut []) {
            Ok(_) if socket.may_recv() || !self.is_established_once() => Received::Nothing,
            Ok(_) | Err(tcp::RecvError::Finished) => Received::End,
            Err(tcp::RecvError::InvalidState) if !self.is_established_once() => Received::Nothing,
            Err(tcp::RecvError::InvalidState) => Received::Broken,
        }
    }

    fn is_established_once(&self) -> bool {
        let state = self.socket().state();
        !matches!(state, tcp::State::Listen | tcp::State::SynSent | tcp::State::SynReceived)
    }

    pub fn readable_bytes(&self) -> usize {
        let kept = self.kept.as_ref().map(VecDeque::len);
        kept.unwrap_or_else(|| self.socket().recv_queue() - self.unshown_bytes)
    }

    pub fn room_bytes(&self) -> usize {
        if !self.socket().may_send() {
            return 0;
        }
        self.send_buffer_bytes.saturating_sub(self.socket().send_queue())
    }

    pub fn abort(&mut self) {
        self.socket_mut().abort();
    }

    pub fn close(&mut self) {
        self.socket_mut().close();
    }

    /// Whether both ends have finished sending, and no acknowledgement of the end is due.
    pub fn is_settled(&mut self, now: Instant) -> bool {
        let soon = now.plus_nanos(LONGEST_ACK_DELAY_NS);
        self.is_over() && !self.has_frame() && self.wants(now).is_none_or(|at| at > soon)
    }

    pub fn is_closed(&self) -> bool {
        self.socket().state() == tcp::State::Closed && self.device.sent.is_empty()
    }

    pub fn facts(&self) -> ConnectionFacts {
        let unacknowledged_bytes = self.socket().send_queue() as u64;
        ConnectionFacts { unacknowledged_bytes, ..self.facts }
    }

    fn tcp<'a>(&self, packet: &'a [u8]) -> Option<TcpPacket<&'a [u8]>> {
        TcpPacket::new_checked(packet.get(ip_header_bytes(self.local.ip())..)?).ok()
    }

    fn payload_bytes(&self, packet: &[u8]) -> usize {
        self.tcp(packet).map_or(0, |tcp| tcp.payload().len())
    }
}

pub(super) fn local_address(addresses: &[IpAddr], peer: IpAddr) -> Option<IpAddr> {
    addresses.iter().copied().find(|address| address.is_ipv4() == peer.is_ipv4())
}
