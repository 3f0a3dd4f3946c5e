//! What files cost: the processor's work for a call, a cache of blocks, and a disk below it.
//!
//! A store knows files by their numbers and holds no byte of them: [`Contents`](super::Contents) does.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::ops::Range;
use std::rc::Rc;
use std::task::Poll;

use lanlab_units::Instant;
use lanlab_workloads::virtual_time::Wake;

use super::cache::{Block, Cache};
use super::disk::{Access, BadDisk, Disk, DiskFacts, DiskPlan, SECTOR_BYTES};
use super::turns::{Order, Turn, Turns};
use crate::machine::Cost;
use crate::program::Host;
use crate::programs::HostNode;

/// Most blocks that wait to be written and are written by one access.
const MOST_WRITTEN_BLOCKS: u32 = 16;

/// What file calls take of a machine's processor, its cache and its disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StorePlan {
    /// Processor time to open or make a file, and to look for a name.
    pub open: Cost,
    /// The same to read, with the bytes read.
    pub read: Cost,
    /// The same to write, with the bytes written.
    pub write: Cost,
    /// The same to close a file.
    pub close: Cost,
    /// The same for any other call.
    pub other: Cost,
    /// Whether calls of several clients are carried out at the same time, so that the processor works for one
    /// while the disk works for another; else one after the other, as DOS does.
    pub overlaps: bool,
    /// Bytes of a block of the cache, whole sectors.
    pub block_bytes: u32,
    /// Blocks that the cache holds; 0: there is none.
    pub cache_blocks: u32,
    /// Whether each client has a cache of its own, of that size.
    pub is_cache_of_client: bool,
    /// Blocks that are read beyond those that are asked for, when the disk is read.
    pub read_ahead_blocks: u32,
    /// Blocks that may wait to be written; 0: a write is answered when it is on the disk.
    pub write_behind_blocks: u32,
    /// How long they wait at most, ns.
    pub write_behind_ns: u64,
    /// Whether a block that waits is written, and the write that filled it answered, as soon as it is full.
    pub writes_full: bool,
    /// Sectors of directories that are read to find a name.
    pub name_sectors: u32,
    /// Sectors of directories and of the map of files that are written when one of them changes.
    pub change_sectors: u32,
    /// The disk.
    pub disk: DiskPlan,
}

impl StorePlan {
    /// # Errors
    /// [`BadDisk`] if there can be no such disk, or blocks are no whole sectors.
    pub fn check(&self) -> Result<(), BadDisk> {
        let block_bytes = u64::from(self.block_bytes);
        if block_bytes == 0 || !block_bytes.is_multiple_of(SECTOR_BYTES) {
            let allowed = format!("whole sectors of {SECTOR_BYTES}");
            return Err(BadDisk { field: "block_bytes", found: block_bytes, allowed });
        }
        self.disk.check()
    }
}

/// What a store has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreFacts {
    /// Its disk.
    pub disk: DiskFacts,
    /// Blocks that were asked for and in the cache.
    pub hits: u64,
    /// Blocks that were read from the disk because they were asked for.
    pub misses: u64,
    /// Blocks that are not on the disk yet.
    pub dirty_blocks: u64,
}

/// The store of a machine. Clones are the same store.
#[derive(Clone)]
pub struct Store(Rc<Shared>);

struct Shared {
    host: Host<HostNode>,
    plan: StorePlan,
    disk: Disk,
    turns: Turns,
    /// The common one, or one of each client.
    caches: RefCell<BTreeMap<u32, Cache>>,
    layout: RefCell<Layout>,
    /// When what waits begins to be written, or has begun.
    writes_behind_at: Cell<Option<Instant>>,
    /// Blocks that are being read for a client, and who waits for them.
    coming: RefCell<BTreeMap<(u32, Block), Vec<Wake>>>,
    counted: Cell<[u64; 2]>,
}

/// Which blocks of the disk are whose: each new one is the next of the disk.
#[derive(Debug, Default)]
struct Layout {
    /// Of each file, runs of blocks: by the first in the file, the first on the disk and how many.
    runs: BTreeMap<u64, BTreeMap<u64, (u64, u64)>>,
    next: u64,
}

impl Layout {
    /// Whether a block has its place.
    fn has(&self, (file, block): Block) -> bool {
        let before = |runs: &BTreeMap<u64, (u64, u64)>| {
            let (first, (_, count)) = runs.range(..=block).next_back()?;
            Some(block - first < *count)
        };
        self.runs.get(&file).and_then(before).unwrap_or(false)
    }

    /// Place of a block on the disk.
    fn place(&mut self, (file, block): Block) -> u64 {
        let runs = self.runs.entry(file).or_default();
        if let Some((first, (place, count))) = runs.range_mut(..=block).next_back() {
            if block - first < *count {
                return *place + (block - first);
            }
            if block == first + *count && *place + *count == self.next {
                *count += 1;
                self.next += 1;
                return self.next - 1;
            }
        }
        runs.insert(block, (self.next, 1));
        self.next += 1;
        self.next - 1
    }
}

impl Store {
    /// The store of a host.
    ///
    /// # Errors
    /// Those of [`StorePlan::check`].
    pub fn new(host: Host<HostNode>, plan: StorePlan) -> Result<Self, BadDisk> {
        plan.check()?;
        let time = host.clock().clone();
        Ok(Self(Rc::new(Shared {
            disk: Disk::new(plan.disk, time.clone())?,
            turns: Turns::new(Order::FirstCome, time),
            plan,
            host,
            caches: RefCell::default(),
            layout: RefCell::default(),
            writes_behind_at: Cell::new(None),
            coming: RefCell::default(),
            counted: Cell::new([0; 2]),
        })))
    }

    /// Give files their places on the disk, each in one piece, by their numbers and sizes: they were stored one
    /// after the other before anything is timed.
    pub fn lay_out(&self, files: &BTreeMap<u64, u64>) {
        for (file, size_bytes) in files {
            for block in 0..size_bytes.div_ceil(self.0.plan.block_bytes.into()) {
                self.place(*file, block);
            }
        }
    }

    /// The host that it is of.
    pub fn host(&self) -> &Host<HostNode> {
        &self.0.host
    }

    /// What it has done.
    pub fn facts(&self) -> StoreFacts {
        let [hits, misses] = self.0.counted.get();
        let dirty = self.0.caches.borrow().values().map(Cache::dirty_blocks).sum::<usize>();
        StoreFacts { disk: self.0.disk.facts(), hits, misses, dirty_blocks: dirty as u64 }
    }

    /// Wait until a client's calls are the next, where they are carried out one after the other.
    pub async fn turn(&self) -> Option<Turn> {
        if self.0.plan.overlaps {
            return None;
        }
        Some(self.0.turns.take(0, "its turn at the file server").await)
    }

    /// A call is answered: who does one thing at a time begins the next when the answer is on its way, which is when
    /// the processor has no frame left to send.
    pub fn answered(&self, turn: Option<Turn>) {
        if let Some(turn) = turn {
            let host = self.0.host.clone();
            self.0.host.spawn_service("answer", async move {
                host.compute(1).await;
                drop(turn);
            });
        }
    }

    /// Look for a name.
    pub async fn look(&self) {
        self.work(self.0.plan.other, 0).await;
        self.names(self.0.plan.name_sectors, false).await;
    }

    /// Open a file; `is_change` if it is new or emptied.
    pub async fn open(&self, is_change: bool) {
        self.work(self.0.plan.open, 0).await;
        self.names(self.0.plan.name_sectors, false).await;
        if is_change {
            self.names(self.0.plan.change_sectors, true).await;
        }
    }

    /// Change a directory, or what it says of a file.
    pub async fn change(&self) {
        self.work(self.0.plan.other, 0).await;
        self.names(self.0.plan.change_sectors, true).await;
    }

    /// Close a file; `is_change` if it was written.
    pub async fn close(&self, is_change: bool) {
        self.work(self.0.plan.close, 0).await;
        if is_change {
            self.names(self.0.plan.change_sectors, true).await;
        }
    }

    /// A client reads bytes that are there, of a file of this size.
    pub async fn read(&self, client: u32, file: u64, size_bytes: u64, offset: u64, count: u64) {
        self.work(self.0.plan.read, count).await;
        if count == 0 {
            return;
        }
        let block_bytes = u64::from(self.0.plan.block_bytes);
        let (first, last) = (offset / block_bytes, (offset + count - 1) / block_bytes);
        let end = size_bytes.div_ceil(block_bytes).max(last + 1);
        for block in first..=last {
            self.await_block(client, (file, block), end).await;
        }
        // The blocks behind those are read while the client does something else.
        let ahead = u64::from(self.0.plan.read_ahead_blocks).min(end - (last + 1));
        let is_ahead = |block| self.is_coming(client, (file, block));
        if ahead > 0 && self.0.plan.cache_blocks > 0 && !is_ahead(last + ahead.div_ceil(2)) {
            let from = (last + 1..=last + ahead).find(|block| !is_ahead(*block));
            if let Some(from) = from {
                let (store, blocks) = (self.clone(), from..last + ahead + 1);
                self.begin_to_read(client, file, &blocks);
                let reading = async move { store.finish_to_read(client, file, blocks).await };
                self.0.host.spawn_service("read-ahead", reading);
            }
        }
    }

    /// Have a block in memory: it is there, or comes, or is read with those that are missing behind it.
    async fn await_block(&self, client: u32, block: Block, end: u64) {
        if self.with_cache(client, |cache| cache.takes(block)) {
            self.count(1, 0);
            return;
        }
        if self.0.coming.borrow().contains_key(&(client, block)) {
            self.count(1, 0);
            poll_fn(|context| {
                let mut coming = self.0.coming.borrow_mut();
                let Some(waiting) = coming.get_mut(&(client, block)) else {
                    return Poll::Ready(());
                };
                let time = self.0.host.clock();
                waiting.push(time.waits_for(context, "a block that is read ahead"));
                Poll::Pending
            })
            .await;
            return;
        }
        self.count(0, 1);
        let (file, first) = block;
        let most = first + 1 + u64::from(self.0.plan.read_ahead_blocks);
        let is_there = |block: &u64| self.is_coming(client, (file, *block));
        let until = (first + 1..most.min(end)).find(is_there).unwrap_or_else(|| most.min(end));
        let blocks = first..until.max(first + 1);
        self.begin_to_read(client, file, &blocks);
        self.finish_to_read(client, file, blocks).await;
    }

    fn is_coming(&self, client: u32, block: Block) -> bool {
        self.0.coming.borrow().contains_key(&(client, block))
            || self.with_cache(client, |cache| cache.holds(block))
    }

    fn begin_to_read(&self, client: u32, file: u64, blocks: &Range<u64>) {
        let mut coming = self.0.coming.borrow_mut();
        for block in blocks.clone() {
            coming.entry((client, (file, block))).or_default();
        }
    }

    async fn finish_to_read(&self, client: u32, file: u64, blocks: Range<u64>) {
        for (place, count) in self.runs(file, blocks.start, blocks.end) {
            self.disk_blocks(place, count, false).await;
        }
        for block in blocks {
            let left = self.with_cache(client, |cache| cache.put((file, block), false));
            let waiting = self.0.coming.borrow_mut().remove(&(client, (file, block)));
            for wake in waiting.into_iter().flatten() {
                self.0.host.clock().wake(wake);
            }
            self.write_out(left).await;
        }
    }

    /// A client writes bytes.
    pub async fn write(&self, client: u32, file: u64, offset: u64, count: u64) {
        self.work(self.0.plan.write, count).await;
        if count == 0 {
            return;
        }
        let plan = &self.0.plan;
        let block_bytes = u64::from(plan.block_bytes);
        let (first, last) = (offset / block_bytes, (offset + count - 1) / block_bytes);
        let is_behind = plan.write_behind_blocks > 0 && plan.cache_blocks > 0;
        for block in (first..=last).map(|block| (file, block)) {
            let is_known = self.with_cache(client, |cache| cache.holds(block))
                || !self.0.layout.borrow().has(block);
            let left = self.with_cache(client, |cache| cache.put(block, is_behind));
            self.write_out(left).await;
            if !is_behind {
                self.write_through(block, is_known, offset, offset + count).await;
            }
        }
        if is_behind {
            for block in first..(offset + count) / block_bytes {
                if plan.writes_full
                    && self.with_cache(client, |cache| cache.take_dirty_block((file, block)))
                {
                    self.write_out(Some((file, block))).await;
                }
            }
            let most = plan.write_behind_blocks as usize;
            // Half of what may wait is written while the client goes on.
            let is_much = self.dirty_blocks(client) > most / 2;
            self.begin_to_write_behind(if is_much { 0 } else { plan.write_behind_ns });
            while self.dirty_blocks(client) > most {
                self.write_oldest(client).await;
            }
        }
    }

    /// Write what of a block lies between two bytes of its file, in one access. The disk takes whole sectors: of one
    /// that changes in part the rest is read before, unless it is known.
    async fn write_through(&self, block: Block, is_known: bool, from: u64, to: u64) {
        let block_bytes = u64::from(self.0.plan.block_bytes);
        let begins = block.1 * block_bytes;
        let place = self.place(block.0, block.1) * block_bytes;
        let [from, to] =
            [from, to].map(|at| place + at.clamp(begins, begins + block_bytes) - begins);
        let (first, end) = (from / SECTOR_BYTES, to.div_ceil(SECTOR_BYTES));
        if !is_known {
            let cut = [from, to].map(|at| (at % SECTOR_BYTES != 0).then_some(at / SECTOR_BYTES));
            for sector in cut.into_iter().flatten().collect::<BTreeSet<_>>() {
                self.disk_sectors(sector, sector + 1, false).await;
            }
        }
        self.disk_sectors(first, end, true).await;
    }

    /// Bring what was written of a file to the disk.
    pub async fn flush(&self, client: u32, file: u64) {
        self.work(self.0.plan.other, 0).await;
        for block in self.with_cache(client, |cache| cache.dirty_of(file)) {
            if self.with_cache(client, |cache| cache.take_dirty_block(block)) {
                self.write_out(Some(block)).await;
            }
        }
    }

    /// A file is gone, with what was to be written of it.
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
        let client = if self.0.plan.is_cache_of_client { client } else { 0 };
        let mut caches = self.0.caches.borrow_mut();
        using(caches.entry(client).or_insert_with(|| Cache::new(self.0.plan.cache_blocks)))
    }

    fn dirty_blocks(&self, client: u32) -> usize {
        self.with_cache(client, |cache| cache.dirty_blocks())
    }

    fn place(&self, file: u64, block: u64) -> u64 {
        self.0.layout.borrow_mut().place((file, block))
    }

    /// Where blocks of a file lie, as runs of blocks that follow each other on the disk.
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

    /// Sectors of files lie behind those of directories.
    async fn disk_sectors(&self, from: u64, to: u64, is_write: bool) {
        let sector = self.name_room() + from;
        self.0.disk.access(Access { sector, count: (to - from) as u32, is_write }).await;
    }

    /// Sectors of the disk that are directories: the first track.
    fn name_room(&self) -> u64 {
        self.0.plan.disk.sectors_per_track.into()
    }

    async fn names(&self, sectors: u32, is_write: bool) {
        for number in 0..u64::from(sectors) {
            let sector = number % self.name_room();
            self.0.disk.access(Access { sector, count: 1, is_write }).await;
        }
    }

    async fn write_out(&self, block: Option<Block>) {
        if let Some((file, block)) = block {
            let place = self.place(file, block);
            self.disk_blocks(place, 1, true).await;
        }
    }

    /// Write the block that has waited longest, and those behind it that wait, too, in one access.
    async fn write_oldest(&self, client: u32) {
        let Some((file, first)) = self.with_cache(client, Cache::take_dirty) else { return };
        let place = self.place(file, first);
        let mut count = 1;
        while count < u64::from(MOST_WRITTEN_BLOCKS) {
            let next = (file, first + count);
            let is_next = self.with_cache(client, |cache| cache.is_dirty(next))
                && self.place(file, first + count) == place + count;
            if !is_next {
                break;
            }
            self.with_cache(client, |cache| cache.take_dirty_block(next));
            count += 1;
        }
        self.disk_blocks(place, count, true).await;
    }

    /// Have what waits written after this time, unless it is being written or will be before.
    fn begin_to_write_behind(&self, after_ns: u64) {
        let at = self.0.host.now().plus_nanos(after_ns);
        if self.0.writes_behind_at.get().is_some_and(|set| set <= at) {
            return;
        }
        self.0.writes_behind_at.set(Some(at));
        let store = self.clone();
        self.0.host.spawn_service("write-behind", async move {
            store.0.host.clock().sleep_until(at).await;
            // One that was to begin later has been overtaken.
            if store.0.writes_behind_at.get() != Some(at) {
                return;
            }
            let clients: Vec<u32> = store.0.caches.borrow().keys().copied().collect();
            for client in clients {
                while store.dirty_blocks(client) > 0 {
                    store.write_oldest(client).await;
                }
            }
            store.0.writes_behind_at.set(None);
        });
    }
}
