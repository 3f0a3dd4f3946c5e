//! Random loss, independent for each receiver.

use crate::event::Port;
use crate::plan::{LossPlan, Plan};
use crate::random::Random;

#[derive(Debug)]
pub(crate) struct LossProcess {
    kind: Kind,
    random: Random,
}

#[derive(Debug)]
enum Kind {
    Never,
    Random {
        ratio: f64,
    },
    /// A two-state Markov chain per receiver, which steps with each frame.
    Bursts {
        good_to_bad: f64,
        bad_to_good: f64,
        is_bad: Vec<bool>,
    },
}

impl LossProcess {
    pub(crate) fn new(plan: &Plan, mut random: Random) -> Self {
        let kind = match plan.loss {
            LossPlan::Never => Kind::Never,
            LossPlan::Random { ratio } => Kind::Random { ratio },
            LossPlan::Bursts { ratio, .. } if ratio >= 1.0 => Kind::Random { ratio },
            LossPlan::Bursts { ratio, mean_length_frames } => {
                // The time in the bad state is geometric with mean 1 / bad_to_good, and its share is good_to_bad /
                // (good_to_bad + bad_to_good).
                let bad_to_good = 1.0 / mean_length_frames;
                Kind::Bursts {
                    good_to_bad: bad_to_good * ratio / (1.0 - ratio),
                    bad_to_good,
                    is_bad: (0..plan.ports).map(|_| random.chance(ratio)).collect(),
                }
            }
        };
        Self { kind, random }
    }

    pub(crate) fn takes_copy(&mut self, receiver: Port) -> bool {
        match &mut self.kind {
            Kind::Never => false,
            Kind::Random { ratio } => self.random.chance(*ratio),
            Kind::Bursts { good_to_bad, bad_to_good, is_bad } => {
                let is_bad = &mut is_bad[usize::from(receiver)];
                let was_bad = *is_bad;
                let leaves = if was_bad { *bad_to_good } else { *good_to_bad };
                *is_bad ^= self.random.chance(leaves);
                was_bad
            }
        }
    }
}
