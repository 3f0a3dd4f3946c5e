use std::io;

/// Wakes the thread that watches it: here everything that is watched is looked at again and again.
#[derive(Debug)]
pub struct Wake(());

impl Wake {
    /// One that has not been woken.
    pub fn new() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Nothing has to be done.
    pub fn wake(&self) {}

    /// Nothing has to be done.
    pub fn reset(&self) {}
}
