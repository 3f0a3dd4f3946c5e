use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Interest;

const PAUSE: Duration = Duration::from_micros(200);

/// Sockets identified by a key. Which of them are ready is not known here: all are looked at.
#[derive(Debug)]
pub struct Readiness {
    keys: Arc<Mutex<Vec<usize>>>,
}

impl Readiness {
    pub fn new(capacity: usize) -> io::Result<Self> {
        Ok(Self { keys: Arc::new(Vec::with_capacity(capacity).into()) })
    }

    fn keys(&self) -> MutexGuard<'_, Vec<usize>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn watch<S>(&self, _socket: &S, key: usize, _interest: Interest) -> io::Result<()> {
        let mut keys = self.keys();
        if !keys.contains(&key) {
            keys.push(key);
        }
        Ok(())
    }

    /// Watch a socket for something else: it goes on being looked at.
    pub fn change<S>(&self, socket: &S, key: usize, interest: Interest) -> io::Result<()> {
        self.watch(socket, key, interest)
    }

    pub fn another(&self) -> io::Result<Self> {
        Ok(Self { keys: Arc::clone(&self.keys) })
    }

    /// Watch a socket no more: it goes on being looked at, which does no harm.
    pub fn forget<S>(&self, _socket: &S) -> io::Result<()> {
        Ok(())
    }

    pub fn wait(&mut self, timeout: Duration) -> io::Result<impl Iterator<Item = usize>> {
        std::thread::sleep(timeout.min(PAUSE));
        Ok(self.keys().clone().into_iter())
    }
}

/// Wait a little: whether a socket has room to write is not known here.
pub fn wait_writable<S>(_socket: &S, timeout: Duration) -> io::Result<()> {
    std::thread::sleep(timeout.min(PAUSE));
    Ok(())
}

/// Nothing: that nothing is to be read is not known here, so reading waits.
pub fn wait_readable<S>(_source: &S, _timeout: Duration) -> io::Result<bool> {
    Ok(true)
}
