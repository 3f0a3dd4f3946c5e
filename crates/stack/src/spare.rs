//! Memory of messages that are over, kept for the next ones.

/// More of it is given back: each of many sessions would keep what its longest message took.
const MOST_BYTES: usize = 4 << 10;

/// Keep memory, empty, unless it is much.
pub(crate) fn keep(spare: &mut Vec<Vec<u8>>, mut memory: Vec<u8>) {
    if memory.capacity() <= MOST_BYTES {
        memory.clear();
        spare.push(memory);
    }
}
