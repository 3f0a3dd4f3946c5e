//! Random schedules over links of LLC: no time without a frame is longer than N2 times T1, as it grows.

use lanlab_stack::node::{CarrierKind, Why};
use lanlab_stack::profile::{self, Profile};

use crate::schedule::{Subject, Tally, run, run_many};
use crate::segment::Faults;

/// All attempts of a link together: T1 for its data, then N2 polls.
fn longest_wait_ns(profile: &Profile, _: &Faults) -> u64 {
    let link = &profile.link;
    let (mut wait_ns, mut sum_ns) = (link.t1_ns, link.t1_ns);
    for _ in 0..link.n2 {
        sum_ns += wait_ns;
        let tick_ns = link.tick_ns;
        wait_ns = (wait_ns * link.t1_growth_percent / 100 / tick_ns * tick_ns).max(wait_ns);
    }
    sum_ns + profile.piggyback_wait_ns + link.tick_ns
}

const NBF: Subject = Subject {
    carrier: CarrierKind::Nbf,
    profiles: &profile::ALL,
    attempts_ns: longest_wait_ns,
    tries: |profile| profile.link.n2,
    is_given_up: |why| matches!(why, Why::Link(_) | Why::Protocol),
};

#[test]
fn received_data_is_an_exact_prefix_under_random_faults() {
    let mut tally = Tally::default();
    for seed in 0..3_000 {
        run(seed, &NBF, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.complete > 1_800, "{tally:?}");
}

/// `SCHEDULES=1000000 SCHEDULE_SEED=1000 cargo test --release -p lanlab-stack --test carriers -- --ignored million`
#[test]
#[ignore = "a million schedules take minutes: bench/results/reliability.md has the results"]
fn a_million_schedules() {
    run_many(&NBF);
}
