//! How blocks get to disk: at once, when full, or in the background.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::task::Poll;

use super::{Block, Cache, Cost, SECTOR_BYTES, Store};

/// Maximum number of waiting blocks that one access writes.
const MOST_WRITTEN_BLOCKS: u32 = 16;

impl Store {
    pub async fn write(&self, client: u32, file: u64, offset: u64, count: u64) {
        self.work(self.0.plan.write, count).await;
        if count == 0 {
            return;
        }
        let plan = &self.0.plan;
        let block_bytes = u64::from(plan.block_bytes);
        let (first, last) = (offset / block_bytes, (offset + count - 1) / block_bytes);
        let is_behind = plan.write_behind_blocks > 0;
        for block in (first..=last).map(|block| (file, block)) {
            let is_known = self.with_cache(client, |cache| cache.holds(block))
                || !self.0.layout.borrow().has(block);
            let begins = block.1 * block_bytes;
            let is_whole = offset <= begins && begins + block_bytes <= offset + count;
            let is_kept = !is_behind && plan.keeps_parts && plan.cache_blocks > 0 && !is_whole;
            if is_kept && !is_known {
                self.await_block(client, block, block.1 + 1).await;
            }
            let waits = is_behind || is_kept;
            let left = self.with_cache(client, |cache| cache.put(block, waits));
            self.write_out(left).await;
            if !waits {
                self.with_cache(client, |cache| cache.take_dirty_block(block));
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
            // Above half of the limit, blocks are written while the client continues.
            let is_much = self.dirty_blocks(client) > most / 2;
            self.begin_to_write_behind(if is_much { 0 } else { plan.write_behind_ns });
            while self.dirty_blocks(client) > most {
                self.write_oldest(client).await;
            }
        }
    }

    /// Write the part of a block between two bytes of its file, in one access. The disk writes
    /// whole sectors: the rest of a partly changed sector is read first, unless it is known.
    async fn write_through(&self, block: Block, is_known: bool, from: u64, to: u64) {
        let block_bytes = u64::from(self.0.plan.block_bytes);
        let begins = block.1 * block_bytes;
        let place = self.place(block.0, block.1) * block_bytes;
        let [from, to] =
            [from, to].map(|at| place + at.clamp(begins, begins + block_bytes) - begins);
        let (first, end) = (from / SECTOR_BYTES, to.div_ceil(SECTOR_BYTES));
        self.goes(block, 1);
        if !is_known {
            let cut = [from, to].map(|at| (at % SECTOR_BYTES != 0).then_some(at / SECTOR_BYTES));
            for sector in cut.into_iter().flatten().collect::<BTreeSet<_>>() {
                self.disk_sectors(sector, sector + 1, false).await;
            }
        }
        self.disk_sectors(first, end, true).await;
        self.is_written(block, 1);
    }

    pub async fn flush(&self, client: u32, file: u64) {
        self.work(Cost::each(self.0.plan.other_ns), 0).await;
        for block in self.with_cache(client, |cache| cache.dirty_of(file)) {
            if self.with_cache(client, |cache| cache.take_dirty_block(block)) {
                self.write_out(Some(block)).await;
            }
        }
        // Blocks that are still being written in the background are not on disk yet.
        poll_fn(|context| {
            if self.0.going.borrow().range((file, 0)..=(file, u64::MAX)).next().is_none() {
                return Poll::Ready(());
            }
            let wake = self.0.host.clock().waits_for(context, "blocks that are being written");
            self.0.wait_for_going.borrow_mut().push(wake);
            Poll::Pending
        })
        .await;
    }

    pub(super) async fn write_out(&self, block: Option<Block>) {
        if let Some(block) = block {
            self.write_blocks(block, 1).await;
        }
    }

    async fn write_blocks(&self, (file, first): Block, count: u64) {
        let place = self.place(file, first);
        self.goes((file, first), count);
        self.disk_blocks(place, count, true).await;
        self.is_written((file, first), count);
    }

    fn goes(&self, (file, first): Block, count: u64) {
        let mut going = self.0.going.borrow_mut();
        for block in first..first + count {
            *going.entry((file, block)).or_default() += 1;
        }
    }

    fn is_written(&self, (file, first): Block, count: u64) {
        let mut going = self.0.going.borrow_mut();
        for block in first..first + count {
            if let Some(accesses) = going.get_mut(&(file, block)) {
                *accesses -= 1;
            }
        }
        going.retain(|_, accesses| *accesses > 0);
        for wake in self.0.wait_for_going.take() {
            self.0.host.clock().wake(wake);
        }
    }

    /// Write the block that has waited longest, and waiting blocks after it, in one access.
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
        self.write_blocks((file, first), count).await;
    }

    /// The first client with waiting blocks. Clients that share a cache count as one.
    fn has_waiting(&self) -> Option<u32> {
        let caches = self.0.caches.borrow();
        caches.iter().find(|(_, cache)| cache.dirty_blocks() > 0).map(|(client, _)| *client)
    }

    /// Write waiting blocks after this time, unless they are already being written or will be
    /// earlier.
    fn begin_to_write_behind(&self, after_ns: u64) {
        let at = self.0.host.now().plus_nanos(after_ns);
        if self.0.writes_behind_at.get().is_some_and(|set| set <= at) {
            return;
        }
        self.0.writes_behind_at.set(Some(at));
        let store = self.clone();
        self.0.host.spawn_service("write-behind", async move {
            store.0.host.clock().sleep_until(at).await;
            // An earlier write has replaced this one.
            if store.0.writes_behind_at.get() != Some(at) {
                return;
            }
            // Clients whose blocks have been written may already write more.
            while let Some(client) = store.has_waiting() {
                store.write_oldest(client).await;
            }
            store.0.writes_behind_at.set(None);
        });
    }
}
