//! Lines of bounded length on a connection.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::Wire;

/// Longest line, bytes: a service path and the words around it.
const MAX_LINE_OCTETS: usize = 4096;

#[derive(Debug)]
pub struct Lines<W = Wire> {
    pub wire: W,
    pending: Vec<u8>,
}

impl<W: AsyncRead + AsyncWrite + Unpin> Lines<W> {
    pub fn new(wire: W) -> Self {
        Self { wire, pending: Vec::new() }
    }

    /// Returns the connection to start TLS on it. No unprotected data may be waiting.
    pub fn into_wire(self) -> io::Result<W> {
        if self.pending.is_empty() {
            return Ok(self.wire);
        }
        let message = "found octets sent in clear before TLS began; allowed: none";
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }

    /// The next line without its end; `None` if the connection ends between two lines.
    pub async fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            let end = self.pending.iter().position(|octet| *octet == b'\n');
            // A line that is too long is refused even if it arrives in one read.
            if end.unwrap_or(self.pending.len()) > MAX_LINE_OCTETS {
                let message = format!("found a line longer than {MAX_LINE_OCTETS} octets");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            if let Some(end) = end {
                let rest = self.pending.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.pending, rest);
                line.truncate(line.len() - 1);
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return match String::from_utf8(line) {
                    Ok(line) => Ok(Some(line)),
                    Err(bad) => Ok(Some(String::from_utf8_lossy(bad.as_bytes()).into_owned())),
                };
            }
            let mut come = [0; 2048];
            let count = self.wire.read(&mut come).await?;
            self.pending.extend_from_slice(&come[..count]);
            if count == 0 {
                return if self.pending.is_empty() {
                    Ok(None)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            }
        }
    }

    /// Whether the connection ends before `over` does and before more data arrives.
    pub async fn end_before(&mut self, over: impl Future<Output = ()>) -> bool {
        let mut come = [0; 2048];
        tokio::select! {
            biased;
            () = over => false,
            read = self.wire.read(&mut come) => {
                let count = read.unwrap_or(0);
                self.pending.extend_from_slice(&come[..count]);
                count == 0
            }
        }
    }

    pub async fn send(&mut self, lines: &str) -> io::Result<()> {
        self.wire.write_all(lines.as_bytes()).await?;
        self.wire.flush().await
    }

    pub async fn shutdown(&mut self) -> io::Result<()> {
        self.wire.shutdown().await
    }
}
