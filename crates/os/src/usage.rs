/// CPU time that a thread has used, as the kernel accounts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// In user mode, nanoseconds.
    pub user_ns: u64,
    /// In the kernel on the thread's behalf, nanoseconds.
    pub system_ns: u64,
    /// Times the thread gave up the CPU to wait.
    pub voluntary_switches: u64,
    /// Times the CPU was taken from the thread.
    pub involuntary_switches: u64,
}

impl Usage {
    /// What was used between `earlier` and `self`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }

    /// The sum of two threads' use.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
        }
    }
}
