//! Loss by chance: its ratio, its bursts, and whose it is.

mod support;

use lanlab_medium::{Destination, Event, Loss, LossPlan, Medium, Offer, Plan, Topology};
use support::{at, plan};

/// Which of `frames` broadcast frames were lost, by receiver, ports 1 and 2.
fn lost_frames(topology: Topology, chance: LossPlan, frames: u32) -> [Vec<bool>; 2] {
    let plan = Plan { loss: chance, ..plan(topology, 3, 0) };
    let mut medium = Medium::new(&plan, 42).unwrap();
    let mut lost = [const { Vec::new() }; 2];
    let offer = |ticket| Offer { ticket, wire_bytes: 72, destination: Destination::All };
    medium.offer(at(0), 0, offer(0));
    let mut offered = 1;
    while let Some(due) = medium.poll_timeout() {
        medium.handle_timeout(due);
        while let Some((event_at, event)) = medium.poll_event() {
            match event {
                Event::Free(0) if offered < frames => {
                    medium.offer(event_at, 0, offer(offered));
                    offered += 1;
                }
                Event::Delivered { port, .. } => lost[usize::from(port) - 1].push(false),
                Event::Lost { port: Some(port), loss: Loss::Chance, .. } => {
                    lost[usize::from(port) - 1].push(true);
                }
                Event::Lost { .. } => panic!("{event:?}"),
                Event::Free(_) | Event::Done { .. } => {}
            }
        }
    }
    let counts = medium.counts().ports[0];
    let all_lost = lost.iter().flatten().filter(|lost| **lost).count();
    assert_eq!(counts.lost_chance, all_lost as u64);
    lost
}

fn share(of: &[bool]) -> f64 {
    of.iter().filter(|lost| **lost).count() as f64 / of.len() as f64
}

fn bursts(lost: &[bool]) -> Vec<f64> {
    let runs = lost.chunk_by(|one, next| one == next).filter(|run| run[0]);
    runs.map(|run| run.len() as f64).collect()
}

const FRAMES: u32 = 200_000;
/// Of the 99 % interval of a normal distribution, in standard deviations.
const Z99: f64 = 2.576;

#[test]
fn random_loss_is_memoryless_at_its_ratio() {
    let ratio: f64 = 0.03;
    let n = f64::from(FRAMES);
    for topology in [Topology::Switch, Topology::Bus] {
        for lost in lost_frames(topology, LossPlan::Random { ratio }, FRAMES) {
            let error = Z99 * (ratio * (1.0 - ratio) / n).sqrt();
            assert!((share(&lost) - ratio).abs() < error, "{topology}: {}", share(&lost));
            let bursts = bursts(&lost);
            let mean = bursts.iter().sum::<f64>() / bursts.len() as f64;
            // Geometric: mean 1 / (1 − ratio), variance ratio / (1 − ratio)².
            let error = Z99 * ratio.sqrt() / (1.0 - ratio) / (bursts.len() as f64).sqrt();
            assert!((mean - 1.0 / (1.0 - ratio)).abs() < error, "{topology}: {mean}");
        }
    }
}

#[test]
fn copies_are_lost_independently_per_receiver() {
    let ratio: f64 = 0.2;
    let [one, two] = lost_frames(Topology::Bus, LossPlan::Random { ratio }, FRAMES);
    let both: Vec<bool> = one.iter().zip(&two).map(|(one, two)| *one && *two).collect();
    let expected = ratio * ratio;
    let error = Z99 * (expected * (1.0 - expected) / f64::from(FRAMES)).sqrt();
    assert!((share(&both) - expected).abs() < error, "{}", share(&both));
}

#[test]
fn loss_bursts_have_the_set_length_and_ratio() {
    for (ratio, mean_length_frames) in [(0.01, 5.0), (0.1, 2.0), (0.5, 1.0), (0.3, 20.0)] {
        let plan = LossPlan::Bursts { ratio, mean_length_frames };
        for lost in lost_frames(Topology::Bus, plan, FRAMES) {
            let bursts = bursts(&lost);
            let count = bursts.len() as f64;
            let mean = bursts.iter().sum::<f64>() / count;
            // Lengths are geometric: variance m (m − 1).
            let variance: f64 = mean_length_frames * (mean_length_frames - 1.0);
            let error = Z99 * (variance / count).sqrt() + 1e-3;
            assert!((mean - mean_length_frames).abs() < error, "{ratio}: {mean}");
            // A sum over a chain of two states: its variance is (1 + c) / (1 − c) times that of draws
            // without memory, c being the correlation of neighbours.
            let good_to_bad = ratio / (1.0 - ratio) / mean_length_frames;
            let correlation: f64 = 1.0 - good_to_bad - 1.0 / mean_length_frames;
            let inflation = (1.0 + correlation) / (1.0 - correlation);
            let variance = ratio * (1.0 - ratio) * inflation / f64::from(FRAMES);
            let error = Z99 * variance.sqrt() + 1e-5;
            assert!((share(&lost) - ratio).abs() < error, "{ratio}: {}", share(&lost));
        }
    }
}

#[test]
fn loss_ratios_of_0_and_1_work() {
    let bursts = |ratio| LossPlan::Bursts { ratio, mean_length_frames: 3.0 };
    for (plan, expected) in [
        (LossPlan::Never, false),
        (LossPlan::Random { ratio: 0.0 }, false),
        (LossPlan::Random { ratio: 1.0 }, true),
        (bursts(0.0), false),
        (bursts(1.0), true),
    ] {
        let [lost, _] = lost_frames(Topology::Switch, plan, 1000);
        assert_eq!(lost, vec![expected; 1000], "{plan:?}");
    }
}
