use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use lanlab_units::Instant;

use super::check;

/// A descriptor that becomes readable at a given time (`timerfd_create(2)`), for programs that wait by descriptor
/// and whose own timers resolve only milliseconds.
#[derive(Debug)]
pub struct Alarm(OwnedFd);

impl Alarm {
    pub fn new() -> io::Result<Self> {
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: takes integers only; the descriptor it returns has no other owner.
        let descriptor = unsafe {
            let descriptor = check(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags))?;
            OwnedFd::from_raw_fd(descriptor)
        };
        Ok(Self(descriptor))
    }

    /// Set the alarm to a time of the monotonic clock, replacing any earlier one.
    pub fn set(&self, at: Instant) -> io::Result<()> {
        // Zero would disarm it.
        let nanos = at.as_nanos().max(1);
        let time = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec {
                tv_sec: (nanos / 1_000_000_000).cast_signed(),
                tv_nsec: (nanos % 1_000_000_000).cast_signed(),
            },
        };
        let no_old = std::ptr::null_mut();
        let own = self.0.as_raw_fd();
        // SAFETY: the descriptor is open; `time` is valid; the old time is not requested.
        check(unsafe {
            libc::timerfd_settime(own, libc::TFD_TIMER_ABSTIME, &raw const time, no_old)
        })
        .map(drop)
    }

    /// Acknowledge that it has gone off; it is unreadable until set again.
    ///
    /// # Errors `WouldBlock` before the alarm's time; a system error.
    pub fn quiet(&self) -> io::Result<()> {
        let mut expirations = [0_u8; 8];
        // SAFETY: the descriptor is open; pointer and length describe the buffer.
        let read = unsafe {
            libc::read(self.0.as_raw_fd(), expirations.as_mut_ptr().cast(), expirations.len())
        };
        if read < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Alarm {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
