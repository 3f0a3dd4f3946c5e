use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use lanlab_units::Instant;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::clock::timespec;

/// A descriptor that becomes readable at a given time (`timerfd_create(2)`), for programs that wait by descriptor
/// and whose own timers resolve only milliseconds.
#[derive(Debug)]
pub struct Alarm(OwnedFd);

impl Alarm {
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// Set the alarm to a time of the monotonic clock, replacing any earlier one.
    pub fn set(&self, at: Instant) -> io::Result<()> {
        // Zero would disarm it.
        let it_value = timespec(at.max(Instant::from_nanos(1)));
        let time = Itimerspec { it_interval: Timespec::default(), it_value };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &time)?;
        Ok(())
    }

    /// Acknowledge that it has gone off; it is unreadable until set again.
    ///
    /// # Errors `WouldBlock` before the alarm's time; a system error.
    pub fn quiet(&self) -> io::Result<()> {
        rustix::io::read(&self.0, &mut [0_u8; 8])?;
        Ok(())
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
