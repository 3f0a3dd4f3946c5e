//! Random schedules of loss, doubling and reordering.

use lanlab_stack::node::{CarrierKind, Why};
use lanlab_stack::profile::Profile;

use super::{OF_XEROX, THREE_PLUS};
use crate::schedule::{Subject, Tally, run, run_many};
use crate::segment::Faults;

/// Every try of one packet together, and the wait of an acknowledgement for data to go with.
fn attempts_ns(profile: &Profile, _: &Faults) -> u64 {
    let (mut wait_ns, longest_ns) = profile.xns.resend_ns;
    let mut sum_ns = wait_ns;
    for _ in 0..profile.xns.resend_count {
        wait_ns = (2 * wait_ns).min(longest_ns);
        sum_ns += wait_ns;
    }
    sum_ns + profile.xns.ack_delay_ns
}

const SPP: Subject = Subject {
    carrier: CarrierKind::Spp,
    profiles: &[THREE_PLUS, OF_XEROX],
    attempts_ns,
    tries: |profile| profile.xns.resend_count,
    is_given_up: |why| matches!(why, Why::NoAnswer | Why::Protocol | Why::ByPeerAbnormally),
};

#[test]
fn received_data_is_an_exact_prefix_under_random_faults() {
    let mut tally = Tally::default();
    for seed in 0..2_000 {
        run(seed, &SPP, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.complete > 1_900, "{tally:?}");
}

/// `SCHEDULES=1000000 SCHEDULE_SEED=1000 cargo test --release -p lanlab-stack --test carriers -- --ignored many_xns`
#[test]
#[ignore = "long: 100,000 schedules, or as many as are asked for"]
fn many_xns_schedules() {
    run_many(&SPP);
}
