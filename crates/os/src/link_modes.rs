//! The speeds that a device supports; the one in use may be lower.

use super::ethtool::{SIOCETHTOOL, ask};

const GET_LINK_SETTINGS: u32 = 0x4c;
/// Words of a mask that fit here; Linux 6 uses 4.
const WORDS: usize = 16;

#[repr(C)]
struct LinkSettings {
    command: u32,
    speed: u32,
    before_words: [u8; 7],
    words: i8,
    behind_words: [u8; 4],
    reserved: [u32; 7],
    masks: [u32; 3 * WORDS],
}

/// Speeds in Mbit/s by first and last bit in a mask (`enum ethtool_link_mode_bit_indices`,
/// `ethtool.h`). Other bits are not speeds, or are newer than this table.
const SPEEDS: [(usize, usize, u64); 34] = [
    (0, 1, 10),
    (2, 3, 100),
    (4, 5, 1_000),
    (12, 12, 10_000),
    (15, 15, 2_500),
    (17, 17, 1_000),
    (18, 19, 10_000),
    (21, 22, 20_000),
    (23, 26, 40_000),
    (27, 30, 56_000),
    (31, 33, 25_000),
    (34, 35, 50_000),
    (36, 39, 100_000),
    (40, 40, 50_000),
    (41, 41, 1_000),
    (42, 46, 10_000),
    (47, 47, 2_500),
    (48, 48, 5_000),
    (52, 56, 50_000),
    (57, 61, 100_000),
    (62, 66, 200_000),
    (67, 67, 100),
    (68, 68, 1_000),
    (69, 73, 400_000),
    (75, 79, 100_000),
    (80, 84, 200_000),
    (85, 89, 400_000),
    (90, 91, 100),
    (92, 92, 10),
    (93, 98, 800_000),
    (99, 102, 10),
    (103, 107, 200_000),
    (108, 113, 400_000),
    (114, 119, 800_000),
];

/// The highest speed that a device supports, bit/s; `None` where its driver does not report it.
pub fn supported_speed_bps(device: &str) -> Option<u64> {
    let empty = |words| LinkSettings {
        command: GET_LINK_SETTINGS,
        speed: 0,
        before_words: [0; 7],
        words,
        behind_words: [0; 4],
        reserved: [0; 7],
        masks: [0; 3 * WORDS],
    };
    // With zero words the kernel replies with their number, negated. With that number it fills them.
    let mut settings = empty(0);
    ask(device, SIOCETHTOOL, &mut settings).ok()?;
    let words = usize::from(settings.words.checked_neg()?.cast_unsigned());
    if !(1..=WORDS).contains(&words) {
        return None;
    }
    let mut settings = empty(i8::try_from(words).ok()?);
    ask(device, SIOCETHTOOL, &mut settings).ok()?;
    highest_mbps(&settings.masks[..words]).map(|megabits| megabits * 1_000_000)
}

fn highest_mbps(mask: &[u32]) -> Option<u64> {
    let has = |bit: usize| mask.get(bit / 32).is_some_and(|word| word >> (bit % 32) & 1 == 1);
    let speeds = SPEEDS.iter().filter(|(first, last, _)| (*first..=*last).any(has));
    speeds.map(|(_, _, megabits)| *megabits).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_speed_of_a_mask_is_found() {
        // A gigabit adapter: all twisted-pair modes up to 1000, and modes without a speed.
        assert_eq!(highest_mbps(&[0x62ff, 0, 0, 0]), Some(1_000));
        assert_eq!(highest_mbps(&[0x20ef, 0x8000, 0, 0]), Some(2_500));
        assert_eq!(highest_mbps(&[1 << 6]), None);
        assert_eq!(highest_mbps(&[]), None);
    }

    #[test]
    fn each_link_mode_bit_has_one_speed() {
        assert!(SPEEDS.windows(2).all(|two| two[0].0 <= two[0].1 && two[0].1 < two[1].0));
    }

    #[test]
    fn devices_without_link_modes_have_no_known_speed() {
        assert_eq!(supported_speed_bps("lo"), None);
        assert_eq!(supported_speed_bps("no-such"), None);
    }
}
