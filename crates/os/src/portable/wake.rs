use std::io;

/// Wakes the thread that watches it: here everything that is watched is looked at again and again.
#[derive(Debug)]
pub struct Wake(());

impl Wake {
    pub fn new() -> io::Result<Self> {
        Ok(Self(()))
    }

    pub fn wake(&self) {}

    pub fn reset(&self) {}
}
