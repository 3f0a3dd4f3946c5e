//! Admission of connections before login: they share one memory budget, and each has a time limit. When the budget
//! is used up, a new connection waits until the oldest unproven ones are dropped, so that strangers cannot keep
//! clients out for long.
//!
//! A waiting connection costs a descriptor and little memory. One that has sent something is served
//! before any number of silent ones.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::Bounds;
use crate::visits::{Visitor, Visits};

mod budget;

pub use budget::{MemoryBudget, Reservation, UNIT_BYTES, Whose};

/// Interval at which a waiting connection checks for expired ones.
pub const TICK: Duration = Duration::from_millis(10);

/// Time for which any number of others leave a connection its place in the queue.
const QUEUED: Duration = Duration::from_millis(100);

/// Silence of a peer before TCP keep-alive probes.
const KEEPALIVE: Duration = Duration::from_mins(5);

#[derive(Debug, Clone)]
pub struct Proof(Arc<Unproved>);

#[derive(Debug)]
struct Unproved {
    /// `None` once the client has proved itself.
    hold: Mutex<Option<Reservation>>,
    given: Notify,
    visitor: Visitor,
}

impl Proof {
    /// The proof of a connection that holds this reservation and has not proved itself yet.
    pub fn new(hold: Reservation, visitor: Visitor) -> Self {
        Self(Arc::new(Unproved { hold: Mutex::new(Some(hold)), given: Notify::new(), visitor }))
    }

    /// The client has logged in or, on a service without logins, made a valid request.
    /// Returns whether this is the first time.
    pub fn give(&self) -> bool {
        let is_first = self.0.hold.lock().take().is_some();
        if is_first {
            self.0.given.notify_one();
        }
        is_first
    }

    /// Mark the client as logged in, and log that, as [`Visitor::admitted`] does.
    pub fn admit(&self, user: Option<&str>, speaks: Option<&str>) {
        if self.give() {
            self.0.visitor.admitted(user, speaks);
        }
    }

    /// The client went on with a request.
    pub fn went_on(&self) {
        if let Some(hold) = &*self.0.hold.lock() {
            hold.went_on();
        }
    }

    pub fn visitor(&self) -> &Visitor {
        &self.0.visitor
    }

    pub fn is_given(&self) -> bool {
        self.0.hold.lock().is_none()
    }

    /// Serve the connection until it ends, or its client fails to prove itself in time.
    pub async fn demanded(&self, patience: Duration, serving: impl Future<Output = ()>) {
        self.demanded_with(patience, std::future::ready(()), serving).await;
    }

    /// As [`Self::demanded`]. A client that proves itself first waits for what it then keeps.
    pub async fn demanded_with<K>(
        &self,
        patience: Duration,
        keeping: impl Future<Output = K>,
        serving: impl Future<Output = ()>,
    ) {
        tokio::pin!(serving);
        tokio::select! {
            biased;
            () = &mut serving => return,
            missing = self.is_missing(patience) => if missing { return },
        }
        let _kept = keeping.await;
        serving.await;
    }

    /// Wait until the time is over or others need the place; `false` if the client proves itself.
    async fn is_missing(&self, patience: Duration) -> bool {
        let Some(ended) = self.0.hold.lock().as_ref().map(Reservation::end) else { return false };
        tokio::select! {
            biased;
            () = self.0.given.notified() => false,
            () = ended => true,
            () = tokio::time::sleep(patience) => true,
        }
    }
}

#[derive(Debug)]
pub struct Admission {
    budget: Arc<MemoryBudget>,
    waiting: Arc<MemoryBudget>,
    each_bytes: usize,
    patience: Duration,
    visits: Arc<Visits>,
    /// Greeting sent to each client at once, which prompts it to reply.
    greeting: &'static [u8],
}

impl Admission {
    pub fn new(bounds: &Bounds, each_bytes: usize, visits: &Arc<Visits>) -> Self {
        let most_waiting = lanlab_os::most_waiting_connections();
        Self {
            budget: MemoryBudget::crowded(bounds.strangers_bytes, bounds),
            waiting: MemoryBudget::new(most_waiting * UNIT_BYTES, QUEUED),
            each_bytes,
            patience: bounds.login,
            visits: Arc::clone(visits),
            greeting: &[],
        }
    }

    pub fn greeting(self, greeting: &'static [u8]) -> Self {
        Self { greeting, ..self }
    }

    /// Accept connections, each with `TCP_NODELAY`, and run `serve` on each until it ends or its
    /// client fails to prove itself in time. All of them end with the calling task.
    pub async fn serve<F>(
        self,
        listener: TcpListener,
        serve: impl Fn(TcpStream, SocketAddr, Proof) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut connections = JoinSet::new();
        let serve = Arc::new(serve);
        loop {
            let Ok((stream, peer)) = listener.accept().await else {
                // Descriptors ran out, perhaps because of strangers, or the connection is already gone.
                self.budget.end_idle(self.each_bytes);
                self.waiting.end_idle(UNIT_BYTES);
                tokio::time::sleep(TICK).await;
                continue;
            };
            let whose = Whose::from(peer.ip());
            // Further connections wait in the system's queue.
            let Some(standing) = self.waiting.hold(UNIT_BYTES, whose).await else { return };
            while connections.try_join_next().is_some() {}
            let visitor = self.visits.arrive(peer.ip().to_canonical().to_string());
            let keepalive = TcpKeepalive::new().with_time(KEEPALIVE);
            // Optional: not every system supports it.
            let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
            // The send buffer of a new connection has room for the greeting.
            let is_greeted = self.greeting.is_empty() || {
                let sent = SockRef::from(&stream).send(self.greeting);
                sent.is_ok_and(|sent| sent == self.greeting.len())
            };
            if !is_greeted || stream.set_nodelay(true).is_err() {
                continue;
            }
            let (budget, each_bytes) = (Arc::clone(&self.budget), self.each_bytes);
            let (serve, patience) = (Arc::clone(&serve), self.patience);
            connections.spawn(async move {
                let hold = tokio::select! {
                    biased;
                    hold = room(&budget, (each_bytes, whose), &stream) => hold,
                    () = standing.ended() => return,
                    () = tokio::time::sleep(patience) => return,
                };
                let Some(hold) = hold else { return };
                drop(standing);
                hold.watch(&stream);
                let proof = Proof::new(hold, visitor);
                // Boxed here, so that waiting connections do not hold its memory.
                let serving = Box::pin(serve(stream, peer, proof.clone()));
                proof.demanded(patience, serving).await;
            });
        }
    }
}

/// Wait for room for a connection. Connections that have sent something go first.
async fn room(
    budget: &Arc<MemoryBudget>,
    (each_bytes, whose): (usize, Whose),
    stream: &TcpStream,
) -> Option<Reservation> {
    if let Some(hold) = budget.try_hold(each_bytes, whose) {
        return Some(hold);
    }
    let mut first = [0];
    tokio::select! {
        biased;
        // The end of the stream counts as well, because it costs nothing to serve.
        _ = stream.peek(&mut first) => budget.hold(each_bytes, whose).await,
        hold = budget.hold_last(each_bytes, whose) => Some(hold),
    }
}

#[cfg(test)]
mod tests;
