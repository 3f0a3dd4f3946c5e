use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Interest;

const PAUSE: Duration = Duration::from_micros(200);

/// Sockets identified by a key. All count as ready, as readiness is unknown here.
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

    /// Watch a socket for something else: all sockets are polled anyway.
    pub fn change<S>(&self, socket: &S, key: usize, interest: Interest) -> io::Result<()> {
        self.watch(socket, key, interest)
    }

    pub fn another(&self) -> io::Result<Self> {
        Ok(Self { keys: Arc::clone(&self.keys) })
    }

    /// Stop watching a socket: it is still polled, which is harmless.
    pub fn forget<S>(&self, _socket: &S) -> io::Result<()> {
        Ok(())
    }

    pub fn wait(&mut self, timeout: Duration) -> io::Result<impl Iterator<Item = usize>> {
        std::thread::sleep(timeout.min(PAUSE));
        Ok(self.keys().clone().into_iter())
    }
}

/// Wait briefly: whether a socket has room is unknown here.
pub fn wait_writable<S>(_socket: &S, timeout: Duration) -> io::Result<()> {
    std::thread::sleep(timeout.min(PAUSE));
    Ok(())
}

/// Does nothing: whether data is available is unknown here, so reading blocks.
pub fn wait_readable<S>(_source: &S, _timeout: Duration) -> io::Result<bool> {
    Ok(true)
}
