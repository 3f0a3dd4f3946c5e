//! File content as a function of seed, file number and offset, so that nothing is stored to make, send or compare
//! it.

/// Bytes of the compressible pattern: a page, shorter than any compressor's window.
const PAGE_BYTES: u64 = 4096;
/// The golden ratio in 64 bits: its multiples spread evenly over all numbers.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spread one number over 64 bits, one to one: the finaliser of `SplitMix64` (Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", OOPSLA 2014).
pub const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The content of one file.
///
/// The words are numbered and [`mix`] is one to one, so no word repeats within a file, and servers find nothing to
/// deduplicate.
#[derive(Debug, Clone, Copy)]
pub struct Content {
    key: u64,
    zeros_from: u64,
}

impl Content {
    /// Content of file `number` of a dataset; `compressible_ratio` from 0 to 1.
    pub fn new(seed: u64, number: u64, compressible_ratio: f64) -> Self {
        let key = mix(mix(seed.wrapping_add(STEP)) ^ number.wrapping_mul(STEP));
        let zeros = (compressible_ratio.clamp(0.0, 1.0) * PAGE_BYTES as f64).round() as u64;
        Self { key, zeros_from: PAGE_BYTES - zeros }
    }

    pub fn fill(&self, offset: u64, buffer: &mut [u8]) {
        let mut place = offset / 8;
        let mut rest = &mut *buffer;
        let within = (offset % 8) as usize;
        if within != 0 && !rest.is_empty() {
            let taken = rest.len().min(8 - within);
            let (head, tail) = rest.split_at_mut(taken);
            head.copy_from_slice(&self.word(place)[within..within + taken]);
            (rest, place) = (tail, place + 1);
        }
        let mut words = rest.chunks_exact_mut(8);
        let mut number = self.key.wrapping_add(place.wrapping_mul(STEP));
        for word in &mut words {
            word.copy_from_slice(&mix(number).to_le_bytes());
            number = number.wrapping_add(STEP);
        }
        let tail = words.into_remainder();
        tail.copy_from_slice(&mix(number).to_le_bytes()[..tail.len()]);
        self.put_zeros(offset, buffer);
    }

    /// Index of the first wrong byte of `data`, which starts at `offset`.
    pub fn first_difference(&self, offset: u64, data: &[u8]) -> Option<u64> {
        let mut expected = [0; PAGE_BYTES as usize];
        let mut place = offset;
        for part in data.chunks(expected.len()) {
            let expected = &mut expected[..part.len()];
            self.fill(place, expected);
            if let Some(within) = first_difference(expected, part) {
                return Some(place + within);
            }
            place += part.len() as u64;
        }
        None
    }

    fn word(&self, place: u64) -> [u8; 8] {
        mix(self.key.wrapping_add(place.wrapping_mul(STEP))).to_le_bytes()
    }

    fn put_zeros(&self, offset: u64, buffer: &mut [u8]) {
        if self.zeros_from == PAGE_BYTES {
            return;
        }
        let end = offset + buffer.len() as u64;
        let mut page = offset / PAGE_BYTES * PAGE_BYTES;
        while page < end {
            let from = (page + self.zeros_from).max(offset);
            let to = (page + PAGE_BYTES).min(end);
            if from < to {
                buffer[(from - offset) as usize..(to - offset) as usize].fill(0);
            }
            page += PAGE_BYTES;
        }
    }
}

/// Index of the first byte in which two buffers of equal length differ.
pub fn first_difference(left: &[u8], right: &[u8]) -> Option<u64> {
    // Comparing everything at once is many times faster than byte by byte.
    if left == right {
        return None;
    }
    left.iter().zip(right).position(|(left, right)| left != right).map(|place| place as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn whole(content: Content, length: usize) -> Vec<u8> {
        let mut octets = vec![0; length];
        content.fill(0, &mut octets);
        octets
    }

    #[test]
    fn content_never_changes_between_versions() {
        let octets = whole(Content::new(1, 0, 0.0), 16);
        assert_eq!(octets, whole(Content::new(1, 0, 0.0), 16));
        assert_ne!(octets, whole(Content::new(2, 0, 0.0), 16));
        assert_ne!(octets, whole(Content::new(1, 1, 0.0), 16));
        // From the test vector of `SplitMix64`'s authors, with seed 0.
        assert_eq!(mix(STEP), 0xe220_a839_7b1d_cdaf);
        // Computed by a separate program that follows the description.
        let octets: Vec<String> =
            whole(Content::new(5, 3, 0.0), 16).iter().map(|octet| format!("{octet:02x}")).collect();
        assert_eq!(octets.concat(), "d1b3a96590f6bab275b7941d2e396a15");
    }

    fn are_zeros(content: Content, places: &[usize]) -> Vec<bool> {
        let octets = whole(content, 3 * 4096);
        places.iter().map(|place| octets[*place..*place + 8] == [0; 8]).collect()
    }

    #[test]
    fn the_end_of_each_page_is_zeros() {
        // A quarter of 4096 bytes: from 3072 on.
        let quarter = Content::new(7, 3, 0.25);
        let places = [3064, 3072, 4088, 4096, 7160, 7168, 8184, 8192, 11_256, 11_264, 12_280];
        let zeros = [false, true, true, false, false, true, true, false, false, true, true];
        assert_eq!(are_zeros(quarter, &places), zeros);
        // A tenth is 410 bytes: from 3686 on.
        let tenth = whole(Content::new(7, 3, 0.1), 4096);
        assert!(tenth[3685] != 0 && tenth[3686..] == [0; 410]);
        assert_eq!(are_zeros(Content::new(7, 3, 1.0), &[0, 4088, 4096]), [true; 3]);
        assert_eq!(are_zeros(Content::new(7, 3, 9.0), &[0]), [true]);
        assert_eq!(are_zeros(Content::new(7, 3, -1.0), &[0, 4088]), [false; 2]);
    }

    #[test]
    fn the_first_difference_is_found_in_any_page() {
        let content = Content::new(7, 3, 0.0);
        let mut data = vec![0; 10_000];
        content.fill(100, &mut data);
        for at in [9_999, 8_192, 4_096, 4_095, 0] {
            data[at] ^= 1;
            assert_eq!(content.first_difference(100, &data), Some(100 + at as u64));
        }
        assert_eq!(first_difference(b"abcd", b"abxx"), Some(2));
        assert_eq!(first_difference(b"abcd", b"abcd"), None);
    }

    #[test]
    fn content_words_are_unique() {
        let octets = whole(Content::new(7, 3, 0.0), 1 << 20);
        let words: BTreeSet<&[u8]> = octets.chunks(8).collect();
        assert_eq!(words.len(), octets.len() / 8);
        // All values are equally frequent, so Huffman's code gains nothing.
        let mut counts = [0_u32; 256];
        for octet in &octets {
            counts[usize::from(*octet)] += 1;
        }
        assert!(counts.iter().all(|count| (3700..4500).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_zero_share_is_as_requested() {
        let octets = whole(Content::new(7, 3, 0.25), 1 << 16);
        let zeros: usize = octets.iter().map(|octet| usize::from(*octet == 0)).sum();
        assert!((16_384..16_800).contains(&zeros), "{zeros}");
    }

    proptest! {
        #[test]
        fn any_range_equals_that_part_of_the_file(
            from in 0_usize..9000, length in 0_usize..9000, ratio in 0.0..=1.0,
        ) {
            let content = Content::new(42, 5, ratio);
            let all = whole(content, 18_000);
            let mut part = vec![1; length];
            content.fill(from as u64, &mut part);
            prop_assert_eq!(&part[..], &all[from..from + length]);
            prop_assert_eq!(content.first_difference(from as u64, &part), None);
            if length > 0 {
                let place = length / 2;
                part[place] ^= 0x80;
                let found = content.first_difference(from as u64, &part);
                prop_assert_eq!(found, Some((from + place) as u64));
            }
        }
    }
}
