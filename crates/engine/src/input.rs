//! Standard input with a time limit between bytes.

use std::io::{self, Read, Stdin};
use std::time::Duration;

use lanlab_os as os;

/// Standard input that also ends after a silence, because a dead connection may cause no error.
pub struct Input {
    stdin: Stdin,
    longest_silence: Option<Duration>,
}

impl Input {
    /// `None` waits without limit.
    pub fn new(longest_silence: Option<Duration>) -> Self {
        Self { stdin: io::stdin(), longest_silence }
    }
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // Standard input has its own buffer, which `poll` cannot see. It stays empty, as reads into a larger buffer
        // bypass it.
        if let Some(longest) = self.longest_silence
            && !os::wait_readable(&self.stdin, longest)?
        {
            return Ok(0);
        }
        self.stdin.read(into)
    }
}
