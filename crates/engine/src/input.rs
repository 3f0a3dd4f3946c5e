//! The engine's standard input, with a time limit between bytes.

use std::io::{self, Read, Stdin};
use std::time::Duration;

use lanlab_os as os;

/// Standard input that also ends after a time without a byte: the connection behind it may be dead
/// without an error.
pub struct Input {
    stdin: Stdin,
    longest_silence: Option<Duration>,
}

impl Input {
    /// With `None` reads wait without a limit.
    pub fn new(longest_silence: Option<Duration>) -> Self {
        Self { stdin: io::stdin(), longest_silence }
    }
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // Standard input has a buffer of its own, which `poll` does not see. It stays empty: every
        // read is into a larger buffer, and bypasses it.
        if let Some(longest) = self.longest_silence
            && !os::wait_readable(&self.stdin, longest)?
        {
            return Ok(0);
        }
        self.stdin.read(into)
    }
}
