use crate::Usage;

pub fn thread_usage() -> Usage {
    Usage::default()
}

pub fn process_cpu_ns() -> Option<u64> {
    None
}

pub fn thread_cpu_ns() -> u64 {
    0
}
