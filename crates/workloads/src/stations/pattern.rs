//! Block content as a function of seed, station, position and generation, so that a misplaced, foreign or outdated
//! block can be distinguished from a damaged one.
//!
//! A block begins with a description, which selects the following bytes from a shared table. So filling or
//! comparing a block costs a memory copy or comparison.

use crate::dataset::mix;

/// Bytes of the description: tag, station, block, generation, length, check.
pub const HEAD_BYTES: usize = 32;
/// Bytes of the table: fits a processor's own cache, and exceeds a compressor's window.
const TABLE_BYTES: usize = 1 << 18;
/// The golden ratio in 64 bits.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// Earlier generations tried for a block without a description.
const GENERATIONS_TRIED: u32 = 8;
/// Shorter blocks cannot be distinguished by content.
const TELLING_BYTES: usize = 8;

#[derive(Debug)]
pub struct Pattern {
    tag: u64,
    /// Stored twice, so that every range is contiguous.
    table: Box<[u8]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub station: u32,
    pub block: u32,
    /// How often the block was written; 0 as prepared.
    pub generation: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    Stale { found: u32 },
    Misplaced { station: u32, block: u32 },
    Corrupt { at: usize },
}

impl Pattern {
    pub fn new(seed: u64) -> Self {
        let tag = mix(seed ^ 0x6c61_6e6c_6162_2d73);
        let words = TABLE_BYTES as u64 / 8;
        let once = (0..words)
            .flat_map(|place| mix(tag.wrapping_add(place.wrapping_mul(STEP))).to_le_bytes());
        let once: Vec<u8> = once.collect();
        Self { tag, table: [once.as_slice(), once.as_slice()].concat().into() }
    }

    pub const fn memory_bytes() -> u64 {
        2 * TABLE_BYTES as u64
    }

    pub fn fill(&self, place: Place, buffer: &mut [u8]) {
        if buffer.len() < HEAD_BYTES {
            let key = self.key(place);
            for (number, part) in buffer.chunks_mut(8).enumerate() {
                part.copy_from_slice(&word(key, number)[..part.len()]);
            }
            return;
        }
        let (head, body) = buffer.split_at_mut(HEAD_BYTES);
        head.copy_from_slice(&self.head(place, body.len()));
        let mut from = self.key(place);
        for part in body.chunks_mut(TABLE_BYTES) {
            part.copy_from_slice(self.part(from, part.len()));
            from = from.wrapping_add(STEP);
        }
    }

    /// The description of a block whose rest is one range of the table: [`Self::body`]. `None` for a block without
    /// description, or a longer one.
    pub fn description(&self, place: Place, length: usize) -> Option<[u8; HEAD_BYTES]> {
        let body_bytes = length.checked_sub(HEAD_BYTES).filter(|body| *body <= TABLE_BYTES)?;
        Some(self.head(place, body_bytes))
    }

    /// The bytes of a block after its description.
    ///
    /// # Panics If [`Self::description`] is `None` for the block.
    pub fn body(&self, place: Place, length: usize) -> &[u8] {
        self.part(self.key(place), length - HEAD_BYTES)
    }

    pub fn check(&self, place: Place, data: &[u8]) -> Result<(), Wrong> {
        if data.len() < HEAD_BYTES {
            return match self.differs_short(place, data) {
                None => Ok(()),
                Some(at) => Err(self.judge_short(place, data, at)),
            };
        }
        let (head, body) = data.split_at(HEAD_BYTES);
        let expected = self.head(place, body.len());
        if head != expected {
            return Err(self.judge_head(place, head, &expected, body.len()));
        }
        let mut from = self.key(place);
        for (number, part) in body.chunks(TABLE_BYTES).enumerate() {
            let right = self.part(from, part.len());
            // Comparing everything at once is many times faster than byte by byte.
            if part != right {
                let within = part.iter().zip(right).position(|(found, right)| found != right);
                let at = HEAD_BYTES + number * TABLE_BYTES + within.unwrap_or(0);
                return Err(Wrong::Corrupt { at });
            }
            from = from.wrapping_add(STEP);
        }
        Ok(())
    }

    fn key(&self, place: Place) -> u64 {
        let of = u64::from(place.station) << 32 | u64::from(place.block);
        mix(self.tag ^ mix(of)).wrapping_add(u64::from(place.generation).wrapping_mul(STEP))
    }

    fn head(&self, place: Place, body_bytes: usize) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        head[..8].copy_from_slice(&self.tag.to_le_bytes());
        head[8..12].copy_from_slice(&place.station.to_le_bytes());
        head[12..16].copy_from_slice(&place.block.to_le_bytes());
        head[16..20].copy_from_slice(&place.generation.to_le_bytes());
        head[20..24].copy_from_slice(&(body_bytes as u32).to_le_bytes());
        let check = mix(self.key(place) ^ body_bytes as u64);
        head[24..].copy_from_slice(&check.to_le_bytes());
        head
    }

    fn part(&self, key: u64, length: usize) -> &[u8] {
        // The upper bits vary most between successive keys.
        let from = (key >> 40) as usize % TABLE_BYTES;
        &self.table[from..from + length]
    }

    fn judge_head(&self, place: Place, head: &[u8], expected: &[u8], body_bytes: usize) -> Wrong {
        let number = |at: usize| {
            head[at..at + 4].iter().rev().fold(0_u32, |all, octet| all << 8 | u32::from(*octet))
        };
        let found = Place { station: number(8), block: number(12), generation: number(16) };
        if head == self.head(found, body_bytes) {
            if (found.station, found.block) != (place.station, place.block) {
                return Wrong::Misplaced { station: found.station, block: found.block };
            }
            if found.generation < place.generation {
                return Wrong::Stale { found: found.generation };
            }
        }
        let at = head.iter().zip(expected).position(|(found, right)| found != right);
        Wrong::Corrupt { at: at.unwrap_or(0) }
    }

    fn differs_short(&self, place: Place, data: &[u8]) -> Option<usize> {
        let key = self.key(place);
        data.chunks(8).enumerate().find_map(|(number, part)| {
            let right = word(key, number);
            let within = part.iter().zip(right).position(|(found, right)| *found != right);
            within.map(|within| 8 * number + within)
        })
    }

    fn judge_short(&self, place: Place, data: &[u8], at: usize) -> Wrong {
        if data.len() >= TELLING_BYTES {
            let oldest = place.generation.saturating_sub(GENERATIONS_TRIED);
            for generation in (oldest..place.generation).rev() {
                if self.differs_short(Place { generation, ..place }, data).is_none() {
                    return Wrong::Stale { found: generation };
                }
            }
        }
        Wrong::Corrupt { at }
    }
}

fn word(key: u64, number: usize) -> [u8; 8] {
    mix(key.wrapping_add((number as u64 + 1).wrapping_mul(STEP))).to_le_bytes()
}

impl Wrong {
    pub fn words(self, place: Place) -> String {
        let Place { station, block, generation } = place;
        let asked = format!("block {block} of station {station}");
        match self {
            Self::Stale { found } => format!(
                "{asked}: found what it was after {found} writes; {generation} were confirmed"
            ),
            Self::Misplaced { station, block } => {
                format!("{asked}: found block {block} of station {station}")
            }
            Self::Corrupt { at } => {
                format!("{asked}: octet {at} is not as it was written, {generation} times by then")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use proptest::prelude::*;

    static PATTERN: LazyLock<Pattern> = LazyLock::new(|| Pattern::new(1));

    const PLACE: Place = Place { station: 7, block: 3, generation: 5 };

    fn filled(place: Place, length: usize) -> Vec<u8> {
        let mut data = vec![0; length];
        PATTERN.fill(place, &mut data);
        data
    }

    #[test]
    fn errors_are_distinguished() {
        let pattern = &*PATTERN;
        for length in [32, 33, 750, 6000, TABLE_BYTES + 32, TABLE_BYTES * 2 + 77] {
            let found = |place| pattern.check(PLACE, &filled(place, length));
            assert_eq!(found(PLACE), Ok(()), "{length}");
            let old = found(Place { generation: 2, ..PLACE });
            assert_eq!(old, Err(Wrong::Stale { found: 2 }));
            let other = found(Place { block: 4, ..PLACE });
            assert_eq!(other, Err(Wrong::Misplaced { station: 7, block: 4 }));
            let foreign = found(Place { station: 8, block: 3, generation: 9 });
            assert_eq!(foreign, Err(Wrong::Misplaced { station: 8, block: 3 }));
            let never = found(Place { generation: 6, ..PLACE });
            assert_eq!(never, Err(Wrong::Corrupt { at: 16 }));
            assert_eq!(pattern.check(PLACE, &vec![0; length]), Err(Wrong::Corrupt { at: 0 }));
        }
    }

    #[test]
    fn a_torn_block_is_corrupt() {
        let (new, old) = (filled(PLACE, 6000), filled(Place { generation: 4, ..PLACE }, 6000));
        let torn = [&new[..3000], &old[3000..]].concat();
        assert_eq!(PATTERN.check(PLACE, &torn), Err(Wrong::Corrupt { at: 3000 }));
    }

    #[test]
    fn short_blocks_are_distinguished_from_older_ones() {
        let pattern = &*PATTERN;
        for length in 8..32 {
            let old = filled(Place { generation: 4, ..PLACE }, length);
            assert_eq!(pattern.check(PLACE, &old), Err(Wrong::Stale { found: 4 }), "{length}");
        }
    }

    #[test]
    fn block_content_never_changes_between_versions() {
        let text = |data: &[u8]| {
            data.iter().map(|octet| format!("{octet:02x}")).collect::<Vec<_>>().concat()
        };
        assert_eq!(
            text(&filled(PLACE, 40)),
            "59435e250f6bd319070000000300000005000000\
             08000000e1e51e7a346f3a9c5c4a24243b467f9a"
        );
        assert_eq!(text(&filled(PLACE, 20)), "38905d067e0bc2a2abda89af56832033e8941cd8");
        let long = filled(PLACE, HEAD_BYTES + TABLE_BYTES + 8);
        assert_eq!(text(&long[HEAD_BYTES + TABLE_BYTES..]), "647cb3e221019387");
        assert_eq!(Pattern::memory_bytes(), 524_288);
    }

    #[test]
    fn the_first_wrong_byte_is_named_wherever_it_is() {
        let place = |length: usize, at: usize| {
            let mut data = filled(PLACE, length);
            data[at] ^= 1;
            PATTERN.check(PLACE, &data)
        };
        for (length, at) in [(1, 0), (7, 6), (8, 7), (20, 9), (31, 30), (32, 8), (40, 39)] {
            assert_eq!(place(length, at), Err(Wrong::Corrupt { at }), "{length}");
        }
        let long = 2 * TABLE_BYTES + 100;
        for at in [HEAD_BYTES + TABLE_BYTES + 5, HEAD_BYTES + 2 * TABLE_BYTES] {
            assert_eq!(place(long, at), Err(Wrong::Corrupt { at }));
        }
    }

    #[test]
    fn short_blocks_match_one_of_the_last_eight_writes() {
        let found = |generation, length| {
            let now = Place { generation: 20, ..PLACE };
            PATTERN.check(now, &filled(Place { generation, ..PLACE }, length))
        };
        assert_eq!(found(12, 8), Err(Wrong::Stale { found: 12 }));
        assert_eq!(found(19, 8), Err(Wrong::Stale { found: 19 }));
        assert!(matches!(found(11, 8), Err(Wrong::Corrupt { .. })));
        assert!(matches!(found(21, 8), Err(Wrong::Corrupt { .. })));
        // Shorter sequences are too similar.
        assert!(matches!(found(19, 7), Err(Wrong::Corrupt { .. })));
    }

    #[test]
    fn only_single_part_blocks_are_stored_in_two_pieces() {
        let is_described = |length| PATTERN.description(PLACE, length).is_some();
        assert_eq!([31, 32, 262_176, 262_177].map(is_described), [false, true, true, false]);
    }

    #[test]
    fn errors_are_described_in_words() {
        let words = |wrong: Wrong| wrong.words(PLACE);
        assert_eq!(
            words(Wrong::Stale { found: 2 }),
            "block 3 of station 7: found what it was after 2 writes; 5 were confirmed"
        );
        assert_eq!(
            words(Wrong::Misplaced { station: 8, block: 1 }),
            "block 3 of station 7: found block 1 of station 8"
        );
        assert_eq!(
            words(Wrong::Corrupt { at: 16 }),
            "block 3 of station 7: octet 16 is not as it was written, 5 times by then"
        );
    }

    #[test]
    fn blocks_of_another_trial_are_not_ours() {
        let data = filled(PLACE, 750);
        assert_eq!(Pattern::new(2).check(PLACE, &data), Err(Wrong::Corrupt { at: 0 }));
    }

    proptest! {
        #[test]
        fn two_pieces_form_the_whole_block(
            length in 32_usize..=TABLE_BYTES + 32, station: u32, block: u32, generation: u32,
        ) {
            let place = Place { station, block, generation };
            let head = PATTERN.description(place, length).expect("a description");
            prop_assert_eq!([&head, PATTERN.body(place, length)].concat(), filled(place, length));
        }

        #[test]
        fn every_wrong_byte_is_found(
            length in 1_usize..5000, at in 0_usize..5000, change in 1_u8..=255,
            station: u32, block: u32, generation: u32,
        ) {
            let (place, at) = (Place { station, block, generation }, at % length);
            let mut data = filled(place, length);
            prop_assert_eq!(PATTERN.check(place, &data), Ok(()));
            data[at] ^= change;
            prop_assert!(PATTERN.check(place, &data).is_err());
        }
    }
}
