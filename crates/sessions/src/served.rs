//! Runs a session of a file server: moves messages through a port, executes file calls, and checks
//! logins.

use std::future::{Future, pending, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;

use lanlab_stack::file_server::{Remark, Session};
use lanlab_stack::files::FileCall;
use lanlab_units::Clock;

use crate::MessagePort;

/// Size of a message buffer without the data of a read, bytes.
const KEPT_BYTES: usize = 80 << 10;

/// Executes file calls.
pub trait FileAnswers {
    /// Execute a call, and the calls that the session then requests. Data read is returned in
    /// `data`, which also contains data to write.
    fn carry_out(
        &mut self,
        first: FileCall,
        session: &mut Session,
        data: &mut Vec<u8>,
    ) -> impl Future<Output = ()>;
}

pub trait Logins {
    /// Longest message of a client that has logged in, bytes.
    fn longest_message(&self) -> usize;

    /// A message has arrived.
    fn heard(&mut self) {}

    fn succeeded(&mut self);

    /// The `count`th login failed. The client is informed after this returns.
    fn failed(&mut self, count: u32) -> impl Future<Output = io::Result<()>>;

    /// Report what happened to the client, for the operator.
    fn remarked(&mut self, _remark: Remark) {}
}

/// Serve a client until it leaves or is disconnected. Files that it left open are then closed.
pub async fn serve(
    session: &mut Session,
    port: &mut impl MessagePort,
    files: &mut impl FileAnswers,
    logins: &mut impl Logins,
    clock: &impl Clock,
) -> io::Result<()> {
    let mut served = Served { session, port, files, logins, clock, is_known: false, failed: 0 };
    let ended = served.run().await;
    // Files that the client left open are closed, and removed if it requested that.
    served.session.end();
    served.carry_out_calls(&mut Vec::new()).await;
    ended
}

struct Served<'a, P, F, L, K> {
    session: &'a mut Session,
    port: &'a mut P,
    files: &'a mut F,
    logins: &'a mut L,
    clock: &'a K,
    is_known: bool,
    failed: u32,
}

impl<P: MessagePort, F: FileAnswers, L: Logins, K: Clock> Served<'_, P, F, L, K> {
    async fn run(&mut self) -> io::Result<()> {
        let (mut message, mut head, mut data) = (Vec::new(), Vec::new(), Vec::new());
        while !self.session.is_over() {
            let is_received = self.wait(&mut message).await?;
            self.session.handle_timeout(self.clock.now());
            if is_received {
                self.logins.heard();
                self.session.handle_message(&mut message);
            }
            let has_data = self.answer(&mut head, &mut data).await?;
            if is_received {
                message = self.session.memory();
                if self.port.keeps_copy() || has_data && message.capacity() > KEPT_BYTES {
                    message = Vec::new();
                }
            }
        }
        Ok(())
    }

    /// Wait for a message; `false` if the session has something to send first. `message` keeps the
    /// received part of an incomplete message.
    async fn wait(&mut self, message: &mut Vec<u8>) -> io::Result<bool> {
        let (timeout, clock) = (self.session.poll_timeout(), self.clock);
        let mut timer = pin!(async {
            match timeout {
                Some(at) => clock.wait_until(at, || false).await,
                None => pending().await,
            }
        });
        poll_fn(|cx| {
            if let Poll::Ready(received) = self.port.poll_receive(cx, message) {
                return Poll::Ready(received.map(|()| true));
            }
            if self.session.poll_woken(cx).is_ready() || timer.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(false));
            }
            Poll::Pending
        })
        .await
    }

    async fn carry_out_calls(&mut self, data: &mut Vec<u8>) {
        if let Some(first) = self.session.poll_file_call(data) {
            self.files.carry_out(first, self.session, data).await;
        }
    }

    /// Execute the session's requests and send its messages. Returns whether it sent data.
    async fn answer(&mut self, head: &mut Vec<u8>, data: &mut Vec<u8>) -> io::Result<bool> {
        let mut has_data = false;
        loop {
            self.carry_out_calls(data).await;
            if !self.session.poll_message(head, data) {
                return Ok(has_data);
            }
            self.judge_login().await?;
            poll_fn(|cx| self.port.poll_send(cx, [&*head, &*data])).await?;
            has_data |= !data.is_empty();
            if self.port.keeps_copy() {
                // Replaced at once: otherwise the session would allocate a buffer of its own.
                *data = Vec::new();
            }
        }
    }

    async fn judge_login(&mut self) -> io::Result<()> {
        while let Some(remark) = self.session.poll_remark() {
            self.logins.remarked(remark);
        }
        if !self.is_known && self.session.is_known() {
            self.is_known = true;
            self.port.set_longest(self.logins.longest_message());
            self.logins.succeeded();
        }
        let failed = self.session.failed_logins();
        if failed > self.failed {
            self.failed = failed;
            self.logins.failed(failed).await?;
        }
        Ok(())
    }
}
