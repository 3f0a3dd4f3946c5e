//! Detection of a segment's framing and network number.
//!
//! Like NWLink, a station queries routers in every framing, and listens for a while before it claims its name.
//! Until it hears something, it uses 802.2 and network zero, which every station reads as "this segment".

use lanlab_units::Instant;
use lanlab_wire::ethernet::Framing;
use lanlab_wire::ipx::framing;

const QUESTIONS: u32 = 2;
const INTERVAL_NS: u64 = 500_000_000;

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) configured: Option<Framing>,
    networks: [Option<u32>; framing::ALL.len()],
    heard: [u64; framing::ALL.len()],
    asked: u32,
    next_at: Option<Instant>,
}

impl Segment {
    pub(super) fn new(configured: Option<Framing>, network: Option<u32>, now: Instant) -> Self {
        let next_at = (configured.is_none() || network.is_none()).then_some(now);
        let (networks, heard) = ([network; framing::ALL.len()], [0; framing::ALL.len()]);
        Self { configured, networks, heard, asked: 0, next_at }
    }

    pub(super) fn known_at(&self) -> Option<Instant> {
        let left_ns = u64::from(QUESTIONS - self.asked) * INTERVAL_NS;
        self.next_at.map(|next| next.plus_nanos(left_ns))
    }

    /// The framing of the segment: configured, or the most frequent so far.
    pub(super) fn framing(&self) -> Framing {
        self.configured.unwrap_or_else(|| {
            // On a tie the first one wins: they are in order of preference.
            let most = self.heard.iter().max().copied().unwrap_or(0);
            let at = self.heard.iter().position(|count| *count == most).unwrap_or(0);
            framing::ALL[at]
        })
    }

    pub(super) fn answer_framing(&self, theirs: Framing) -> Framing {
        self.configured.unwrap_or(theirs)
    }

    /// Framings for a broadcast: all of them, or only the segment's.
    pub(super) fn asked_in(&self, in_all: bool) -> impl Iterator<Item = Framing> + use<> {
        let only = if in_all { self.configured } else { Some(self.framing()) };
        framing::ALL.into_iter().filter(move |one| only.is_none_or(|only| only == *one))
    }

    pub(super) fn hear(&mut self, found: Framing) {
        self.heard[place(found)] += 1;
    }

    /// A station of this segment reported its network number in a framing. False if it contradicts ours.
    pub(super) fn learn(&mut self, found: Framing, network: u32) -> bool {
        network == 0 || *self.networks[place(found)].get_or_insert(network) == network
    }

    /// The network number of a framing; `None` if unknown.
    pub(super) fn network(&self, framing: Framing) -> Option<u32> {
        self.networks[place(framing)]
    }

    pub(super) const fn poll_timeout(&self) -> Option<Instant> {
        self.next_at
    }

    pub(super) fn is_to_ask(&mut self, now: Instant) -> bool {
        let Some(next_at) = self.next_at.filter(|at| *at <= now) else { return false };
        if self.asked == QUESTIONS {
            self.next_at = None;
            return false;
        }
        self.asked += 1;
        self.next_at = Some(next_at.plus_nanos(INTERVAL_NS));
        true
    }
}

fn place(framing: Framing) -> usize {
    framing::ALL.iter().position(|one| *one == framing).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(mut segment: Segment) -> (Framing, u32) {
        let mut asked = 0;
        while let Some(at) = segment.poll_timeout() {
            assert!(segment.known_at().is_some());
            asked += u32::from(segment.is_to_ask(at));
        }
        (segment.framing(), asked)
    }

    #[test]
    fn the_most_frequent_framing_wins_with_802_2_as_default() {
        let new = || Segment::new(None, None, Instant::ZERO);
        assert_eq!(after(new()), (framing::IEEE_802_2, QUESTIONS));
        let mut segment = new();
        for one in [framing::ETHERNET_II, framing::RAW_802_3, framing::RAW_802_3] {
            segment.hear(one);
        }
        assert_eq!(after(segment), (framing::RAW_802_3, QUESTIONS));
        let all = Segment::new(Some(framing::SNAP), Some(7), Instant::ZERO);
        assert_eq!((all.known_at(), after(all)), (None, (framing::SNAP, 0)));
    }

    #[test]
    fn the_first_network_number_is_kept_and_others_are_conflicts() {
        let mut segment = Segment::new(None, None, Instant::ZERO);
        let (one, other) = (framing::RAW_802_3, framing::SNAP);
        assert!(segment.learn(one, 0) && segment.network(one).is_none());
        assert!(segment.learn(one, 7) && segment.learn(one, 7) && !segment.learn(one, 8));
        assert!(segment.learn(other, 8));
        assert_eq!([one, other].map(|framing| segment.network(framing)), [Some(7), Some(8)]);
        // A configured network number applies to every framing.
        let mut given = Segment::new(None, Some(7), Instant::ZERO);
        assert!(given.learn(one, 7) && !given.learn(other, 8));
    }

    #[test]
    fn the_network_is_known_one_second_after_the_first_query() {
        let ms = |milliseconds: u64| Instant::from_nanos(milliseconds * 1_000_000);
        for (only, network) in [(None, None), (Some(framing::SNAP), None), (None, Some(7))] {
            let mut segment = Segment::new(only, network, ms(40));
            let mut times = vec![];
            while let Some(at) = segment.poll_timeout() {
                assert_eq!(segment.known_at(), Some(ms(1_040)));
                assert!(!segment.is_to_ask(Instant::from_nanos(at.as_nanos() - 1)), "too early");
                times.push((at, segment.is_to_ask(at)));
            }
            assert_eq!(times, [(ms(40), true), (ms(540), true), (ms(1_040), false)]);
            assert_eq!(segment.known_at(), None);
            let asked_in = |in_all| segment.asked_in(in_all).collect::<Vec<_>>();
            assert_eq!(asked_in(true), only.map_or(framing::ALL.to_vec(), |only| vec![only]));
            assert_eq!(asked_in(false), [segment.framing()]);
        }
        // The segment's framing changes once another one is more frequent.
        let mut segment = Segment::new(None, Some(7), ms(0));
        while let Some(at) = segment.poll_timeout() {
            segment.is_to_ask(at);
        }
        assert_eq!(segment.framing(), framing::IEEE_802_2);
        segment.hear(framing::ETHERNET_II);
        assert_eq!(segment.framing(), framing::ETHERNET_II);
        assert_eq!(segment.answer_framing(framing::SNAP), framing::SNAP);
    }
}
