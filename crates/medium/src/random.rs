//! Seeded random numbers, the same on every platform: xoshiro256++, seeded by splitmix64 (D. Blackman
//! and S. Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47(4), 2021).

#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The generator of a seed. Each `stream` yields different numbers.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixer = split_mix(&mut seed.clone()) ^ stream;
        Self { state: std::array::from_fn(|_| split_mix(&mut mixer)) }
    }

    fn next(&mut self) -> u64 {
        let state = &mut self.state;
        let result = state[0].wrapping_add(state[3]).rotate_left(23).wrapping_add(state[0]);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        result
    }

    /// Uniform from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform from 0 to below `2^bits`.
    pub fn bits(&mut self, bits: u32) -> u64 {
        self.next().checked_shr(64 - bits).unwrap_or(0)
    }

    /// True with this probability: never at 0, always at 1.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixer_matches_published_values() {
        // From the reference implementation, with seed 1234567.
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn the_generator_matches_published_values() {
        // From the state 1, 2, 3, 4.
        let mut random = Random { state: [1, 2, 3, 4] };
        assert_eq!(random.next(), 41_943_041);
        assert_eq!(random.next(), 58_720_359);
        assert_eq!(random.next(), 3_588_806_011_781_223);
    }

    #[test]
    fn random_streams_of_one_seed_differ_and_are_repeatable() {
        let numbers = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.next(), random.next()]
        };
        assert_eq!(numbers(7, 1), numbers(7, 1));
        assert_ne!(numbers(7, 1), numbers(7, 2));
        assert_ne!(numbers(7, 1), numbers(8, 1));
    }

    #[test]
    fn draws_stay_within_their_range() {
        let mut random = Random::new(1, 0);
        for _ in 0..1000 {
            assert_eq!(random.bits(0), 0);
            assert!(random.bits(10) < 1024);
            assert!(!random.chance(0.0));
            assert!(random.chance(1.0));
        }
    }
}
