//! A node without protocols: messages in Ethernet frames of an experimental type.
//!
//! It measures hosts and media alone. It has one socket with a limited buffer; messages that do not
//! fit are dropped and counted.

use std::collections::VecDeque;

use lanlab_sim::{Key, Mac, Node};
use lanlab_units::Instant;

pub const RECEIVED: Key = 0;
pub const ROOM: Key = 1;
pub const MOST_BYTES: usize = 1498;

/// Local Experimental `EtherType` 1 (IEEE 802, 9.2.3).
const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];
const HEADER_BYTES: usize = 14;
const LENGTH_BYTES: usize = 2;

#[derive(Debug)]
pub struct Datagrams {
    mac: Mac,
    received: Buffer,
    sending: Buffer,
    has_come: bool,
    has_room: bool,
    drops: u64,
    unknown: u64,
}

#[derive(Debug)]
struct Buffer {
    messages: VecDeque<(Mac, Vec<u8>)>,
    unused: Vec<Vec<u8>>,
    bytes: usize,
    most_bytes: usize,
}

impl Buffer {
    fn new(most_bytes: usize) -> Self {
        Self { messages: VecDeque::new(), unused: Vec::new(), bytes: 0, most_bytes }
    }

    fn push(&mut self, mac: Mac, message: &[u8]) -> bool {
        if self.bytes + message.len() > self.most_bytes {
            return false;
        }
        self.bytes += message.len();
        let mut kept = self.unused.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(message);
        self.messages.push_back((mac, kept));
        true
    }

    fn pop<R>(&mut self, take: impl FnOnce(Mac, &[u8]) -> R) -> Option<R> {
        let (mac, message) = self.messages.pop_front()?;
        self.bytes -= message.len();
        let result = take(mac, &message);
        self.unused.push(message);
        Some(result)
    }
}

impl Datagrams {
    pub fn new(mac: Mac, receive_buffer_bytes: usize, send_buffer_bytes: usize) -> Self {
        Self {
            mac,
            received: Buffer::new(receive_buffer_bytes),
            sending: Buffer::new(send_buffer_bytes),
            has_come: false,
            has_room: false,
            drops: 0,
            unknown: 0,
        }
    }

    /// Send a message of at most [`MOST_BYTES`]. `false` if the send buffer is full; [`ROOM`]
    /// signals room.
    ///
    /// # Panics
    /// If the message is longer.
    pub fn send(&mut self, to: Mac, message: &[u8]) -> bool {
        assert!(message.len() <= MOST_BYTES, "a message of {} bytes", message.len());
        self.sending.push(to, message)
    }

    pub fn next_bytes(&self) -> Option<usize> {
        self.received.messages.front().map(|(_, message)| message.len())
    }

    pub fn receive<R>(&mut self, take: impl FnOnce(Mac, &[u8]) -> R) -> Option<R> {
        self.received.pop(take)
    }

    pub fn drops(&self) -> u64 {
        self.drops
    }

    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    pub fn waiting(&self) -> usize {
        self.received.messages.len()
    }
}

fn parse(frame: &[u8]) -> Option<(Mac, &[u8])> {
    let (header, rest) = frame.split_at_checked(HEADER_BYTES)?;
    let from = *header.get(6..12)?.first_chunk::<6>()?;
    let (length, rest) = rest.split_first_chunk::<LENGTH_BYTES>()?;
    let message = rest.get(..usize::from(u16::from_be_bytes(*length)))?;
    header.ends_with(&ETHER_TYPE).then_some((from, message))
}

impl Node for Datagrams {
    fn handle_frame(&mut self, _now: Instant, frame: &[u8]) {
        let Some((from, message)) = parse(frame) else {
            self.unknown += 1;
            return;
        };
        if self.received.push(from, message) {
            self.has_come = true;
        } else {
            self.drops += 1;
        }
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&mut self) -> Option<Instant> {
        None
    }

    fn poll_transmit(&mut self, _now: Instant, into: &mut Vec<u8>) -> bool {
        let mac = self.mac;
        let sent = self.sending.pop(|to, message| {
            into.extend_from_slice(&to);
            into.extend_from_slice(&mac);
            into.extend_from_slice(&ETHER_TYPE);
            into.extend_from_slice(&(message.len() as u16).to_be_bytes());
            into.extend_from_slice(message);
        });
        self.has_room |= sent.is_some();
        sent.is_some()
    }

    fn poll_event(&mut self) -> Option<Key> {
        if std::mem::take(&mut self.has_come) {
            return Some(RECEIVED);
        }
        std::mem::take(&mut self.has_room).then_some(ROOM)
    }
}
