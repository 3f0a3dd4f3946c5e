//! Eviction when all places are taken: one rule for stations, listeners and their budgets.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Silence after which a client that has done little may be evicted.
pub const GRACE_NS: u64 = 200_000_000;
/// A client with this many requests counts as served: opening one file takes more.
const SERVED_REQUESTS: u32 = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Only the start of a session, which a stranger can forge.
    Begun,
    Little,
    Known,
}

impl Use {
    pub const fn of(requests: u32) -> Self {
        match requests {
            0 => Self::Begun,
            1..SERVED_REQUESTS => Self::Little,
            _ => Self::Known,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Standing<A> {
    pub address: A,
    pub used: Use,
    pub silent_ns: u64,
}

/// Maximum clients, in all and per address.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    pub all: usize,
    pub of_one: usize,
}

/// Whether there is room for one more client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room<K> {
    Free,
    /// After evicting this client.
    InsteadOf(K),
    None,
}

impl Places {
    /// Room for one more client of `address`. An address at its limit evicts its own clients.
    pub fn room<A: Ord, K>(
        self,
        address: &A,
        clients: impl Iterator<Item = (K, Standing<A>)>,
    ) -> Room<K> {
        let (mut keys, mut clients): (Vec<K>, Vec<_>) = clients.unzip();
        let of_one = clients.iter().filter(|one| one.address == *address).count();
        let is_one_full = of_one >= self.of_one;
        if !is_one_full && clients.len() < self.all {
            return Room::Free;
        }
        if is_one_full {
            for other in clients.iter_mut().filter(|one| one.address != *address) {
                other.used = Use::Known;
            }
        }
        let first = least_useful(&clients, GRACE_NS).first().copied();
        first.map_or(Room::None, |index| Room::InsteadOf(keys.swap_remove(index)))
    }
}

/// Grace period of each client while `wanted` others wait for one of `places`, at least `least_ns`.
/// It shrinks with the square of `places / (places + wanted)`, so that the turns of all waiting
/// clients add up to less than one grace period (1/4 + 1/9 + 1/16 …).
pub fn crowded_grace_ns(grace_ns: u64, least_ns: u64, places: usize, wanted: usize) -> u64 {
    let share = places as f64 / (places + wanted).max(1) as f64;
    ((grace_ns as f64 * share * share) as u64).max(least_ns)
}

/// Indices of clients to evict, in order: those that have only begun, then little-used ones silent
/// for `grace_ns`. In each group, the address with the most places goes first, then the longest
/// silence.
pub fn least_useful<A: Ord>(all: &[Standing<A>], grace_ns: u64) -> Vec<usize> {
    let mut places = BTreeMap::new();
    for one in all {
        *places.entry(&one.address).or_insert(0_usize) += 1;
    }
    let is_dropped = |one: &Standing<A>| match one.used {
        Use::Begun => true,
        Use::Little => one.silent_ns >= grace_ns,
        Use::Known => false,
    };
    let mut found: Vec<_> = (0..all.len()).filter(|index| is_dropped(&all[*index])).collect();
    // The sort is stable: among equals, the earlier one comes first.
    found.sort_by_key(|index| (all[*index].used, Reverse(all[*index].silent_ns)));
    let left = |index: usize| {
        let left = places.get_mut(&all[index].address)?;
        *left -= 1;
        Some((all[index].used, Reverse(*left), Reverse(all[index].silent_ns), index))
    };
    let mut found: Vec<_> = found.into_iter().filter_map(left).collect();
    found.sort_unstable();
    found.into_iter().map(|(.., index)| index).collect()
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
            (&[][..], &[][..]),
            (&[(1, Use::Known, 99_000), (2, Use::Little, 199)], &[]),
            (&[(1, Use::Known, 99_000), (2, Use::Little, 200)], &[1]),
            (&[(1, Use::Little, 99_000), (2, Use::Begun, 0)], &[1, 0]),
            // The address with the most places goes first, then the longest silent one; among equals, the
            // first.
            (&[(1, Use::Little, 900), (2, Use::Little, 300), (2, Use::Little, 400)], &[2, 0, 1]),
            (&[(1, Use::Little, 300), (2, Use::Little, 900)], &[1, 0]),
            (&[(1, Use::Begun, 5), (2, Use::Begun, 5), (3, Use::Begun, 4)], &[0, 1, 2]),
            (&[(1, Use::Known, 5), (1, Use::Little, 300), (2, Use::Little, 900)], &[1, 2]),
        ] {
            assert_eq!(least_useful(&all(given), GRACE_NS), expected, "{given:?}");
        }
    }

    #[test]
    fn more_waiting_clients_shorten_the_grace_period() {
        let found = [0, 100, 300, 3000].map(|wanted| crowded_grace_ns(1600, 50, 100, wanted));
        assert_eq!(found, [1600, 400, 100, 50]);
    }

    #[test]
    fn a_full_address_evicts_its_own_clients() {
        let places = Places { all: 4, of_one: 2 };
        let clients = all(&[(1, Use::Begun, 9), (2, Use::Known, 0), (2, Use::Begun, 1)]);
        let room = |places: Places, address, clients: &[Standing<u8>]| {
            places.room(&address, "abc".chars().zip(clients.iter().copied()))
        };
        assert_eq!(room(places, 3, &clients), Room::Free);
        assert_eq!(room(places, 2, &clients), Room::InsteadOf('c'));
        assert_eq!(room(places, 1, &clients), Room::Free);
        let full = Places { all: 2, ..places };
        assert_eq!(room(full, 3, &clients[1..2]), Room::Free);
        assert_eq!(room(full, 3, &clients[..2]), Room::InsteadOf('a'));
        assert_eq!(room(full, 3, &all(&[(1, Use::Known, 9); 2])), Room::None);
    }
}
