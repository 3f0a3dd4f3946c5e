//! Eviction when all places are taken: one rule for stations, listeners and their budgets.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Grace period of a client while one other waits.
pub const GRACE_NS: u64 = 200_000_000;
/// However many wait, a client that has only begun keeps its place for this long.
pub const LEAST_GRACE_NS: u64 = 10_000_000;
/// A client with this many requests counts as served: opening one file takes more.
pub const SERVED_REQUESTS: u32 = 6;

#[derive(Debug, Clone, Copy)]
pub struct Standing<A> {
    pub address: A,
    /// Requests with which the client went on: each needed an earlier answer. A stranger can forge the first request.
    pub requests: u32,
    pub silent_ns: u64,
    pub is_served: bool,
}

impl<A> Standing<A> {
    /// A client of a station, served once it has sent enough requests.
    pub const fn of(address: A, requests: u32, silent_ns: u64) -> Self {
        Self { address, requests, silent_ns, is_served: requests >= SERVED_REQUESTS }
    }

    /// Silence, divided by the square of its requests: who has done more may be silent for longer.
    fn weighed_ns(&self) -> u64 {
        self.silent_ns.saturating_add(1) / u64::from(self.requests.min(SERVED_REQUESTS) + 1).pow(2)
    }
}

/// Maximum clients, in all and per address.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    pub all: usize,
    pub of_one: usize,
}

/// All clients are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl Places {
    /// The client to evict for one more client of `address`; `None` if a place is free. No client has a grace period,
    /// as the new one waits for an answer. An address at its limit evicts its own clients.
    pub fn room<A: Ord, K>(
        self,
        address: &A,
        clients: impl Iterator<Item = (K, Standing<A>)>,
    ) -> Result<Option<K>, Full> {
        let (mut keys, mut clients): (Vec<K>, Vec<_>) = clients.unzip();
        let of_one = clients.iter().filter(|one| one.address == *address).count();
        let is_one_full = of_one >= self.of_one;
        if !is_one_full && clients.len() < self.all {
            return Ok(None);
        }
        for other in &mut clients {
            other.is_served |= is_one_full && other.address != *address;
        }
        let first = least_useful(&clients, 0).first().copied().ok_or(Full)?;
        Ok(Some(keys.swap_remove(first)))
    }
}

/// Grace period of each client while `wanted` others wait for one of `places`, at least `least_ns`.
/// It shrinks with the square of `places / (places + wanted)`, so that the turns of all waiting
/// clients add up to less than one grace period (1/4 + 1/9 + 1/16 …).
pub fn crowded_grace_ns(grace_ns: u64, least_ns: u64, places: usize, wanted: usize) -> u64 {
    let share = places as f64 / (places + wanted).max(1) as f64;
    ((grace_ns as f64 * share * share) as u64).max(least_ns)
}

/// Indices of clients to evict, in order: those whose weighed silence is at least `grace_ns` and that are not served.
/// The address with the most places goes first, then the longest weighed silence.
pub fn least_useful<A: Ord>(all: &[Standing<A>], grace_ns: u64) -> Vec<usize> {
    let mut places = BTreeMap::new();
    for one in all {
        *places.entry(&one.address).or_insert(0_usize) += 1;
    }
    let is_dropped = |one: &Standing<A>| !one.is_served && one.weighed_ns() >= grace_ns;
    let mut found: Vec<_> = (0..all.len()).filter(|index| is_dropped(&all[*index])).collect();
    // The sort is stable: among equals, the earlier one comes first.
    found.sort_by_key(|index| Reverse(all[*index].weighed_ns()));
    let left = |index: usize| {
        let left = places.get_mut(&all[index].address)?;
        *left -= 1;
        Some((Reverse(*left), Reverse(all[index].weighed_ns()), index))
    };
    let mut found: Vec<_> = found.into_iter().filter_map(left).collect();
    found.sort_unstable();
    found.into_iter().map(|(.., index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(given: &[(u8, u32, u64)]) -> Vec<Standing<u8>> {
        let standing = |&(address, requests, ms): &(u8, u32, u64)| {
            Standing::of(address, requests, ms * 1_000_000)
        };
        given.iter().map(standing).collect()
    }

    /// The live page, which is in Python, keeps to the same cases.
    #[test]
    fn the_least_useful_clients_are_evicted_first() {
        let number = |text: &str| text.parse::<u64>().unwrap();
        let is_case = |line: &&str| !line.starts_with('#');
        for case in include_str!("../tests/room_cases.txt").lines().filter(is_case) {
            let [clients, grace, evicted] = case.split('|').collect::<Vec<_>>()[..] else {
                panic!("{case}")
            };
            let client = |text: &str| {
                let [address, requests, ms] = text.split(':').map(number).collect::<Vec<_>>()[..]
                else {
                    panic!("{case}")
                };
                (address as u8, requests as u32, ms)
            };
            let clients: Vec<_> = clients.split_whitespace().map(client).collect();
            let evicted: Vec<_> =
                evicted.split_whitespace().map(|place| number(place) as usize).collect();
            let grace_ns = number(grace.trim()) * 1_000_000;
            assert_eq!(least_useful(&all(&clients), grace_ns), evicted, "{case}");
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
        let clients = all(&[(1, 0, 9), (2, 6, 0), (2, 0, 1)]);
        let room = |places: Places, address, clients: &[Standing<u8>]| {
            places.room(&address, "abc".chars().zip(clients.iter().copied()))
        };
        assert_eq!(room(places, 3, &clients), Ok(None));
        assert_eq!(room(places, 2, &clients), Ok(Some('c')));
        assert_eq!(room(places, 1, &clients), Ok(None));
        let full = Places { all: 2, ..places };
        assert_eq!(room(full, 3, &clients[1..2]), Ok(None));
        assert_eq!(room(full, 3, &clients[..2]), Ok(Some('a')));
        assert_eq!(room(full, 3, &all(&[(1, 6, 9); 2])), Err(Full));
    }
}
