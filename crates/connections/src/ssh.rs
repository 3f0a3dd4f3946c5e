//! Code shared by SSH clients and servers: ciphers, and closing of connections held by russh tasks.

use std::io;
use std::net::{Shutdown, TcpStream};

use russh::cipher;

/// Ciphers of both ends, in the client's order: the fastest common ones first, as processors have
/// AES instructions. With one list, copies use the same cipher with every current server.
pub const CIPHERS: [cipher::Name; 6] = [
    cipher::AES_128_GCM,
    cipher::AES_256_GCM,
    cipher::CHACHA20_POLY1305,
    cipher::AES_128_CTR,
    cipher::AES_192_CTR,
    cipher::AES_256_CTR,
];

/// Ends a connection when dropped, even one that a detached task of russh still holds.
#[derive(Debug)]
pub struct Cut(TcpStream);

impl Cut {
    pub fn of(stream: tokio::net::TcpStream) -> io::Result<(Self, tokio::net::TcpStream)> {
        let stream = stream.into_std()?;
        let cut = Self(stream.try_clone()?);
        Ok((cut, tokio::net::TcpStream::from_std(stream)?))
    }

    pub fn no_delay(&self) -> Option<bool> {
        self.0.nodelay().ok()
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        // The connection may have ended already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
