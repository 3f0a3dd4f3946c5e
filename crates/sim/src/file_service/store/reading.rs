//! How blocks get into memory: from the cache, from the disk, and by read-ahead.

use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;

use super::{Block, Store};

impl Store {
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
        // The following blocks are read while the client does something else.
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

    /// Wait until a block is in memory. If it is not on its way, read it with missing blocks after
    /// it.
    pub(super) async fn await_block(&self, client: u32, block: Block, end: u64) {
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
}
