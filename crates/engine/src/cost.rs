//! Resources that a request needs, known before it starts and bounded over all requests.

use crate::messages::Failure;

/// Memory limit of all running measurements together, for buffers and counters.
pub const MOST_MEMORY_BYTES: u64 = 1 << 30;
/// Thread limit of all running measurements together.
pub const MOST_THREADS: u64 = 1024;

/// Memory of a thread's meters, such as histograms and interval series.
pub const METERS_BYTES: u64 = 1 << 20;
/// Memory of a flow: its sequence-number window and its state.
pub const FLOW_BYTES: u64 = 16 << 10;
/// Threads of a request in addition to those of its flows: its own, one for progress, one for the session.
pub const OWN_THREADS: u64 = 3;

/// An upper bound of a measurement's resources, without socket buffers, which the system bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    pub memory_bytes: u64,
    pub threads: u64,
}

impl Cost {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
            threads: self.threads.saturating_add(other.threads),
        }
    }

    pub fn check_beside(self, running: Self) -> Result<(), Failure> {
        const MIB: u64 = 1 << 20;
        let all = self.plus(running);
        let refusal = |message| {
            Failure::new("request.too_large", message).hint(
                "ask for fewer threads, smaller messages or reads, or wait for the others to end",
            )
        };
        if all.memory_bytes > MOST_MEMORY_BYTES {
            return Err(refusal(format!(
                "it may take {} MiB of memory beside {} MiB of the others; allowed: {} MiB in all",
                self.memory_bytes.div_ceil(MIB),
                running.memory_bytes.div_ceil(MIB),
                MOST_MEMORY_BYTES / MIB
            )));
        }
        if all.threads > MOST_THREADS {
            return Err(refusal(format!(
                "it takes {} threads beside {} of the others; allowed: {MOST_THREADS} in all",
                self.threads, running.threads
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_above_the_limit_is_refused() {
        let half = Cost { memory_bytes: MOST_MEMORY_BYTES / 2, threads: 10 };
        assert_eq!(half.check_beside(half), Ok(()));
        let refused = half.check_beside(half.plus(Cost { memory_bytes: 1, threads: 0 }));
        let failure = refused.unwrap_err();
        assert_eq!(failure.code, "request.too_large");
        assert!(failure.message.contains("512 MiB of memory beside 513 MiB"), "{failure}");
        let many = Cost { memory_bytes: 0, threads: MOST_THREADS };
        assert!(many.check_beside(Cost { memory_bytes: 0, threads: 1 }).is_err());
    }
}
