//! What a receiver of datagrams says to its sender, and that it goes on saying that it is there.
//!
//! A sender that hears nothing pauses, so that a receiver that is gone is not sent to. The word
//! therefore comes from a thread that does nothing else: a receiver that is slow is not gone.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lanlab_os as os;
use lanlab_os::DatagramSocket;
use lanlab_units::Instant;
use lanlab_wire::session::{Kind, Message, Token};

use crate::background::with_background;

/// A receiver's side of one flow's session.
pub struct Word {
    pub socket: Arc<DatagramSocket>,
    token: Token,
    flow: u16,
    received_messages: AtomicU64,
    is_over: AtomicBool,
}

impl Word {
    /// `socket` is connected to the peer that has proved itself.
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
        // Whatever is lost is said again when it is asked for again. Never in the system's call:
        // a sender that is not heard any more must not keep its receiver.
        let _ = self.socket.send_one(&message.emit(), false);
    }

    /// So many messages have come.
    pub fn received(&self, messages: u64) {
        self.received_messages.store(messages, Ordering::Relaxed);
    }

    /// The flow has ended: no more of it.
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

/// Say that every flow is alive from `start` on, once in `interval_ns`, for as long as `work` takes.
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
