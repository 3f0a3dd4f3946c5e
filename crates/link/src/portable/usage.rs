use crate::Usage;

/// Not known here: zero.
pub fn thread_usage() -> Usage {
    Usage::default()
}
