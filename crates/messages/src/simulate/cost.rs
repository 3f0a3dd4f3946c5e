//! CPU time of one step of a simulated machine's software.

use super::numbers::numbers;

numbers! {
    #[derive(Copy, Eq, serde::Serialize)]
    pub struct SimulatedCost {
        each_ns: u64 = 0, in 0 to 10_000_000_000_u64, as "us", "CPU time";
        per_byte_ps: u64 = 0, in 0 to 1_000_000_000, as "ns_per_byte", "CPU time per byte";
    }
}

impl SimulatedCost {
    pub const ZERO: Self = Self { each_ns: 0, per_byte_ps: 0 };

    pub const fn each(each_ns: u64) -> Self {
        Self { each_ns, per_byte_ps: 0 }
    }

    /// CPU time for `bytes`, ns, rounded to the nearest.
    pub const fn of(self, bytes: u64) -> u64 {
        let bytes_ns = self.per_byte_ps.saturating_mul(bytes).saturating_add(500) / 1000;
        self.each_ns.saturating_add(bytes_ns)
    }
}
