//! Who makes room where all places are taken: one rule for stations and listeners.

/// Silence after which a client that has done little is dropped for another one.
pub const GRACE_NS: u64 = 200_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// It has only begun: a stranger can forge that.
    Begun,
    Little,
    Known,
}

#[derive(Debug, Clone, Copy)]
pub struct Standing<A> {
    pub address: A,
    pub used: Use,
    pub silent_ns: u64,
}

/// The client that makes room, by its index: first who has only begun, then who has done little and is silent; of
/// these one of the address with the most places, and the one that has been silent for longest. `None`: there is
/// none to be dropped.
pub fn least_useful<A: PartialEq>(all: &[Standing<A>]) -> Option<usize> {
    let is_dropped = |one: &Standing<A>| match one.used {
        Use::Begun => true,
        Use::Little => one.silent_ns >= GRACE_NS,
        Use::Known => false,
    };
    let least = all.iter().filter(|one| is_dropped(one)).map(|one| one.used).min()?;
    let found = all.iter().enumerate().filter(|(_, one)| one.used == least && is_dropped(one));
    let places = |of: &Standing<A>| all.iter().filter(|one| one.address == of.address).count();
    // The first of those that are alike: it came before the others.
    let found = found.rev().max_by_key(|(_, one)| (places(one), one.silent_ns));
    found.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(given: &[(u8, Use, u64)]) -> Vec<Standing<u8>> {
        let standing = |&(address, used, silent_ms): &(u8, Use, u64)| Standing {
            address,
            used,
            silent_ns: silent_ms * 1_000_000,
        };
        given.iter().map(standing).collect()
    }

    #[test]
    fn served_clients_are_never_dropped() {
        for (given, expected) in [
            (&[][..], None),
            (&[(1, Use::Known, 99_000), (2, Use::Little, 199)], None),
            (&[(1, Use::Known, 99_000), (2, Use::Little, 200)], Some(1)),
            (&[(1, Use::Little, 99_000), (2, Use::Begun, 0)], Some(1)),
            // Of one address with many places first, and then the longest silent; the first of those alike.
            (&[(1, Use::Little, 900), (2, Use::Little, 300), (2, Use::Little, 400)], Some(2)),
            (&[(1, Use::Little, 300), (2, Use::Little, 900)], Some(1)),
            (&[(1, Use::Begun, 5), (2, Use::Begun, 5), (3, Use::Begun, 4)], Some(0)),
            (&[(1, Use::Known, 5), (1, Use::Little, 300), (2, Use::Little, 900)], Some(1)),
        ] {
            assert_eq!(least_useful(&all(given)), expected, "{given:?}");
        }
    }
}
