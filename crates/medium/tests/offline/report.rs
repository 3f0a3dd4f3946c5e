//! Results of a load.

use lanlab_medium::{Loss, Port};

use super::delays::Delays;

/// Results of a load after the warm-up. Ratios refer to the rate, in frame bits without preamble and gap.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadReport {
    pub measured_ns: u64,
    pub offered_ratio: f64,
    pub utilisation_ratio: f64,
    pub delivered_frames: u64,
    /// From arrival at the adapter (if saturated: the end of the previous frame) to the last bit at
    /// the receiver, ns. This and the quantiles are `None` if nothing was delivered.
    pub mean_delay_ns: Option<f64>,
    /// Median; quantiles are exact to 0.4 %.
    pub p50_delay_ns: Option<u64>,
    pub p95_delay_ns: Option<u64>,
    pub p99_delay_ns: Option<u64>,
    pub lost_adapter_queue_frames: u64,
    /// Frames given up after 16 collisions.
    pub lost_excessive_collisions_frames: u64,
    pub lost_switch_queue_frames: u64,
    pub lost_chance_frames: u64,
    /// Jain's fairness index of delivered bytes: 1 if all are equal.
    pub jain_index: Option<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    delays: Delays,
    arrived_bytes: u64,
    delivered_frames: u64,
    delivered_bytes: Vec<u64>,
    lost_adapter_queue_frames: u64,
    lost_excessive_collisions_frames: u64,
    lost_switch_queue_frames: u64,
    lost_chance_frames: u64,
}

impl Tally {
    pub(super) fn new(stations: u16) -> Self {
        Self { delivered_bytes: vec![0; usize::from(stations)], ..Self::default() }
    }

    pub(super) fn arrived(&mut self, frame_bytes: u32) {
        self.arrived_bytes += u64::from(frame_bytes);
    }

    pub(super) fn delivered(&mut self, station: Port, frame_bytes: u32, delay_ns: u64) {
        self.delivered_frames += 1;
        self.delivered_bytes[usize::from(station)] += u64::from(frame_bytes);
        self.delays.add(delay_ns);
    }

    pub(super) fn lost_in_adapter(&mut self) {
        self.lost_adapter_queue_frames += 1;
    }

    pub(super) fn lost(&mut self, loss: Loss) {
        *match loss {
            Loss::Chance => &mut self.lost_chance_frames,
            Loss::ExcessiveCollisions => &mut self.lost_excessive_collisions_frames,
            Loss::SwitchQueue => &mut self.lost_switch_queue_frames,
        } += 1;
    }

    pub(super) fn report(&self, measured_ns: u64, rate_bps: u64) -> LoadReport {
        let capacity_bits = rate_bps as f64 * measured_ns as f64 / 1e9;
        let ratio =
            |bytes: u64| if capacity_bits > 0.0 { bytes as f64 * 8.0 / capacity_bits } else { 0.0 };
        LoadReport {
            measured_ns,
            offered_ratio: ratio(self.arrived_bytes),
            utilisation_ratio: ratio(self.delivered_bytes.iter().sum()),
            delivered_frames: self.delivered_frames,
            mean_delay_ns: self.delays.mean_ns(),
            p50_delay_ns: self.delays.quantile_ns(0.5),
            p95_delay_ns: self.delays.quantile_ns(0.95),
            p99_delay_ns: self.delays.quantile_ns(0.99),
            lost_adapter_queue_frames: self.lost_adapter_queue_frames,
            lost_excessive_collisions_frames: self.lost_excessive_collisions_frames,
            lost_switch_queue_frames: self.lost_switch_queue_frames,
            lost_chance_frames: self.lost_chance_frames,
            jain_index: jain_index(&self.delivered_bytes),
        }
    }
}

/// R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984. `None` if all are zero.
fn jain_index(delivered_bytes: &[u64]) -> Option<f64> {
    let sum: f64 = delivered_bytes.iter().map(|bytes| *bytes as f64).sum();
    let squares: f64 = delivered_bytes.iter().map(|bytes| (*bytes as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (delivered_bytes.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_1_for_equal_shares_and_1_over_n_for_a_single_share() {
        assert_eq!(jain_index(&[7, 7, 7]), Some(1.0));
        assert_eq!(jain_index(&[9, 0, 0, 0]), Some(0.25));
        assert_eq!(jain_index(&[0, 0]), None);
    }
}
