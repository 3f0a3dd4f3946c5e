//! Reads and discards what a peer sends back during a stream: an echoing peer stops reading if its replies are not
//! read.

use std::net::TcpStream;
use std::time::Duration;

use lanlab_os::{self as os, Interest, Readiness};

use crate::background::{Work, with_background};
use crate::messages::Failure;
use crate::workloads::setup::is_idle;

pub const BUFFER_BYTES: usize = 256 * 1024;
/// Maximum consecutive reads of a connection, so that others get their turn.
const READS_IN_A_ROW: usize = 16;
const LOOK: Duration = Duration::from_millis(5);
/// After the work, wait until nothing has arrived for this time.
const LAST_WORDS_NS: u64 = 200_000_000;
/// Limit of that wait, for a peer that never stops.
const MOST_LAST_WORDS_NS: u64 = 2_000_000_000;

/// Run `work`, which sends over `streams`, and return its result with the number of bytes that came back.
pub fn discarding<T>(streams: &[TcpStream], work: impl FnOnce() -> T) -> Result<(T, u64), Failure> {
    let failed = |error| Failure::system("reading what the peer sends back", &error);
    let readiness = Readiness::new(streams.len()).map_err(failed)?;
    for (key, stream) in streams.iter().enumerate() {
        readiness.watch(stream, key, Interest::Read).map_err(failed)?;
    }
    let (result, read) = with_background(|work| read_back(streams, readiness, work), work);
    Ok((result, read.unwrap_or_default()))
}

/// Read until the work is over and nothing more arrives; returns the number of bytes.
fn read_back(streams: &[TcpStream], mut readiness: Readiness, work: &Work) -> u64 {
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut total, mut open) = (0, streams.len());
    let mut over_since = None;
    let mut last = os::monotonic();
    while open > 0 {
        let now = os::monotonic();
        if work.is_over() {
            let since = *over_since.get_or_insert(now);
            let quiet_ns = now.nanos_since(last.max(since));
            if quiet_ns > LAST_WORDS_NS || now.nanos_since(since) > MOST_LAST_WORDS_NS {
                break;
            }
        }
        // A failed wait counts as an empty one.
        let ready: Vec<_> = readiness.wait(LOOK).map(Iterator::collect).unwrap_or_default();
        for key in ready {
            let (octets, is_open) = read_some(&streams[key], &mut buffer);
            total += octets;
            if octets > 0 {
                last = os::monotonic();
            }
            if !is_open {
                open -= 1;
                // If this fails, the stream is only read again without effect.
                let _ = readiness.forget(&streams[key]);
            }
        }
    }
    total
}

/// Read available data; returns its length, and whether there may be more later.
fn read_some(stream: &TcpStream, buffer: &mut [u8]) -> (u64, bool) {
    let mut total = 0;
    for _ in 0..READS_IN_A_ROW {
        match os::receive_now(stream, buffer) {
            Ok(0) => return (total, false),
            Ok(octets) => total += octets as u64,
            Err(error) => return (total, is_idle(&error)),
        }
    }
    (total, true)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{Shutdown, TcpListener};

    use super::*;

    #[test]
    fn returned_bytes_are_counted_until_the_peer_closes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let far = listener.accept().unwrap().0;
        let streams = [near];
        let (answer, octets) = discarding(&streams, || {
            (&far).write_all(&vec![7; 1_000_000]).unwrap();
            far.shutdown(Shutdown::Both).unwrap();
            42
        })
        .unwrap();
        assert_eq!((answer, octets), (42, 1_000_000));
    }
}
