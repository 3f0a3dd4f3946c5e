//! Random schedules of loss, doubling and reordering.

use lanlab_stack::node::{CarrierKind, Why};
use lanlab_stack::profile::{self, Profile};

use crate::schedule::{Subject, Tally, run, run_many};
use crate::segment::Faults;

/// Time of the frames of a round trip on the wire, of all that may stand before them.
const HANDLING_NS: u64 = 50_000_000;

/// Every try of one packet together, and the wait of an acknowledgement for data to go with. The first wait is two
/// round trips where those are long.
fn attempts_ns(profile: &Profile, faults: &Faults) -> u64 {
    let ipx = &profile.ipx;
    let round_trip_ns = 2 * faults.longest_delay_ns + ipx.ack_delay_ns + HANDLING_NS;
    let mut wait_ns = ipx.resend_ns.max(2 * round_trip_ns);
    let mut sum_ns = wait_ns;
    for _ in 0..ipx.resend_count {
        wait_ns = wait_ns * ipx.resend_growth_percent / 100;
        sum_ns += wait_ns;
    }
    sum_ns + ipx.ack_delay_ns
}

const NBIPX: Subject = Subject {
    carrier: CarrierKind::Nbipx,
    profiles: &profile::ALL,
    attempts_ns,
    tries: |profile| profile.ipx.resend_count,
    is_given_up: |why| matches!(why, Why::NoAnswer | Why::Protocol),
};

#[test]
fn received_data_is_an_exact_prefix_under_random_faults() {
    let mut tally = Tally::default();
    for seed in 0..2_000 {
        run(seed, &NBIPX, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.complete > 1_800, "{tally:?}");
}

/// `SCHEDULES=1000000 SCHEDULE_SEED=1000 cargo test --release -p lanlab-stack --test carriers -- --ignored many_netbios`
#[test]
#[ignore = "long: 100,000 schedules, or as many as are asked for"]
fn many_netbios_schedules() {
    run_many(&NBIPX);
}
