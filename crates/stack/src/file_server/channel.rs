//! The channel between a session and its driver: messages, file calls and their results.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use lanlab_units::Instant;

use crate::files::{FileAnswer, FileCall};

use super::Remark;

/// Maximum remarks queued; the driver collects them after each message.
const MOST_REMARKS: usize = 4;

#[derive(Debug, Clone, Default)]
pub struct SessionChannel(Arc<Mutex<Slots>>);

#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) message: Option<Vec<u8>>,
    pub(super) used: Vec<u8>,
    pub(super) reply: Option<(Vec<u8>, Vec<u8>)>,
    pub(super) sent: (Vec<u8>, Vec<u8>),
    pub(super) call: Option<(FileCall, Vec<u8>)>,
    pub(super) answer: Option<(FileAnswer, Vec<u8>)>,
    pub(super) is_known: bool,
    pub(super) failed_logins: u32,
    pub(super) remarks: VecDeque<Remark>,
    pub(super) is_ended: bool,
    pub(super) now: Option<Instant>,
    pub(super) timeout: Option<Instant>,
    pub(super) is_woken: bool,
    pub(super) waker: Option<Waker>,
}

impl SessionChannel {
    pub(super) fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_known(&self) -> bool {
        self.slots().is_known
    }

    /// Report an event of the client. Successful and failed logins are counted.
    pub fn remark(&self, remark: Remark) {
        let mut slots = self.slots();
        match &remark {
            Remark::Admitted { .. } | Remark::SharePassword { .. } => slots.is_known = true,
            Remark::WrongPassword { .. } => slots.failed_logins += 1,
            Remark::ReadOnly | Remark::Refused(_) => {}
        }
        if slots.remarks.len() < MOST_REMARKS {
            slots.remarks.push_back(remark);
        }
    }

    pub fn give_used(&self, used: Vec<u8>) {
        self.slots().used = used;
    }

    /// The next message; `None` after the client has disconnected.
    pub fn poll_message(&self) -> Poll<Option<Vec<u8>>> {
        let mut slots = self.slots();
        match slots.message.take() {
            Some(message) => Poll::Ready(Some(message)),
            None if slots.is_ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    pub async fn next_message(&self, used: Vec<u8>) -> Option<Vec<u8>> {
        self.give_used(used);
        poll_fn(|_| self.poll_message()).await
    }

    pub fn now(&self) -> Option<Instant> {
        self.slots().now
    }

    pub fn set_timeout(&self, timeout: Option<Instant>) {
        self.slots().timeout = timeout;
    }

    /// Another session ended a wait of this one: wake the driver to poll it.
    pub fn wake(&self) {
        let mut slots = self.slots();
        slots.is_woken = true;
        let waker = slots.waker.take();
        drop(slots);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub async fn send(&self, head: Vec<u8>, data: Vec<u8>) {
        self.slots().reply = Some((head, data));
        let sent = |slots: &mut Slots| slots.reply.is_none() || slots.is_ended;
        poll_fn(|_| if sent(&mut self.slots()) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    pub fn take_sent(&self) -> (Vec<u8>, Vec<u8>) {
        take(&mut self.slots().sent)
    }

    /// Have the driver execute a file call. `data` is passed along and returned.
    pub async fn call(&self, call: FileCall, data: &mut Vec<u8>) -> FileAnswer {
        self.slots().call = Some((call, take(data)));
        let (answer, given) = poll_fn(|_| match self.slots().answer.take() {
            Some(answered) => Poll::Ready(answered),
            None => Poll::Pending,
        })
        .await;
        *data = given;
        answer
    }
}
