//! A random schedule of loss, doubling and reordering: what arrives is an exact prefix of what was sent, and
//! no time without a frame is longer than all attempts of one end.

use lanlab_medium::Topology;
use lanlab_stack::node::{CarrierKind, Peer as Called, Why};
use lanlab_stack::profile::Profile;
use lanlab_units::Instant;

use crate::chance::Chance;
use crate::peer::Peer;
use crate::segment::{Faults, Segment, name};

#[derive(Debug, Default, Clone, Copy)]
pub struct Tally {
    pub schedules: u64,
    pub complete: u64,
    pub ended: u64,
    pub never_opened: u64,
    pub messages: u64,
    /// Without a frame that a station was given.
    pub longest_silence_ms: u64,
    /// Without a part of a message that arrived.
    pub longest_standstill_ms: u64,
}

impl Tally {
    fn plus(self, other: Self) -> Self {
        Self {
            schedules: self.schedules + other.schedules,
            complete: self.complete + other.complete,
            ended: self.ended + other.ended,
            never_opened: self.never_opened + other.never_opened,
            messages: self.messages + other.messages,
            longest_silence_ms: self.longest_silence_ms.max(other.longest_silence_ms),
            longest_standstill_ms: self.longest_standstill_ms.max(other.longest_standstill_ms),
        }
    }
}

pub struct Subject {
    pub carrier: CarrierKind,
    /// Those of its stations.
    pub profiles: &'static [Profile],
    /// All attempts of one end together, ns, where frames come as late as under these faults.
    pub attempts_ns: fn(&Profile, &Faults) -> u64,
    /// How often a frame is sent again.
    pub tries: fn(&Profile) -> u32,
    /// Whether a session has ended for what frames of open sessions did.
    pub is_given_up: fn(&Why) -> bool,
}

fn messages(chance: &mut Chance) -> Vec<Vec<u8>> {
    let count = 1 + chance.below(4);
    let lengths = [0, 3, 100, 1482, 1483, 4000, 9000];
    let message = |index: u64, chance: &mut Chance| {
        let len = lengths[chance.below(lengths.len() as u64) as usize];
        let seed = chance.next();
        (0..len).map(|at: u64| (seed >> (at % 8)) as u8 ^ (at + index) as u8).collect()
    };
    (0..count).map(|index| message(index, chance)).collect()
}

/// One schedule. Panics, with its seed, where something does not hold.
pub fn run(seed: u64, subject: &Subject, tally: &mut Tally) {
    let mut chance = Chance::new(seed);
    let all = subject.profiles;
    let profiles = [0, 1].map(|_| all[chance.below(all.len() as u64) as usize]);
    let faults = Faults::drawn(&mut chance);
    let sent = [messages(&mut chance), messages(&mut chance)];
    let mut peers = sent.clone().map(Peer::sending);
    for peer in &mut peers {
        peer.keeps_events = false;
    }
    let [from, to] = peers;
    let programs = vec![(profiles[0], from), (profiles[1], to)];
    let mut segment = Segment::over(subject.carrier, Topology::Cable, programs, seed);
    segment.with(1, |_, node, _| node.listen());
    segment.run_until(Instant::from_nanos(4_000_000_000));
    segment.faults = faults;
    segment.with(0, |now, node, _| node.open(now, Called::Name(name(1))));

    let received =
        |segment: &Segment<Peer>| [0, 1].map(|station| segment.program(station).received.len());
    let is_over = |segment: &Segment<Peer>| {
        let is_complete = received(segment) == [sent[1].len(), sent[0].len()]
            && [0, 1].iter().all(|station| segment.program(*station).unacknowledged == 0);
        is_complete || [0, 1].iter().any(|station| !segment.program(*station).ended.is_empty())
    };
    // A station that waits for an answer tries some times and then gives up. An answer that arrives begins
    // this anew: with one frame in three lost, a part may cost more than all attempts. What is sent last
    // may be an acknowledgement that has waited for data to come with.
    let progress = |segment: &mut Segment<Peer>| {
        let parts = [0, 1].map(|station| segment.counted(station, "information_received"));
        (received(segment), parts[0] + parts[1])
    };
    let all_attempts = || profiles.iter().map(|profile| (subject.attempts_ns)(profile, &faults));
    let attempts_ns = all_attempts().max().unwrap();
    let patience_ns = all_attempts().sum::<u64>() * 2 + 10_000_000_000;
    let mut before = (segment.now, progress(&mut segment));
    let mut heard = (segment.now, segment.heard);
    while !is_over(&segment) {
        let until = before.0.plus_nanos(patience_ns).min(heard.0.plus_nanos(attempts_ns));
        let has_moved =
            segment.run_while(until, |segment| segment.heard == heard.1 && !is_over(segment));
        assert!(
            has_moved,
            "seed {seed}: stuck at {} after {:?} under {faults:?}",
            segment.now, before.1
        );
        let silence_ms = segment.now.nanos_since(heard.0) / 1_000_000;
        tally.longest_silence_ms = tally.longest_silence_ms.max(silence_ms);
        heard = (segment.now, segment.heard);
        let now = progress(&mut segment);
        if now != before.1 {
            let standstill_ms = segment.now.nanos_since(before.0) / 1_000_000;
            tally.longest_standstill_ms = tally.longest_standstill_ms.max(standstill_ms);
            before = (segment.now, now);
        }
    }
    for (station, other) in [(0, 1), (1, 0)] {
        let received = &segment.program(station).received;
        assert!(sent[other].starts_with(received), "seed {seed}: station {station} is no prefix");
        tally.messages += received.len() as u64;
    }
    tally.schedules += 1;
    let ended = [0, 1].iter().any(|station| !segment.program(*station).ended.is_empty());
    if segment.program(0).sessions.is_empty() {
        tally.never_opened += 1;
    } else if ended {
        tally.ended += 1;
    } else {
        tally.complete += 1;
    }
    let why: Vec<Why> = [0, 1]
        .iter()
        .flat_map(|station| segment.program(*station).ended.values().copied())
        .collect();
    // Eight losses in a row are not to be expected of one in fifty.
    let is_patient = profiles.iter().all(|profile| (subject.tries)(profile) >= 8);
    let is_mild = faults.lost == 0 || faults.lost <= 2 && is_patient;
    // What opens a session may be lost as often as it is sent.
    let is_given_up = why.iter().any(subject.is_given_up);
    assert!(!is_mild || !is_given_up, "seed {seed}: {why:?} under {faults:?}");
}

/// The first seed, and how many there are unless the environment says otherwise.
pub fn wanted(count: u64) -> (u64, u64) {
    let number = |name: &str, otherwise| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    (number("SCHEDULE_SEED", 10_000), number("SCHEDULES", count))
}

/// Many schedules, as many as `SCHEDULES` says, from the seed `SCHEDULE_SEED` on, by all processors.
pub fn run_many(subject: &Subject) -> Tally {
    let (first, count) = wanted(100_000);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = |own| {
        let mut tally = Tally::default();
        for seed in (first..first + count).skip(own).step_by(threads) {
            run(seed, subject, &mut tally);
        }
        tally
    };
    let tally = std::thread::scope(|scope| {
        let share = &share;
        let tallies: Vec<_> = (0..threads).map(|own| scope.spawn(move || share(own))).collect();
        tallies.into_iter().map(|tally| tally.join().unwrap()).reduce(Tally::plus).unwrap()
    });
    println!("{tally:?}");
    tally
}
