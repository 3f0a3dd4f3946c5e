//! Maps blocks of files to blocks of the disk.

use std::collections::BTreeMap;

use super::Block;

/// Maps blocks of files to blocks of the disk: each new block is the next free one.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// For each file, runs of blocks: first block in the file, first block on the disk, and length.
    pub(super) runs: BTreeMap<u64, BTreeMap<u64, (u64, u64)>>,
    next: u64,
}

impl Layout {
    pub(super) fn has(&self, (file, block): Block) -> bool {
        let before = |runs: &BTreeMap<u64, (u64, u64)>| {
            let (first, (_, count)) = runs.range(..=block).next_back()?;
            Some(block - first < *count)
        };
        self.runs.get(&file).and_then(before).unwrap_or(false)
    }

    pub(super) fn place(&mut self, (file, block): Block) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_blocks_are_placed_last_and_stay() {
        let blocks = [
            [(1, 0), (1, 1), (1, 2)],
            [(2, 0), (2, 1), (3, 0)],
            [(2, 2), (1, 3), (1, 4)],
            [(1, 10), (1, 11), (3, 1)],
        ]
        .concat();
        let mut layout = Layout::default();
        for _ in 0..2 {
            let places = blocks.iter().map(|block| layout.place(*block));
            assert!(places.eq(0..blocks.len() as u64));
        }
        assert!(blocks.iter().all(|block| layout.has(*block)));
        let others = [(1, 5), (1, 9), (1, 12), (2, 3), (4, 0)];
        assert!(!others.iter().any(|block| layout.has(*block)));
    }
}
