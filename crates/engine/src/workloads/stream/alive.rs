//! Messages of a datagram receiver to its sender, and its keep-alives.
//!
//! A sender pauses when its receiver is silent. Keep-alives come from a separate thread, so that a slow receiver
//! does not appear to be gone.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lanlab_os::{self as os, DatagramSocket};
use lanlab_units::Instant;
use lanlab_wire::session::{Kind, Message, Token};

use crate::background::with_background;

pub struct Word {
    pub socket: Arc<DatagramSocket>,
    token: Token,
    flow: u16,
    received_messages: AtomicU64,
    is_over: AtomicBool,
}

impl Word {
    pub fn new(socket: &Arc<DatagramSocket>, token: Token, flow: u16) -> Self {
        Self {
            socket: Arc::clone(socket),
            token,
            flow,
            received_messages: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    pub fn say(&self, kind: Kind) {
        let message = Message { token: self.token, flow: self.flow, kind };
        // A lost message is resent when the peer asks again. The call never blocks: a silent sender must not delay
        // its receiver.
        let _ = self.socket.send_one(&message.emit(), false);
    }

    pub fn received(&self, messages: u64) {
        self.received_messages.store(messages, Ordering::Relaxed);
    }

    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn say_alive(&self) {
        if !self.is_over.load(Ordering::Relaxed) {
            let received_messages = self.received_messages.load(Ordering::Relaxed);
            self.say(Kind::Alive { received_messages });
        }
    }
}

/// Send keep-alives for every flow from `start` on, once per `interval_ns`, while `work` runs.
pub fn say_alive_during<T>(
    words: &[Arc<Word>],
    interval_ns: u64,
    start: Instant,
    work: impl FnOnce() -> T,
) -> T {
    let (result, said) = with_background(
        |work| {
            let mut next = start;
            while !work.is_over() {
                let now = os::monotonic();
                if now >= next {
                    for word in words {
                        word.say_alive();
                    }
                    next = now.plus_nanos(interval_ns);
                }
                work.rest(next.nanos_since(now));
            }
        },
        work,
    );
    said.unwrap_or_else(|panic| resume_unwind(panic));
    result
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::Duration;

    use super::super::tests::datagram_pair;
    use super::*;

    const TOKEN: Token = Token([7; 16]);

    /// A receiver's keep-alive message and its sender, which waits at most 10 s for one.
    fn word(flow: u16) -> (Arc<Word>, UdpSocket) {
        let (socket, sender) = datagram_pair();
        (Arc::new(Word::new(&Arc::new(socket), TOKEN, flow)), sender)
    }

    fn heard(sender: &UdpSocket) -> Message {
        let mut buffer = [0; 100];
        let length = sender.recv(&mut buffer).unwrap();
        Message::parse(&buffer[..length]).unwrap()
    }

    #[test]
    fn a_flow_reports_received_bytes_until_it_ends() {
        let (word, sender) = word(3);
        word.received(41);
        word.say_alive();
        word.end();
        word.say_alive();
        word.say(Kind::Marked { first_measured: 5 });
        let of = |kind| Message { token: TOKEN, flow: 3, kind };
        assert_eq!(heard(&sender), of(Kind::Alive { received_messages: 41 }));
        assert_eq!(heard(&sender), of(Kind::Marked { first_measured: 5 }));
    }

    #[test]
    fn every_flow_is_reported_alive_repeatedly() {
        let ((one, sender), (two, other)) = (word(0), word(1));
        let work = || (0..3).map(|_| [heard(&sender).flow, heard(&other).flow]).collect::<Vec<_>>();
        let start = os::monotonic();
        let flows = say_alive_during(&[one, two], 1_000_000, start, work);
        assert_eq!(flows, [[0, 1]; 3]);
        assert!(os::monotonic().nanos_since(start) >= 2_000_000, "once in a millisecond");
    }

    #[test]
    fn nothing_is_reported_before_the_start() {
        let (word, sender) = word(0);
        sender.set_nonblocking(true).unwrap();
        let start = os::monotonic().plus_nanos(3_600_000_000_000);
        let is_silent = say_alive_during(&[word], 1_000_000, start, || {
            std::thread::sleep(Duration::from_millis(20));
            sender.recv(&mut [0; 100]).is_err()
        });
        assert!(is_silent);
    }
}
