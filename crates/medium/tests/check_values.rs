//! The bus against known figures: its efficiency under saturation, and who wins after a collision.

mod offline;
mod support;

use lanlab_medium::{Event, Medium, Topology};
use offline::{Arrivals, FrameShare, Load, LoadPlan, LoadReport};
use support::{at, frame, plan};

const FRAME_BYTES: [u32; 4] = [64, 512, 832, 1518];

/// What a bus carries whose adapters always have a frame.
fn saturated(stations: u16, propagation_ns: u64, frame_bytes: u32, seconds: u64) -> LoadReport {
    let medium = plan(Topology::Bus, stations, propagation_ns);
    let load = LoadPlan {
        medium,
        arrivals: Arrivals::Saturated,
        frames: vec![FrameShare { frame_bytes, weight: 1.0 }],
        queue_frames: 64,
        warmup_ns: 1_000_000_000,
    };
    let mut load = Load::new(load, 1).unwrap();
    load.run_until(at((seconds + 1) * 1_000_000_000));
    load.report()
}

fn assert_efficiency(propagation_ns: u64, expected: [f64; 4]) {
    for (frame_bytes, expected) in FRAME_BYTES.into_iter().zip(expected) {
        let found = saturated(15, propagation_ns, frame_bytes, 150).utilisation_ratio;
        println!("{propagation_ns} ns, {frame_bytes} bytes: {found:.4}");
        assert!((found / expected - 1.0).abs() < 0.005, "{frame_bytes} bytes: {found:.4}");
    }
}

#[test]
fn fifteen_stations_on_a_short_bus_match_other_simulations() {
    assert_efficiency(2_500, [0.719, 0.921, 0.941, 0.958]);
}

/// What the processes of IEEE 802.3, 4.2.8, come to: the bus is held against them bit by bit elsewhere.
#[test]
fn fifteen_stations_on_the_longest_bus_match_the_standard() {
    assert_efficiency(25_600, [0.685, 0.878, 0.900, 0.923]);
}

#[test]
fn a_single_sender_loses_only_preamble_and_gap() {
    let plan = plan(Topology::Bus, 2, 25_600);
    for (frame_bytes, expected) in FRAME_BYTES.into_iter().zip([0.762, 0.962, 0.977, 0.987]) {
        let mut medium = Medium::new(&plan, 1).unwrap();
        let wire_bytes = frame_bytes + 8;
        medium.offer(at(0), 0, frame(0, wire_bytes, 1));
        let mut frees = 0;
        let mut last_free = at(0);
        while let Some(due) = medium.poll_timeout().filter(|due| *due < at(1_000_000_000)) {
            medium.handle_timeout(due);
            while let Some((event_at, event)) = medium.poll_event() {
                if event == Event::Free(0) {
                    (frees, last_free) = (frees + 1, event_at);
                    medium.offer(event_at, 0, frame(frees, wire_bytes, 1));
                }
            }
        }
        let bits = f64::from(frees) * f64::from(frame_bytes) * 8.0;
        let found = bits * 100.0 / (last_free.as_nanos() + 9_600) as f64;
        assert!((found - expected).abs() < 0.0005, "{frame_bytes} bytes: {found}");
        let exact = f64::from(frame_bytes) / f64::from(frame_bytes + 20);
        assert!((found / exact - 1.0).abs() < 1e-9, "{frame_bytes} bytes: {found}");
    }
}

/// How the races of two stations that always have a frame come out, the first one won by either. A race
/// is won if its first backoffs decide it. `None`: they did not decide the first.
fn races_won_by_the_first_winner(seed: u64, races: usize) -> Option<Vec<bool>> {
    let mut medium = Medium::new(&plan(Topology::Bus, 2, 2_500), seed).unwrap();
    let transmit = |medium: &mut Medium, now, port: u16| {
        medium.offer(now, port, frame(u32::from(port), 1526, 1 - port));
    };
    transmit(&mut medium, at(0), 0);
    transmit(&mut medium, at(0), 1);
    let mut won = Vec::new();
    let mut first_winner = None;
    while let Some(due) = medium.poll_timeout() {
        medium.handle_timeout(due);
        while let Some((event_at, event)) = medium.poll_event() {
            let Event::Free(port) = event else { continue };
            // One more collision than races won so far: this race's first backoffs decided it.
            let is_decided_at_once = medium.counts().collisions == 1 + won.len() as u64;
            if first_winner.is_none() && !is_decided_at_once {
                return None;
            }
            let is_won = *first_winner.get_or_insert(port) == port && is_decided_at_once;
            won.push(is_won);
            if !is_won || won.len() == races {
                return Some(won);
            }
            transmit(&mut medium, event_at, port);
        }
        // A second collision within a race is not won by anybody at once.
        if medium.counts().collisions > 1 + won.len() as u64 && !won.is_empty() {
            won.push(false);
            return Some(won);
        }
    }
    None
}

#[test]
fn collision_winners_win_the_next_rounds_at_5_8ths_and_13_16ths() {
    let runs: Vec<_> =
        (0..60_000).filter_map(|seed| races_won_by_the_first_winner(seed, 3)).collect();
    // Two equal backoffs of 0 or 1 slots leave the first race undecided.
    assert_in_interval(runs.len(), 60_000, 1.0 / 2.0);
    let second: Vec<_> = runs.iter().filter(|won| won[1]).collect();
    assert_in_interval(second.len(), runs.len(), 5.0 / 8.0);
    let third = second.iter().filter(|won| won[2]).count();
    assert_in_interval(third, second.len(), 13.0 / 16.0);
}

/// The 99 % interval of a binomial count.
fn assert_in_interval(count: usize, of: usize, probability: f64) {
    let of = of as f64;
    let error = 2.576 * (probability * (1.0 - probability) / of).sqrt();
    let found = count as f64 / of;
    println!("{found:.4} of {of}, expected {probability:.4} within {error:.4}");
    assert!((found - probability).abs() < error, "{found} of {of}, expected {probability}");
}
