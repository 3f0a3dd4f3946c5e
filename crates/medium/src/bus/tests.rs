mod bit_by_bit;

use lanlab_units::Instant;

use self::bit_by_bit::{BitByBit, Seen};
use crate::random::Random;
use crate::{Destination, Event, Loss, LossPlan, Medium, Offer, Plan, Port, Topology};

const BIT_NS: u64 = 100;

fn bus(ports: Port, propagation_bits: u64) -> Plan {
    Plan {
        topology: Topology::Bus,
        rate_bps: Some(10_000_000),
        ports,
        propagation_ns: propagation_bits * BIT_NS,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 0,
    }
}

/// Bit time, port, and bytes of an offered frame.
type Offered = (u64, Port, u32);

fn run_bit_by_bit(
    mut slow: BitByBit,
    stations: Port,
    longest_pause_bits: u64,
    bits: u64,
    seed: u64,
) -> (Vec<Offered>, Vec<(u64, Seen)>) {
    let mut random = Random::new(seed, 77);
    let mut next_offer_at = vec![0; usize::from(stations)];
    let (mut offers, mut outcomes) = (Vec::new(), Vec::new());
    while slow.bit() < bits {
        let bit = slow.bit();
        for (at, what) in slow.ends() {
            let (Seen::Sent(port) | Seen::GivenUp(port)) = what;
            let pause = random.unit() * longest_pause_bits as f64;
            next_offer_at[usize::from(port)] = bit + pause as u64;
            outcomes.push((at, what));
        }
        for port in 0..stations {
            if slow.is_free(port) && next_offer_at[usize::from(port)] <= bit {
                let wire_bytes = 72 + random.bits(7) as u32;
                slow.offer(port, wire_bytes);
                offers.push((bit, port, wire_bytes));
            }
        }
        slow.pass_bit();
    }
    (offers, outcomes)
}

fn replay(plan: &Plan, seed: u64, offers: &[Offered], bits: u64) -> Vec<(u64, Seen)> {
    let mut medium = Medium::new(plan, seed).unwrap();
    let mut outcomes = Vec::new();
    let propagation_bits = plan.propagation_ns / BIT_NS;
    let mut advance = |medium: &mut Medium, until: Instant| {
        while let Some(at) = medium.poll_timeout().filter(|at| *at <= until) {
            medium.handle_timeout(at);
            while let Some((at, event)) = medium.poll_event() {
                assert_eq!(at.as_nanos() % BIT_NS, 0);
                let bit = at.as_nanos() / BIT_NS;
                match event {
                    Event::Delivered { ticket, .. } => {
                        outcomes.push((bit - propagation_bits, Seen::Sent(ticket as Port)));
                    }
                    Event::Lost { ticket, loss: Loss::ExcessiveCollisions, port: None } => {
                        outcomes.push((bit, Seen::GivenUp(ticket as Port)));
                    }
                    Event::Lost { .. } => panic!("{event:?}"),
                    Event::Free(_) | Event::Done { .. } => {}
                }
            }
        }
    };
    for &(bit, port, wire_bytes) in offers {
        let now = Instant::from_nanos(bit * BIT_NS);
        advance(&mut medium, now);
        assert!(medium.is_free(port), "port {port} at bit {bit}");
        let destination = Destination::Port((port + 1) % plan.ports);
        medium.offer(now, port, Offer { ticket: u32::from(port), wire_bytes, destination });
    }
    advance(&mut medium, Instant::from_nanos((bits + propagation_bits) * BIT_NS));
    outcomes.retain(|(bit, _)| *bit < bits);
    outcomes.sort_unstable();
    outcomes
}

#[test]
fn the_bus_follows_the_standard_bit_by_bit() {
    let mut given_up = 0;
    let mut sent = 0;
    for (case, (stations, propagation_bits, longest_pause_bits)) in [
        (2, 25, 0),
        (2, 256, 700),
        (3, 1, 2_000),
        (5, 25, 4_000),
        (5, 100, 500),
        (15, 25, 0),
        (15, 25, 20_000),
        (15, 208, 5_000),
        (15, 256, 0),
        (15, 256, 20_000),
        (60, 64, 3_000),
        (60, 256, 400),
    ]
    .into_iter()
    .enumerate()
    {
        let seed = 1000 + case as u64;
        let bits = 24_000_000 / u64::from(stations);
        let slow = BitByBit::new(stations, propagation_bits, seed);
        let (offers, expected) = run_bit_by_bit(slow, stations, longest_pause_bits, bits, seed);
        let outcomes = replay(&bus(stations, propagation_bits), seed, &offers, bits);
        let first_difference =
            outcomes.iter().zip(&expected).find(|(outcomes, expected)| outcomes != expected);
        assert_eq!(first_difference, None, "case {case}");
        assert_eq!(outcomes.len(), expected.len(), "case {case}");
        sent += outcomes.iter().filter(|(_, what)| matches!(what, Seen::Sent(_))).count();
        given_up += outcomes.iter().filter(|(_, what)| matches!(what, Seen::GivenUp(_))).count();
    }
    // The cases cover every outcome of a frame.
    assert!(sent > 25_000 && given_up > 10, "{sent} sent, {given_up} given up");
}
