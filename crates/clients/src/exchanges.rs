//! How many requests of this thread's sessions were answered. Requests that go out together and are
//! answered together count once. SMB 1 and `NetWare` count none.

use std::cell::Cell;

thread_local! {
    static ANSWERED: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn count() {
    ANSWERED.set(ANSWERED.get() + 1);
}

/// Answered until now, on this thread; a workload takes the difference of two readings.
pub fn answered() -> u64 {
    ANSWERED.get()
}

/// A count, unless the clients of a service count nothing.
pub fn counted(exchanges: u64) -> Option<u64> {
    (exchanges > 0).then_some(exchanges)
}

/// Forget what came after a reading, as what ends a session.
pub(crate) fn return_to(reading: u64) {
    ANSWERED.set(reading);
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_thread_counts_for_itself() {
        super::count();
        let own = super::answered();
        let other = std::thread::spawn(|| (super::count(), super::answered()).1);
        assert_eq!((own, other.join().unwrap()), (1, 1));
        super::return_to(0);
        assert_eq!(super::answered(), 0);
    }
}
