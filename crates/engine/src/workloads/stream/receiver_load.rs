//! Deliberate load that slows a receiver down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use lanlab_os as os;
use lanlab_units::Instant;

use crate::messages::{Failure, ReceiverLoad};
use crate::workloads::setup::{bind, check_range};

/// Period of a quota. The kernel's default of 100 ms (`cpu.cfs_period_us`) would be most of a short trial.
const PERIOD_NS: u64 = 10_000_000;
const MOST_WORK_NS: u64 = 1_000_000_000;
const MOST_RIVALS: u64 = 16;

pub fn check(load: &ReceiverLoad) -> Result<(), Failure> {
    check_range("load.work_ns", load.work_ns, 0, MOST_WORK_NS)?;
    check_range("load.rivals", load.rivals.into(), 0, MOST_RIVALS)?;
    match load.quota_ratio {
        Some(ratio) if !(0.01..=1.0).contains(&ratio) => {
            Err(Failure::value("load.quota_ratio", ratio, "0.01 to 1"))
        }
        _ => Ok(()),
    }
}

pub struct AppliedLoad {
    load: ReceiverLoad,
    pub worked_ns: u64,
    period: Option<(Instant, u64)>,
    rivals: Vec<JoinHandle<()>>,
    over: Arc<AtomicBool>,
}

impl AppliedLoad {
    pub fn new(load: ReceiverLoad) -> Result<Self, Failure> {
        check(&load)?;
        let over = Arc::new(AtomicBool::new(false));
        Ok(Self { load, worked_ns: 0, period: None, rivals: Vec::new(), over })
    }

    pub fn begin(&mut self, processor: Option<u16>) -> Result<(), Failure> {
        for _ in 0..self.load.rivals {
            let over = Arc::clone(&self.over);
            let rival = thread::Builder::new().spawn(move || {
                // The receiver was bound to this processor before, so binding is known to work.
                let _ = bind(processor);
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            self.rivals.push(rival.map_err(|error| Failure::system("a busy thread", &error))?);
        }
        Ok(())
    }

    /// Work on each of the messages read, then rest if the quota is used up.
    pub fn after(&mut self, messages: u64) {
        if self.load.work_ns > 0 && messages > 0 {
            let from_ns = os::thread_cpu_ns();
            let until_ns = from_ns + messages * self.load.work_ns;
            // Measure CPU time: time taken by other threads is not work.
            while os::thread_cpu_ns() < until_ns {
                std::hint::spin_loop();
            }
            self.worked_ns += os::thread_cpu_ns() - from_ns;
        }
        if let Some(ratio) = self.load.quota_ratio {
            self.keep_to_quota(ratio);
        }
    }

    fn keep_to_quota(&mut self, ratio: f64) {
        if let Some(end) = self.rest_until(ratio, os::monotonic(), os::thread_cpu_ns()) {
            os::sleep_until(end);
            self.period = Some((os::monotonic(), os::thread_cpu_ns()));
        }
    }

    /// End of the current period if its quota is used up at `now`, when the thread has used `used_ns` of CPU time.
    fn rest_until(&mut self, ratio: f64, now: Instant, used_ns: u64) -> Option<Instant> {
        let (began, used_then_ns) = *self.period.get_or_insert((now, used_ns));
        let end = began.plus_nanos(PERIOD_NS);
        if now >= end {
            self.period = Some((now, used_ns));
            return None;
        }
        ((used_ns - used_then_ns) as f64 >= ratio * PERIOD_NS as f64).then_some(end)
    }
}

impl Drop for AppliedLoad {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for rival in self.rivals.drain(..) {
            let _ = rival.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::work_for;
    use super::*;

    fn applied_load(load: ReceiverLoad) -> AppliedLoad {
        let mut applied_load = AppliedLoad::new(load).unwrap();
        applied_load.begin(None).unwrap();
        applied_load
    }

    #[test]
    fn work_takes_its_time_for_each_message() {
        let mut applied_load =
            applied_load(ReceiverLoad { work_ns: 1_000_000, ..Default::default() });
        // Earlier CPU time of the thread does not count as work on messages.
        work_for(20_000_000);
        let before_ns = os::thread_cpu_ns();
        applied_load.after(5);
        // The work lasts at least as long as requested.
        let used_ns = os::thread_cpu_ns() - before_ns;
        assert!((5_000_000..=used_ns).contains(&applied_load.worked_ns), "{used_ns}");
    }

    #[test]
    fn a_quota_leaves_the_rest_of_the_time_to_others() {
        let mut applied_load =
            applied_load(ReceiverLoad { quota_ratio: Some(0.2), ..Default::default() });
        let (began, used_ns) = (os::monotonic(), os::thread_cpu_ns());
        while os::monotonic().nanos_since(began) < 200_000_000 {
            applied_load.after(1);
        }
        let used_ns = os::thread_cpu_ns() - used_ns;
        assert!(used_ns < 60_000_000, "{used_ns} of 200 ms, where 40 are allowed");
    }

    #[test]
    fn a_quota_is_used_up_by_its_share_of_ten_milliseconds() {
        let mut applied_load =
            applied_load(ReceiverLoad { quota_ratio: Some(0.25), ..Default::default() });
        let mut rest_until_us = |now_us: u64, used_us: u64| {
            let end =
                applied_load.rest_until(0.25, Instant::from_nanos(1_000 * now_us), 1_000 * used_us);
            end.map(|end| end.as_nanos() / 1_000)
        };
        // The interval begins at 1 ms, with 700 ms of CPU time used; its quota is 2.5 ms.
        assert_eq!(rest_until_us(1_000, 700_000), None);
        assert_eq!(rest_until_us(5_000, 702_499), None);
        assert_eq!(rest_until_us(10_999, 702_500), Some(11_000));
        assert_eq!(rest_until_us(11_000, 702_600), None, "a new stretch begins");
        assert_eq!(rest_until_us(20_000, 705_099), None);
        assert_eq!(rest_until_us(20_000, 705_100), Some(21_000));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let refused = |load: ReceiverLoad| check(&load).unwrap_err().message;
        assert!(
            refused(ReceiverLoad { quota_ratio: Some(0.0), ..Default::default() })
                .contains("quota_ratio")
        );
        assert!(refused(ReceiverLoad { rivals: 17, ..Default::default() }).contains("rivals"));
        let work_ns = MOST_WORK_NS + 1;
        assert!(refused(ReceiverLoad { work_ns, ..Default::default() }).contains("work_ns"));
        assert!(check(&ReceiverLoad::default()).is_ok());
        let most = ReceiverLoad { quota_ratio: Some(1.0), work_ns: MOST_WORK_NS, rivals: 16 };
        assert!(check(&most).is_ok() && AppliedLoad::new(most).is_ok());
        let quota = |ratio| ReceiverLoad { quota_ratio: Some(ratio), ..Default::default() };
        assert!(check(&quota(0.01)).is_ok() && check(&quota(1.01)).is_err());
        assert!(AppliedLoad::new(quota(0.0)).is_err());
    }

    #[test]
    fn work_is_done_for_each_message_and_only_under_load() {
        let mut loaded = applied_load(ReceiverLoad { work_ns: 1_000_000, ..Default::default() });
        loaded.after(0);
        assert_eq!(loaded.worked_ns, 0);
        loaded.after(1);
        loaded.after(2);
        assert!(loaded.worked_ns >= 3_000_000);
        let mut unloaded = applied_load(ReceiverLoad::default());
        unloaded.after(5);
        assert_eq!(unloaded.worked_ns, 0);
    }

    #[test]
    fn rivals_take_the_processor_until_the_end() {
        let rivals = applied_load(ReceiverLoad { rivals: 2, ..Default::default() });
        assert_eq!(rivals.rivals.len(), 2);
        thread::sleep(std::time::Duration::from_millis(30));
        assert!(!rivals.rivals.iter().any(JoinHandle::is_finished));
        let over = Arc::clone(&rivals.over);
        drop(rivals);
        // An ended thread no longer counts.
        assert!(over.load(Ordering::Relaxed) && Arc::strong_count(&over) == 1);
    }
}
