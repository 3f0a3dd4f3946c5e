//! The time that file calls take: CPU time, a block cache, and a disk.
//!
//! A store identifies files by number. [`Contents`](super::Contents) contains their data.

mod layout;
mod reading;
mod writing;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lanlab_messages::{SECTOR_BYTES, SimulatedStore, SimulatedStoreFacts};
use lanlab_units::Instant;
use lanlab_workloads::virtual_time::Wake;

use self::layout::Layout;
use super::cache::{Block, Cache};
use super::disk::{Access, Disk};
use super::turns::{Order, Turn, Turns};
use crate::Cost;
use crate::program::Host;
use crate::programs::HostNode;

#[derive(Clone)]
pub struct Store(Rc<Shared>);

struct Shared {
    host: Host<HostNode>,
    plan: SimulatedStore,
    disk: Disk,
    turns: Turns,
    caches: RefCell<BTreeMap<u32, Cache>>,
    layout: RefCell<Layout>,
    writes_behind_at: Cell<Option<Instant>>,
    /// Blocks that are being written, with the number of accesses; and the tasks waiting for them.
    going: RefCell<BTreeMap<Block, u32>>,
    wait_for_going: RefCell<Vec<Wake>>,
    coming: RefCell<BTreeMap<(u32, Block), Vec<Wake>>>,
    counted: Cell<[u64; 2]>,
}

impl Store {
    pub fn new(host: Host<HostNode>, plan: SimulatedStore) -> Self {
        let time = host.clock().clone();
        Self(Rc::new(Shared {
            disk: Disk::new(plan.disk, time.clone()),
            turns: Turns::new(Order::FirstCome, time),
            plan,
            host,
            caches: RefCell::default(),
            layout: RefCell::default(),
            writes_behind_at: Cell::new(None),
            going: RefCell::default(),
            wait_for_going: RefCell::default(),
            coming: RefCell::default(),
            counted: Cell::new([0; 2]),
        }))
    }

    /// Place files on the disk by number and size, each contiguous, in the order in which they were
    /// stored before the measurement.
    pub fn lay_out(&self, files: &BTreeMap<u64, u64>) {
        for (file, size_bytes) in files {
            for block in 0..size_bytes.div_ceil(self.0.plan.block_bytes.into()) {
                self.place(*file, block);
            }
        }
    }

    pub fn host(&self) -> &Host<HostNode> {
        &self.0.host
    }

    pub fn facts(&self) -> SimulatedStoreFacts {
        let [cache_hits, cache_misses] = self.0.counted.get();
        let dirty = self.0.caches.borrow().values().map(Cache::dirty_blocks).sum::<usize>();
        let dirty_blocks = dirty as u64;
        let of_disk = self.0.disk.facts();
        SimulatedStoreFacts { cache_hits, cache_misses, dirty_blocks, ..of_disk }
    }

    /// Blocks whose last version is not on disk, by file number and position: data that is lost if
    /// the machine stops now.
    pub fn unwritten(&self) -> BTreeSet<(u64, u64)> {
        let caches = self.0.caches.borrow();
        let waiting = caches.values().flat_map(Cache::dirty);
        waiting.chain(self.0.going.borrow().keys().copied()).collect()
    }

    /// Wait for a client's turn, if calls run one after the other.
    pub async fn turn(&self) -> Option<Turn> {
        if self.0.plan.overlaps {
            return None;
        }
        Some(self.0.turns.take(0, "its turn at the file server").await)
    }

    /// A call is answered. A server that runs one call at a time starts the next one when its
    /// processor has no frame of the answer left to send.
    pub fn answered(&self, turn: Option<Turn>) {
        if let Some(turn) = turn {
            let host = self.0.host.clone();
            self.0.host.spawn_service("answer", async move {
                host.compute(1).await;
                drop(turn);
            });
        }
    }

    pub async fn look(&self) {
        self.work(Cost::each(self.0.plan.other_ns), 0).await;
        self.names(self.0.plan.name_sectors, false).await;
    }

    pub async fn open(&self, is_change: bool) {
        self.work(Cost::each(self.0.plan.open_ns), 0).await;
        self.names(self.0.plan.name_sectors, false).await;
        if is_change {
            self.names(self.0.plan.change_sectors, true).await;
        }
    }

    pub async fn change(&self) {
        self.work(Cost::each(self.0.plan.other_ns), 0).await;
        self.names(self.0.plan.change_sectors, true).await;
    }

    pub async fn close(&self, is_change: bool) {
        self.work(Cost::each(self.0.plan.close_ns), 0).await;
        if is_change {
            self.names(self.0.plan.change_sectors, true).await;
        }
    }

    /// A file was removed; its blocks need not be written.
    pub fn forget(&self, file: u64) {
        for cache in self.0.caches.borrow_mut().values_mut() {
            cache.forget(file);
        }
        self.0.layout.borrow_mut().runs.remove(&file);
    }

    async fn work(&self, cost: Cost, bytes: u64) {
        if cost != Cost::ZERO {
            self.0.host.compute(cost.of(bytes)).await;
        }
    }

    fn count(&self, hits: u64, misses: u64) {
        let [before_hits, before_misses] = self.0.counted.get();
        self.0.counted.set([before_hits + hits, before_misses + misses]);
    }

    fn with_cache<R>(&self, client: u32, using: impl FnOnce(&mut Cache) -> R) -> R {
        let client = if self.0.plan.cache_of_client { client } else { 0 };
        let mut caches = self.0.caches.borrow_mut();
        using(caches.entry(client).or_insert_with(|| Cache::new(self.0.plan.cache_blocks)))
    }

    fn dirty_blocks(&self, client: u32) -> usize {
        self.with_cache(client, |cache| cache.dirty_blocks())
    }

    fn place(&self, file: u64, block: u64) -> u64 {
        self.0.layout.borrow_mut().place((file, block))
    }

    /// The position of a file's blocks, as runs of contiguous blocks on the disk.
    fn runs(&self, file: u64, from: u64, until: u64) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for block in from..until {
            let place = self.place(file, block);
            match runs.last_mut() {
                Some((first, count)) if *first + *count == place => *count += 1,
                _ => runs.push((place, 1)),
            }
        }
        runs
    }

    async fn disk_blocks(&self, place: u64, blocks: u64, is_write: bool) {
        let of_block = u64::from(self.0.plan.block_bytes) / SECTOR_BYTES;
        self.disk_sectors(place * of_block, (place + blocks) * of_block, is_write).await;
    }

    async fn disk_sectors(&self, from: u64, to: u64, is_write: bool) {
        let sector = self.name_room() + from;
        self.0.disk.access(Access { sector, count: (to - from) as u32, is_write }).await;
    }

    fn name_room(&self) -> u64 {
        self.0.plan.disk.sectors_per_track.into()
    }

    async fn names(&self, sectors: u32, is_write: bool) {
        for number in 0..u64::from(sectors) {
            let sector = number % self.name_room();
            self.0.disk.access(Access { sector, count: 1, is_write }).await;
        }
    }
}
