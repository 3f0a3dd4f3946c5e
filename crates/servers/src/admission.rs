//! Admission of connections that have not proved themselves: memory for all of them within one
//! budget, and a time for each. A connection that comes when the budget is used up waits until those
//! that have been there for a while are ended: many strangers cannot keep clients out for long.
//!
//! Who waits takes a descriptor and little memory. One that has said something goes before all that
//! say nothing, however many these are.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::Bounds;
use crate::visits::{Visitor, Visits};

mod budget;

use budget::LEAST_GRACE;
pub use budget::{MemoryBudget, Reservation, UNIT_BYTES, Whose, locked};

/// Time between two checks of a waiting connection for one whose time is over.
pub const TICK: Duration = Duration::from_millis(20);

/// Silence of a peer after which the system asks whether it is there (TCP keep-alive).
const KEEPALIVE: Duration = Duration::from_mins(5);

#[derive(Debug, Clone)]
pub struct Proof(Arc<Unproved>);

#[derive(Debug)]
struct Unproved {
    /// What it takes; none once it is proved.
    hold: Mutex<Option<Reservation>>,
    given: Notify,
    visitor: Visitor,
}

impl Proof {
    /// None yet, of a connection that takes this.
    pub fn new(hold: Reservation, visitor: Visitor) -> Self {
        Self(Arc::new(Unproved { hold: Mutex::new(Some(hold)), given: Notify::new(), visitor }))
    }

    /// It has: it has logged in, or done what only a client does on a service without logins.
    /// Whether it is for the first time.
    pub fn give(&self) -> bool {
        let is_first = locked(&self.0.hold).take().is_some();
        if is_first {
            self.0.given.notify_one();
        }
        is_first
    }

    /// The same, and have it said: as of [`Visitor::admitted`].
    pub fn admit(&self, user: Option<&str>, speaks: Option<&str>) {
        if self.give() {
            self.0.visitor.admitted(user, speaks);
        }
    }

    pub fn visitor(&self) -> &Visitor {
        &self.0.visitor
    }

    pub fn is_given(&self) -> bool {
        locked(&self.0.hold).is_none()
    }

    /// Do what the connection is for, until that is over, or it has not proved itself in time.
    pub async fn demanded(&self, patience: Duration, serving: impl Future<Output = ()>) {
        tokio::pin!(serving);
        tokio::select! {
            biased;
            () = &mut serving => return,
            missing = self.is_missing(patience) => if missing { return },
        }
        serving.await;
    }

    /// Whether it was given up, for its time was over or others wait; `false` once it is proved.
    async fn is_missing(&self, patience: Duration) -> bool {
        let Some(ended) = locked(&self.0.hold).as_ref().map(Reservation::end) else { return false };
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
    /// What one of them takes at most.
    each_bytes: usize,
    patience: Duration,
    visits: Arc<Visits>,
    /// What is said to each at once, so that it has something to say.
    greeting: &'static [u8],
}

impl Admission {
    pub fn new(bounds: &Bounds, each_bytes: usize, visits: &Arc<Visits>) -> Self {
        let (bytes, crowded) = (bounds.strangers_bytes, bounds.crowded);
        let most_waiting = lanlab_os::most_waiting_connections();
        Self {
            budget: MemoryBudget::crowded(bytes, bounds),
            waiting: MemoryBudget::new(most_waiting * UNIT_BYTES, crowded / LEAST_GRACE),
            each_bytes,
            patience: bounds.login,
            visits: Arc::clone(visits),
            greeting: &[],
        }
    }

    pub fn greeting(self, greeting: &'static [u8]) -> Self {
        Self { greeting, ..self }
    }

    /// Accept one connection after another, each with `TCP_NODELAY`, and do with it what `serve` says
    /// until it is over, or has not proved itself in time. All end with the task that this runs in.
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
                // Too few descriptors, which strangers may have, or a connection that is gone already.
                self.budget.end_idle(self.each_bytes);
                self.waiting.end_idle(UNIT_BYTES);
                tokio::time::sleep(TICK).await;
                continue;
            };
            let whose = Whose::from(peer.ip());
            // Beyond these, connections wait in the system's queue.
            let Some(standing) = self.waiting.hold(UNIT_BYTES, whose).await else { return };
            while connections.try_join_next().is_some() {}
            let visitor = self.visits.arrive(peer.ip().to_canonical().to_string());
            let keepalive = TcpKeepalive::new().with_time(KEEPALIVE);
            // A system without it does without.
            let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
            // A new connection has room for it.
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
                let proof = Proof::new(hold, visitor);
                // Who waits has no need of the memory that this takes.
                let serving = Box::pin(serve(stream, peer, proof.clone()));
                proof.demanded(patience, serving).await;
            });
        }
    }
}

/// Room for a connection: after those who have said something, unless it has, too.
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
        // An end is something, too: it costs nothing to serve.
        _ = stream.peek(&mut first) => budget.hold(each_bytes, whose).await,
        hold = budget.hold_last(each_bytes, whose) => Some(hold),
    }
}

#[cfg(test)]
mod tests;
