//! Buffers of finished messages, kept for reuse.

/// Larger buffers are freed: otherwise each session would keep the memory of its longest message.
const MOST_BYTES: usize = 4 << 10;

/// Empty a buffer and keep it for reuse, unless it is large.
pub(crate) fn keep(spare: &mut Vec<Vec<u8>>, mut memory: Vec<u8>) {
    if memory.capacity() <= MOST_BYTES {
        memory.clear();
        spare.push(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_up_to_4_kib_are_kept_and_larger_ones_freed() {
        let mut spare = vec![];
        for bytes in [4_097, 4_096, 10] {
            let mut memory = Vec::with_capacity(bytes);
            memory.push(1);
            keep(&mut spare, memory);
        }
        let kept: Vec<_> = spare.iter().map(|one| (one.len(), one.capacity())).collect();
        assert_eq!(kept, [(0, 4_096), (0, 10)]);
    }
}
