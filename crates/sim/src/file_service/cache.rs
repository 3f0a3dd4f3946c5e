//! A block cache: which blocks are in memory, and which of them are not yet on disk.

use std::collections::{BTreeMap, BTreeSet};

pub type Block = (u64, u64);

#[derive(Debug, Default)]
pub struct Cache {
    room: usize,
    blocks: BTreeMap<Block, Held>,
    by_use: BTreeSet<(u64, Block)>,
    dirty: BTreeSet<(u64, Block)>,
    uses: u64,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    used: u64,
    dirty_since: Option<u64>,
}

impl Cache {
    pub fn new(room: u32) -> Self {
        Self { room: room as usize, ..Self::default() }
    }

    pub fn takes(&mut self, block: Block) -> bool {
        let is_there = self.blocks.contains_key(&block);
        if is_there {
            self.use_again(block);
        }
        is_there
    }

    pub fn holds(&self, block: Block) -> bool {
        self.blocks.contains_key(&block)
    }

    pub fn is_dirty(&self, block: Block) -> bool {
        self.blocks.get(&block).is_some_and(|held| held.dirty_since.is_some())
    }

    /// Insert a block; returns blocks that were evicted for it and must be written first.
    pub fn put(&mut self, block: Block, is_dirty: bool) -> Option<Block> {
        if self.room == 0 {
            return None;
        }
        let mut left = None;
        if !self.blocks.contains_key(&block) && self.blocks.len() == self.room {
            left = self.leave();
        }
        self.use_again(block);
        if is_dirty
            && let Some(held) = self.blocks.get_mut(&block)
            && held.dirty_since.is_none()
        {
            held.dirty_since = Some(held.used);
            self.dirty.insert((held.used, block));
        }
        left
    }

    pub fn dirty(&self) -> impl Iterator<Item = Block> {
        self.dirty.iter().map(|(_, block)| *block)
    }

    pub fn dirty_blocks(&self) -> usize {
        self.dirty.len()
    }

    /// The block that has waited longest to be written; it then counts as written.
    pub fn take_dirty(&mut self) -> Option<Block> {
        let (_, block) = self.dirty.pop_first()?;
        if let Some(held) = self.blocks.get_mut(&block) {
            held.dirty_since = None;
        }
        Some(block)
    }

    /// The block with this number, if it must be written; it then counts as written.
    pub fn take_dirty_block(&mut self, block: Block) -> bool {
        let Some(held) = self.blocks.get_mut(&block) else { return false };
        let Some(since) = held.dirty_since.take() else { return false };
        self.dirty.remove(&(since, block));
        true
    }

    pub fn dirty_of(&self, file: u64) -> Vec<Block> {
        let of_file = self.blocks.range((file, 0)..=(file, u64::MAX));
        of_file.filter(|(_, held)| held.dirty_since.is_some()).map(|(block, _)| *block).collect()
    }

    /// Forget a file; its blocks need not be written any more.
    pub fn forget(&mut self, file: u64) {
        let of_file: Vec<Block> =
            self.blocks.range((file, 0)..=(file, u64::MAX)).map(|(block, _)| *block).collect();
        for block in of_file {
            self.remove(block);
        }
    }

    fn use_again(&mut self, block: Block) {
        self.uses += 1;
        let held = self.blocks.entry(block).or_insert(Held { used: 0, dirty_since: None });
        self.by_use.remove(&(held.used, block));
        held.used = self.uses;
        self.by_use.insert((self.uses, block));
    }

    /// Evict the least recently used block; returns it if it must be written.
    fn leave(&mut self) -> Option<Block> {
        let (_, block) = *self.by_use.first()?;
        let is_dirty = self.blocks.get(&block).is_some_and(|held| held.dirty_since.is_some());
        self.remove(block);
        is_dirty.then_some(block)
    }

    fn remove(&mut self, block: Block) {
        if let Some(held) = self.blocks.remove(&block) {
            self.by_use.remove(&(held.used, block));
            if let Some(since) = held.dirty_since {
                self.dirty.remove(&(since, block));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_block_used_longest_ago_leaves_first() {
        let mut cache = Cache::new(2);
        assert!(!cache.takes((1, 0)));
        assert_eq!([cache.put((1, 0), false), cache.put((1, 1), true)], [None, None]);
        assert!(cache.takes((1, 0)));
        // (1, 1) is the least recently used, and must be written.
        assert_eq!(cache.put((1, 2), false), Some((1, 1)));
        assert!(cache.takes((1, 0)) && !cache.takes((1, 1)));
        assert_eq!(cache.dirty_blocks(), 0);
    }

    #[test]
    fn dirty_blocks_are_written_in_order_of_arrival() {
        let mut cache = Cache::new(8);
        for place in [5, 3, 4] {
            cache.put((1, place), true);
        }
        // A second write does not change how long the block has waited.
        cache.put((1, 5), true);
        assert_eq!(cache.dirty_of(1), [(1, 3), (1, 4), (1, 5)]);
        assert!(cache.take_dirty_block((1, 4)) && !cache.take_dirty_block((1, 4)));
        assert_eq!(
            [cache.take_dirty(), cache.take_dirty(), cache.take_dirty()],
            [Some((1, 5)), Some((1, 3)), None]
        );
        assert!(cache.takes((1, 5)));
        cache.put((1, 5), true);
        cache.forget(1);
        assert!(!cache.takes((1, 5)) && cache.dirty_blocks() == 0);
    }

    proptest! {
        #[test]
        fn the_cache_holds_the_most_recently_used_blocks(
            room in 0_u32..6, calls in prop::collection::vec((0_u64..9, any::<bool>()), 0..200),
        ) {
            let (mut cache, mut held) = (Cache::new(room), Vec::<(u64, bool)>::new());
            for (place, is_dirty) in calls {
                let before = held.iter().position(|(other, _)| *other == place);
                prop_assert_eq!(cache.takes((0, place)), before.is_some());
                let was_dirty = before.is_some_and(|before| held.remove(before).1);
                let mut left = None;
                if held.len() == room as usize && room > 0 {
                    let (oldest, is_dirty) = held.remove(0);
                    left = is_dirty.then_some((0, oldest));
                }
                if room > 0 {
                    held.push((place, was_dirty || is_dirty));
                }
                prop_assert_eq!(cache.put((0, place), is_dirty), left);
                let dirty = held.iter().filter(|(_, is_dirty)| *is_dirty).count();
                prop_assert_eq!(cache.dirty_blocks(), dirty);
            }
        }
    }
}
