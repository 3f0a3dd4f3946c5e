//! The channel between a session and its driver: messages, file calls and their results.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use lanlab_units::Instant;

use crate::files::{FileAnswer, FileCall};

use super::Remark;

/// Before a message longer than this, the buffers of the last reply are freed.
const LONG: usize = 66 << 10;

/// Maximum remarks queued; the driver collects them after each message.
const MOST_REMARKS: usize = 4;

#[derive(Debug, Clone, Default)]
pub struct SessionChannel(Arc<Mutex<Slots>>);

#[derive(Debug, Default)]
struct Slots {
    message: Option<Vec<u8>>,
    used: Vec<u8>,
    reply: Option<(Vec<u8>, Vec<u8>)>,
    sent: (Vec<u8>, Vec<u8>),
    call: Option<(FileCall, Vec<u8>)>,
    answer: Option<(FileAnswer, Vec<u8>)>,
    is_known: bool,
    failed_logins: u32,
    remarks: VecDeque<Remark>,
    is_ended: bool,
    now: Option<Instant>,
    timeout: Option<Instant>,
    is_woken: bool,
    waker: Option<Waker>,
}

impl SessionChannel {
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn give_message(&self, message: &mut Vec<u8>) {
        let mut slots = self.slots();
        if message.len() > LONG {
            slots.sent = Default::default();
        }
        slots.message = Some(take(message));
    }

    pub fn take_used(&self) -> Vec<u8> {
        take(&mut self.slots().used)
    }

    pub fn take_call(&self, data: &mut Vec<u8>) -> Option<FileCall> {
        let (call, given) = self.slots().call.take()?;
        *data = given;
        Some(call)
    }

    pub fn give_answer(&self, answer: FileAnswer, data: &mut Vec<u8>) {
        self.slots().answer = Some((answer, take(data)));
    }

    pub fn take_reply(&self, head: &mut Vec<u8>, data: &mut Vec<u8>) -> bool {
        let mut slots = self.slots();
        if head.capacity() > 0 {
            slots.sent = (take(head), take(data));
        }
        let Some(reply) = slots.reply.take() else { return false };
        (*head, *data) = reply;
        true
    }

    pub fn end(&self) {
        self.slots().is_ended = true;
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

    pub fn take_remark(&self) -> Option<Remark> {
        self.slots().remarks.pop_front()
    }

    pub fn failed_logins(&self) -> u32 {
        self.slots().failed_logins
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

    pub fn set_now(&self, now: Instant) {
        self.slots().now = Some(now);
    }

    pub fn timeout(&self) -> Option<Instant> {
        self.slots().timeout
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

    pub fn poll_woken(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut slots = self.slots();
        if take(&mut slots.is_woken) {
            return Poll::Ready(());
        }
        slots.waker = Some(cx.waker().clone());
        Poll::Pending
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
