use std::io::{self, ErrorKind};

use crate::{RawFrames, RawLinkPlace};

#[derive(Debug)]
pub struct RawLink(std::convert::Infallible);

fn refused() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, "raw Ethernet frames need Linux")
}

impl RawLink {
    /// Open one.
    ///
    /// # Errors
    /// Always: this system is not known to have such links.
    pub fn open(_place: &RawLinkPlace, _frames: RawFrames) -> io::Result<Self> {
        Err(refused())
    }

    /// Make a TAP.
    ///
    /// # Errors
    /// Always, as above.
    pub fn tap(_interface: &str, _mac: [u8; 6]) -> io::Result<Self> {
        Err(refused())
    }

    pub fn mac(&self) -> [u8; 6] {
        match self.0 {}
    }

    pub fn interface(&self) -> &str {
        match self.0 {}
    }

    pub fn receive(&self, _into: &mut [u8]) -> io::Result<Option<usize>> {
        match self.0 {}
    }

    pub fn send(&self, _frame: &[u8]) -> io::Result<bool> {
        match self.0 {}
    }

    pub fn new_drops(&self) -> u64 {
        match self.0 {}
    }
}

#[derive(Debug)]
pub struct LinkDescriptor(std::convert::Infallible);

impl LinkDescriptor {
    /// One of this link.
    ///
    /// # Errors
    /// Always: this system is not known to have such links.
    pub fn of<L>(_link: &L) -> io::Result<Self> {
        Err(refused())
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for LinkDescriptor {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        match self.0 {}
    }
}
