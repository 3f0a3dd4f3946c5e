use std::io;

/// Wakes the thread that watches it; here all watched sockets are polled repeatedly.
#[derive(Debug)]
pub struct Wake(());

impl Wake {
    pub fn new() -> io::Result<Self> {
        Ok(Self(()))
    }

    pub fn wake(&self) {}

    pub fn reset(&self) {}
}
