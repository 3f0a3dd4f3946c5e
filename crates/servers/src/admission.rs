//! Admission of connections that have not proved themselves: memory for all of them within one
//! budget, and a time for each. A connection that comes when the budget is used up waits until those
//! that have been there for a while are ended: many strangers cannot keep clients out for long.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

/// How often whoever waits looks for somebody whose time is over.
const TICK: Duration = Duration::from_millis(20);

/// A peer of which nothing was heard for so long is asked by the system whether it is there.
const KEEPALIVE: Duration = Duration::from_mins(5);

/// Octets of memory that are counted together.
const UNIT_BYTES: usize = 1 << 10;

/// Memory that many share.
#[derive(Debug)]
pub struct MemoryBudget {
    free: Arc<Semaphore>,
    holders: Mutex<HashMap<u64, Arc<Holder>>>,
    numbers: AtomicU64,
    /// While others wait, who has not moved for so long is ended.
    grace: Duration,
}

#[derive(Debug)]
struct Holder {
    moved: Mutex<Instant>,
    ended: Notify,
}

/// A part of a [`MemoryBudget`], which is given back when this is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<MemoryBudget>,
    number: u64,
    holder: Arc<Holder>,
    _permit: OwnedSemaphorePermit,
}

impl MemoryBudget {
    /// So much memory.
    pub fn new(bytes: usize, grace: Duration) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(bytes / UNIT_BYTES)),
            holders: Mutex::default(),
            numbers: AtomicU64::new(0),
            grace,
        })
    }

    /// Take so much of it, as soon as there is so much.
    pub async fn hold(self: &Arc<Self>, bytes: usize) -> Option<Reservation> {
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).ok()?;
        let permit = match Arc::clone(&self.free).try_acquire_many_owned(units) {
            Ok(permit) => permit,
            Err(_) => self.wait(units).await?,
        };
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let holder = Arc::new(Holder { moved: Mutex::new(Instant::now()), ended: Notify::new() });
        locked(&self.holders).insert(number, Arc::clone(&holder));
        Some(Reservation { budget: Arc::clone(self), number, holder, _permit: permit })
    }

    async fn wait(&self, units: u32) -> Option<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.free).acquire_many_owned(units);
        tokio::pin!(permit);
        loop {
            tokio::select! {
                biased;
                permit = &mut permit => return permit.ok(),
                () = tokio::time::sleep(TICK) => self.end_idle(),
            }
        }
    }

    fn end_idle(&self) {
        for holder in locked(&self.holders).values() {
            if locked(&holder.moved).elapsed() >= self.grace {
                holder.ended.notify_one();
            }
        }
    }
}

impl Reservation {
    /// Say that it is used: the time until others may have it begins anew.
    pub fn moved(&self) {
        *locked(&self.holder.moved) = Instant::now();
    }

    /// Until others shall have it.
    pub async fn ended(&self) {
        self.holder.ended.notified().await;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        locked(&self.budget.holders).remove(&self.number);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a connection has until it has proved itself.
#[derive(Debug, Clone)]
pub struct Proof(Arc<Unproved>);

#[derive(Debug)]
struct Unproved {
    hold: Mutex<Option<Reservation>>,
    given: Notify,
}

impl Proof {
    fn new(hold: Reservation) -> Self {
        Self(Arc::new(Unproved { hold: Mutex::new(Some(hold)), given: Notify::new() }))
    }

    /// It has: it has logged in, or done what only a client does where nobody logs in.
    pub fn give(&self) {
        if locked(&self.0.hold).take().is_some() {
            self.0.given.notify_one();
        }
    }

    /// Whether it was given up, for its time was over or others wait; `false` once it is proved.
    async fn is_missing(&self, patience: Duration) -> bool {
        let Some(holder) = locked(&self.0.hold).as_ref().map(|hold| Arc::clone(&hold.holder))
        else {
            return false;
        };
        tokio::select! {
            biased;
            () = self.0.given.notified() => false,
            () = holder.ended.notified() => true,
            () = tokio::time::sleep(patience) => true,
        }
    }
}

/// Where connections come in.
#[derive(Debug)]
pub struct Admission {
    /// What all that have not proved themselves may take.
    pub budget: Arc<MemoryBudget>,
    /// What one of them takes at most.
    pub each_bytes: usize,
    /// How long it has.
    pub patience: Duration,
    /// Counts all that come.
    pub accepted: Arc<AtomicU64>,
}

impl Admission {
    /// Accept one connection after another, each with `TCP_NODELAY`, and do with it what `serve` says
    /// until it is over, or has not proved itself in time. All end with the task that this runs in.
    pub async fn serve<F>(
        self,
        listener: TcpListener,
        mut serve: impl FnMut(TcpStream, SocketAddr, Proof) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut connections = JoinSet::new();
        // Those that wait here cost the system a little, and us nothing.
        while let Some(hold) = self.budget.hold(self.each_bytes).await {
            let (stream, peer) = loop {
                if let Ok(come) = listener.accept().await {
                    break come;
                }
                // Too few descriptors, which strangers may have, or a connection that is gone already.
                hold.moved();
                self.budget.end_idle();
                tokio::time::sleep(TICK).await;
            };
            while connections.try_join_next().is_some() {}
            self.accepted.fetch_add(1, Ordering::Relaxed);
            let keepalive = TcpKeepalive::new().with_time(KEEPALIVE);
            // A system without it does without.
            let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
            if stream.set_nodelay(true).is_err() {
                continue;
            }
            hold.moved();
            let (proof, patience) = (Proof::new(hold), self.patience);
            let serving = serve(stream, peer, proof.clone());
            connections.spawn(async move {
                tokio::pin!(serving);
                tokio::select! {
                    biased;
                    () = &mut serving => return,
                    missing = proof.is_missing(patience) => if missing { return },
                }
                serving.await;
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within<T>(test: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let test = async { tokio::time::timeout(Duration::from_secs(20), test).await };
        runtime.block_on(test).expect("it waits for ever")
    }

    #[test]
    fn who_waits_has_the_memory_of_who_has_not_moved_for_a_while() {
        within(async {
            let budget = MemoryBudget::new(10 << 10, Duration::from_millis(100));
            let (idle, busy) =
                (budget.hold(6 << 10).await.unwrap(), budget.hold(4 << 10).await.unwrap());
            let moving = async {
                loop {
                    // Just before who waits looks for the idle, so that it is never late.
                    busy.moved();
                    tokio::task::yield_now().await;
                }
            };
            let leaving = async {
                idle.ended().await;
                drop(idle);
                std::future::pending::<()>().await;
            };
            let start = Instant::now();
            tokio::select! {
                biased;
                () = moving => {},
                third = budget.hold(5 << 10) => drop(third.unwrap()),
                () = leaving => {},
                () = busy.ended() => panic!("it moved all the time"),
            }
            assert!(start.elapsed() >= Duration::from_millis(80), "{:?}", start.elapsed());
            // With nobody waiting nobody is ended.
            let idle = budget.hold(6 << 10).await.unwrap();
            tokio::time::timeout(Duration::from_millis(200), idle.ended()).await.unwrap_err();
        });
    }

    /// Admission for two at once, whose connections prove themselves by an octet.
    async fn admission(patience: Duration, grace: Duration) -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let budget = MemoryBudget::new(2 << 10, grace);
        let admission =
            Admission { budget, each_bytes: 1 << 10, patience, accepted: Arc::default() };
        tokio::spawn(admission.serve(listener, |mut stream, _, proof| async move {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let mut octet = [0; 1];
            while stream.read_exact(&mut octet).await.is_ok() {
                proof.give();
                stream.write_all(&octet).await.unwrap();
            }
        }));
        address
    }

    async fn proves(stream: &mut TcpStream) -> bool {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        stream.write_all(b"x").await.is_ok() && stream.read_exact(&mut [0; 1]).await.is_ok()
    }

    #[test]
    fn who_does_not_prove_himself_in_time_is_gone_and_others_stay() {
        within(async {
            let address = admission(Duration::from_millis(200), Duration::from_mins(1)).await;
            let mut known = TcpStream::connect(address).await.unwrap();
            while !proves(&mut known).await {
                // On a busy machine its time may be over before its turn comes.
                known = TcpStream::connect(address).await.unwrap();
            }
            let start = Instant::now();
            let mut stranger = TcpStream::connect(address).await.unwrap();
            assert!(!matches!(
                tokio::io::AsyncReadExt::read(&mut stranger, &mut [0; 1]).await,
                Ok(1..)
            ));
            assert!(start.elapsed() >= Duration::from_millis(200));
            assert!(proves(&mut known).await, "what is proved stays so");
        });
    }

    #[test]
    fn a_crowd_of_strangers_keeps_nobody_out_for_long() {
        within(async {
            let address = admission(Duration::from_mins(1), Duration::from_millis(50)).await;
            let mut known = TcpStream::connect(address).await.unwrap();
            assert!(proves(&mut known).await);
            let mut crowd = Vec::new();
            for _ in 0..20 {
                crowd.push(TcpStream::connect(address).await.unwrap());
            }
            let mut late = TcpStream::connect(address).await.unwrap();
            assert!(proves(&mut late).await);
            assert!(proves(&mut known).await);
        });
    }
}
