//! Memory of messages that are over, kept for the next ones.

/// More of it is given back: each of many sessions would keep what its longest message took.
const MOST_BYTES: usize = 4 << 10;

/// Whether memory is kept.
pub(crate) fn is_kept(memory: &Vec<u8>) -> bool {
    memory.capacity() <= MOST_BYTES
}
