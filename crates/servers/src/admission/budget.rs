//! Memory that connections share. One that waits for a part gets it from one that does not use its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex as Turns, Notify, OwnedSemaphorePermit, Semaphore};

use super::TICK;
use crate::Bounds;

pub const UNIT_BYTES: usize = 1 << 10;

/// However many strangers wait, each has this part of the time that a few have.
pub(super) const LEAST_GRACE: u32 = 5;

#[derive(Debug)]
pub struct MemoryBudget {
    free: Arc<Semaphore>,
    units: usize,
    wanted_units: AtomicUsize,
    holders: Mutex<HashMap<u64, Arc<Holder>>>,
    numbers: AtomicU64,
    grace: Duration,
    least_grace: Duration,
    looks: Turns<()>,
    last: Turns<()>,
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
    /// A budget of `bytes`, of which an idle holder keeps its part for `grace` while others wait.
    pub fn new(bytes: usize, grace: Duration) -> Arc<Self> {
        Self::with_least_grace(bytes, grace, grace)
    }

    /// A budget of `bytes` for strangers: the more of it is waited for the less time each has.
    pub fn crowded(bytes: usize, bounds: &Bounds) -> Arc<Self> {
        Self::with_least_grace(bytes, bounds.crowded, bounds.crowded / LEAST_GRACE)
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

    pub async fn hold(self: &Arc<Self>, bytes: usize) -> Option<Reservation> {
        if let Some(hold) = self.try_hold(bytes) {
            return Some(hold);
        }
        let units = units_of(bytes)?;
        let wanted = Wanted::new(self, units);
        let looking = async {
            let _turn = self.looks.lock().await;
            loop {
                tokio::time::sleep(TICK).await;
                self.end_idle();
            }
        };
        let permit = tokio::select! {
            biased;
            permit = Arc::clone(&self.free).acquire_many_owned(units) => permit.ok()?,
            never = looking => never,
        };
        drop(wanted);
        Some(self.reserve(permit))
    }

    pub async fn hold_last(self: &Arc<Self>, bytes: usize) -> Reservation {
        let _turn = self.last.lock().await;
        loop {
            // What is given back goes to those who wait in `hold`, if there are any.
            if let Some(hold) = self.try_hold(bytes) {
                return hold;
            }
            tokio::time::sleep(TICK).await;
            self.end_idle();
        }
    }

    pub fn try_hold(self: &Arc<Self>, bytes: usize) -> Option<Reservation> {
        let permit = Arc::clone(&self.free).try_acquire_many_owned(units_of(bytes)?).ok()?;
        Some(self.reserve(permit))
    }

    fn reserve(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Reservation {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let holder = Arc::new(Holder { moved: Mutex::new(Instant::now()), ended: Notify::new() });
        locked(&self.holders).insert(number, Arc::clone(&holder));
        Reservation { budget: Arc::clone(self), number, holder, _permit: permit }
    }

    pub fn end_idle(&self) {
        let wanted_units = self.wanted_units.load(Ordering::Relaxed);
        let share = self.units as f64 / (self.units + wanted_units).max(1) as f64;
        // Squared: the turns of all who wait add up to less than one grace (1/4 + 1/9 + 1/16 …),
        // where the shares themselves have no sum.
        let grace = self.grace.mul_f64(share * share).max(self.least_grace);
        for holder in locked(&self.holders).values() {
            if locked(&holder.moved).elapsed() >= grace {
                holder.ended.notify_one();
            }
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
    /// Say that it is used: the time until others may have it begins anew.
    pub fn moved(&self) {
        *locked(&self.holder.moved) = Instant::now();
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
        locked(&self.budget.holders).remove(&self.number);
    }
}

pub fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
