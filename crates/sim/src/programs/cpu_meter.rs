//! The CPU time of a host during a stream.

use lanlab_messages::CpuTime;
use lanlab_workloads::stream::CpuMeter;

use super::HostNode;
use crate::facts::CpuFacts;
use crate::program::Host;

/// Measures a host's CPU time from [`begin`](CpuMeter::begin) to [`end`](CpuMeter::end), all of it,
/// because the host runs one program. Without a host it measures nothing.
#[derive(Default)]
pub struct HostCpuMeter {
    host: Option<Host<HostNode>>,
    before: Option<CpuFacts>,
    used: CpuTime,
}

impl HostCpuMeter {
    pub fn new(host: &Host<HostNode>) -> Self {
        Self { host: Some(host.clone()), ..Self::default() }
    }

    /// Program time counts as user mode, interrupts and protocols as system mode.
    pub fn used(&self) -> CpuTime {
        self.used
    }
}

impl CpuMeter for HostCpuMeter {
    fn begin(&mut self) {
        if self.before.is_none() {
            self.before = self.host.as_ref().map(Host::cpu);
        }
    }

    fn end(&mut self) {
        if let (Some(before), Some(host)) = (self.before.take(), &self.host) {
            let used = used_between(before, host.cpu());
            self.used.user_ns += used.user_ns;
            self.used.system_ns += used.system_ns;
        }
    }
}

fn used_between(before: CpuFacts, after: CpuFacts) -> CpuTime {
    let system_ns = |cpu: CpuFacts| cpu.interrupt_ns + cpu.protocol_ns;
    CpuTime {
        user_ns: after.program_ns - before.program_ns,
        system_ns: system_ns(after) - system_ns(before),
        ..CpuTime::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupt_and_protocol_time_count_as_system_time() {
        let before = CpuFacts { interrupt_ns: 100, protocol_ns: 20, program_ns: 3 };
        let after = CpuFacts { interrupt_ns: 150, protocol_ns: 90, program_ns: 1_003 };
        let used = used_between(before, after);
        assert_eq!((used.user_ns, used.system_ns), (1_000, 120));
    }
}
