//! Memory shared by connections. A waiting connection gets the share of an idle one.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use lanlab_os::tcp_info;
use lanlab_units::room::{LEAST_GRACE_NS, Standing, crowded_grace_ns, least_useful};
use lanlab_wire::ethernet::Mac;
use parking_lot::Mutex;
use tokio::sync::{Mutex as Turns, Notify, OwnedSemaphorePermit, Semaphore};

use super::TICK;
use crate::Bounds;

pub const UNIT_BYTES: usize = 1 << 10;

/// Origin of a holder: IPv4 address, IPv6 network, or station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Whose(u64);

impl From<IpAddr> for Whose {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => address.to_bits().into(),
            IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
        })
    }
}

impl From<Mac> for Whose {
    fn from(Mac(octets): Mac) -> Self {
        Self(octets.into_iter().fold(0, |all, octet| all << 8 | u64::from(octet)))
    }
}

#[derive(Debug)]
pub struct MemoryBudget {
    free: Arc<Semaphore>,
    units: usize,
    wanted_units: AtomicUsize,
    holders: Mutex<BTreeMap<u64, Arc<Holder>>>,
    numbers: AtomicU64,
    grace: Duration,
    least_grace: Duration,
    looks: Turns<()>,
    last: Turns<()>,
}

#[derive(Debug)]
struct Holder {
    whose: Whose,
    units: usize,
    /// Requests with which it went on, and when.
    moved: Mutex<(u32, Instant)>,
    /// Its TCP connection, whose segments show how often it went on.
    connection: OnceLock<OwnedFd>,
    is_ending: AtomicBool,
    ended: Notify,
}

impl Holder {
    fn standing(&self) -> Standing<Whose> {
        let moved = &mut *self.moved.lock();
        if let Some(Ok(info)) = self.connection.get().map(tcp_info)
            && info.turns() > moved.0
        {
            *moved = (info.turns(), Instant::now());
        }
        let silent_ns = moved.1.elapsed().as_nanos() as u64;
        Standing { address: self.whose, requests: moved.0, silent_ns, is_served: false }
    }
}

/// A part of a [`MemoryBudget`], returned on drop.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<MemoryBudget>,
    number: u64,
    holder: Arc<Holder>,
    _permit: OwnedSemaphorePermit,
}

impl MemoryBudget {
    /// A budget of `bytes`; an idle holder keeps its part for `grace` while others wait.
    pub fn new(bytes: usize, grace: Duration) -> Arc<Self> {
        Self::with_least_grace(bytes, grace, grace)
    }

    /// A budget of `bytes` for strangers: the more memory others wait for, the less time each has.
    pub fn crowded(bytes: usize, bounds: &Bounds) -> Arc<Self> {
        let least = Duration::from_nanos(LEAST_GRACE_NS).min(bounds.crowded);
        Self::with_least_grace(bytes, bounds.crowded, least)
    }

    fn with_least_grace(bytes: usize, grace: Duration, least_grace: Duration) -> Arc<Self> {
        let units = bytes / UNIT_BYTES;
        Arc::new(Self {
            free: Arc::new(Semaphore::new(units)),
            units,
            wanted_units: AtomicUsize::new(0),
            holders: Mutex::default(),
            numbers: AtomicU64::new(0),
            grace,
            least_grace,
            looks: Turns::const_new(()),
            last: Turns::const_new(()),
        })
    }

    /// Reserve `bytes`, as soon as they are free.
    pub async fn hold(self: &Arc<Self>, bytes: usize, whose: Whose) -> Option<Reservation> {
        if let Some(hold) = self.try_hold(bytes, whose) {
            return Some(hold);
        }
        let units = units_of(bytes)?;
        let wanted = Wanted::new(self, units);
        let looking = async {
            let _turn = self.looks.lock().await;
            if self.grace.is_zero() {
                self.end_idle(0);
            }
            loop {
                tokio::time::sleep(TICK).await;
                self.end_idle(0);
            }
        };
        let permit = tokio::select! {
            biased;
            permit = Arc::clone(&self.free).acquire_many_owned(units) => permit.ok()?,
            never = looking => never,
        };
        drop(wanted);
        Some(self.reserve(permit, whose))
    }

    /// Reserve `bytes` for a connection in place of a less useful one, but after those that wait in [`Self::hold`].
    pub async fn hold_last(self: &Arc<Self>, bytes: usize, whose: Whose) -> Reservation {
        let _turn = self.last.lock().await;
        loop {
            // Returned memory goes first to those waiting in `hold`.
            if let Some(hold) = self.try_hold(bytes, whose) {
                return hold;
            }
            tokio::time::sleep(TICK).await;
            self.end_idle(bytes);
        }
    }

    pub fn try_hold(self: &Arc<Self>, bytes: usize, whose: Whose) -> Option<Reservation> {
        let permit = Arc::clone(&self.free).try_acquire_many_owned(units_of(bytes)?).ok()?;
        Some(self.reserve(permit, whose))
    }

    fn reserve(self: &Arc<Self>, permit: OwnedSemaphorePermit, whose: Whose) -> Reservation {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let holder = Arc::new(Holder {
            whose,
            units: permit.num_permits(),
            moved: Mutex::new((0, Instant::now())),
            connection: OnceLock::new(),
            is_ending: AtomicBool::new(false),
            ended: Notify::new(),
        });
        self.holders.lock().insert(number, Arc::clone(&holder));
        Reservation { budget: Arc::clone(self), number, holder, _permit: permit }
    }

    /// End the least useful idle holders, to free the memory that others wait for plus `bytes`.
    pub fn end_idle(&self, bytes: usize) {
        let wanted_units = self.wanted_units.load(Ordering::Relaxed);
        let [grace_ns, least_ns] =
            [self.grace, self.least_grace].map(|grace| grace.as_nanos() as u64);
        let grace_ns = crowded_grace_ns(grace_ns, least_ns, self.units, wanted_units);
        let holders = self.holders.lock();
        let is_ending = |holder: &&Arc<Holder>| holder.is_ending.load(Ordering::Relaxed);
        let (ending, holders): (Vec<_>, Vec<_>) = holders.values().partition(is_ending);
        let standings: Vec<_> = holders.iter().map(|holder| holder.standing()).collect();
        let coming: usize = ending.iter().map(|holder| holder.units).sum();
        let mut missing = (wanted_units + bytes.div_ceil(UNIT_BYTES)).saturating_sub(coming);
        for index in least_useful(&standings, grace_ns) {
            if missing == 0 {
                break;
            }
            missing = missing.saturating_sub(holders[index].units);
            holders[index].is_ending.store(true, Ordering::Relaxed);
            holders[index].ended.notify_one();
        }
    }
}

fn units_of(bytes: usize) -> Option<u32> {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).ok()
}

struct Wanted<'a> {
    budget: &'a MemoryBudget,
    units: usize,
}

impl<'a> Wanted<'a> {
    fn new(budget: &'a MemoryBudget, units: u32) -> Self {
        let units = units as usize;
        budget.wanted_units.fetch_add(units, Ordering::Relaxed);
        Self { budget, units }
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        self.budget.wanted_units.fetch_sub(self.units, Ordering::Relaxed);
    }
}

impl Reservation {
    /// Mark as used, which restarts its idle time.
    pub fn moved(&self) {
        self.holder.moved.lock().1 = Instant::now();
    }

    /// The client went on with a request.
    pub fn went_on(&self) {
        let moved = &mut *self.holder.moved.lock();
        *moved = (moved.0.saturating_add(1), Instant::now());
    }

    /// See from a TCP connection how often its client goes on.
    pub fn watch(&self, connection: &impl AsFd) {
        // Without a descriptor to spare, it counts as one that has only begun.
        if let Ok(own) = connection.as_fd().try_clone_to_owned() {
            let _ = self.holder.connection.set(own);
        }
    }

    /// Keep the memory, however long others wait.
    pub fn keep(&self) {
        self.budget.holders.lock().remove(&self.number);
    }

    pub async fn ended(&self) {
        self.holder.ended.notified().await;
    }

    pub fn end(&self) -> impl Future<Output = ()> + Send + use<> {
        let holder = Arc::clone(&self.holder);
        async move { holder.ended.notified().await }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.holders.lock().remove(&self.number);
    }
}
