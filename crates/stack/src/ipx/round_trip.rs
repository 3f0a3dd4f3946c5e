//! The reply time-out of a client, from the smoothed round-trip time as in TCP (RFC 6298, section 2).

/// Initial time-out, ns.
const FIRST_NS: u64 = 1_000_000_000;
const SHORTEST_NS: u64 = 100_000_000;
const LONGEST_NS: u64 = 4_000_000_000;

#[derive(Debug, Default)]
pub(crate) struct RoundTrip {
    smoothed: Option<(u64, u64)>,
}

impl RoundTrip {
    pub(crate) fn measure(&mut self, took_ns: u64) {
        self.smoothed = Some(match self.smoothed {
            None => (took_ns, took_ns / 2),
            Some((mean_ns, deviation_ns)) => {
                let difference_ns = mean_ns.abs_diff(took_ns);
                ((7 * mean_ns + took_ns) / 8, (3 * deviation_ns + difference_ns) / 4)
            }
        });
    }

    pub(crate) fn timeout_ns(&self) -> u64 {
        let wait_ns = self.smoothed.map_or(FIRST_NS, |(mean, deviation)| mean + 4 * deviation);
        wait_ns.clamp(SHORTEST_NS, LONGEST_NS)
    }

    pub(crate) const fn longer_ns(wait_ns: u64) -> u64 {
        let doubled_ns = 2 * wait_ns;
        if doubled_ns < LONGEST_NS { doubled_ns } else { LONGEST_NS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_follows_the_round_trip_time_within_its_bounds() {
        let mut trip = RoundTrip::default();
        assert_eq!(trip.timeout_ns(), FIRST_NS);
        trip.measure(300_000_000);
        assert_eq!(trip.timeout_ns(), 900_000_000);
        for _ in 0..100 {
            trip.measure(2_000_000);
        }
        assert_eq!(trip.timeout_ns(), SHORTEST_NS);
        trip.measure(60_000_000_000);
        assert_eq!(trip.timeout_ns(), LONGEST_NS);
        assert_eq!(
            [SHORTEST_NS, 3_000_000_000].map(RoundTrip::longer_ns),
            [200_000_000, LONGEST_NS]
        );
    }
}
