//! The end of a connection that a library keeps in a task of its own.

use std::io;
use std::net::{Shutdown, TcpStream};

/// Ends a connection when it is dropped, whoever holds it: russh detaches the task that does.
#[derive(Debug)]
pub struct Cut(TcpStream);

impl Cut {
    /// Of a connection, which goes on until then.
    pub fn of(stream: tokio::net::TcpStream) -> io::Result<(Self, tokio::net::TcpStream)> {
        let stream = stream.into_std()?;
        let cut = Self(stream.try_clone()?);
        Ok((cut, tokio::net::TcpStream::from_std(stream)?))
    }

    /// Whether `TCP_NODELAY` is set.
    pub fn no_delay(&self) -> Option<bool> {
        self.0.nodelay().ok()
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
