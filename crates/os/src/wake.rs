//! Waking a thread that waits for [`super::readiness::Readiness`] (eventfd(2)).

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{EventfdFlags, eventfd};

#[derive(Debug)]
pub struct Wake(File);

impl Wake {
    pub fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self(File::from(eventfd(0, flags)?)))
    }

    pub fn wake(&self) {
        // Fails only if the count would overflow, when it is already ready.
        let _ = (&self.0).write(&1_u64.to_ne_bytes());
    }

    pub fn reset(&self) {
        let _ = (&self.0).read(&mut [0; 8]);
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
