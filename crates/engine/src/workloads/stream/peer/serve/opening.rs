//! Connections without a place yet. If clients send first, each waits for its first bytes.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use lanlab_os::{self as os, Interest, Readiness};
use lanlab_units::Instant;
use lanlab_wire::iperf3::COOKIE_BYTES;

use super::roll::Roll;

/// Maximum connections that have not sent enough. Above it the oldest is closed: silent ones cannot block others.
const MOST_SILENT: usize = 512;
/// Maximum connections that wait for a place. Above it, the oldest are refused.
const MOST_WAITING: usize = 512;
/// Time-out of the first bytes, which may be lost and resent.
const SILENT_NS: u64 = 60_000_000_000;
const LISTENER: usize = 0;

pub type Cookie = [u8; COOKIE_BYTES];

pub struct Opened {
    pub stream: TcpStream,
    pub address: SocketAddr,
    pub cookie: Cookie,
}

impl Opened {
    /// A connection whose cookie has arrived.
    pub fn of(mut stream: TcpStream) -> io::Result<Self> {
        let mut cookie = [0; COOKIE_BYTES];
        stream.read_exact(&mut cookie)?;
        Ok(Self { address: stream.peer_addr()?, stream, cookie })
    }
}

pub struct Arrivals {
    readiness: Readiness,
    /// Bytes that a client sends before it gets a place.
    first_bytes: usize,
    last_key: usize,
    silent: VecDeque<(usize, Instant, TcpStream)>,
    pub spoken: VecDeque<TcpStream>,
}

impl Arrivals {
    pub fn new(listener: &TcpListener, first_bytes: usize) -> io::Result<Self> {
        let readiness = Readiness::new(MOST_SILENT)?;
        readiness.watch(listener, LISTENER, Interest::Read)?;
        let (silent, spoken) = (VecDeque::new(), VecDeque::new());
        Ok(Self { readiness, first_bytes, last_key: LISTENER, silent, spoken })
    }

    /// Wait briefly for connections, and for the first bytes on existing ones.
    pub fn wait(
        &mut self,
        listener: &TcpListener,
        wait: Duration,
        roll: &mut Roll<'_>,
    ) -> io::Result<()> {
        let ready: Vec<usize> = self.readiness.wait(wait)?.collect();
        for key in ready {
            // Keys increase from connection to connection.
            let place = self.silent.binary_search_by_key(&key, |(known, ..)| *known).ok();
            let Some((.., stream)) = place.and_then(|place| self.silent.remove(place)) else {
                continue;
            };
            self.readiness.forget(&stream)?;
            let mut first = [0; COOKIE_BYTES];
            let has_all = stream.peek(&mut first).is_ok_and(|bytes| bytes >= self.first_bytes);
            if has_all && os::ready_from(&stream, 1).is_ok() {
                self.spoken.push_back(stream);
            } else {
                roll.silent += 1;
            }
        }
        let now = os::monotonic();
        for _ in 0..MOST_SILENT {
            // A connection gone before being accepted is ignored; a system refusal, as for lack of descriptors, may
            // be temporary.
            let Ok((stream, _)) = listener.accept() else { break };
            if self.first_bytes == 0 {
                self.spoken.push_back(stream);
                continue;
            }
            self.last_key += 1;
            let watched = stream
                .set_nonblocking(true)
                .and_then(|()| os::ready_from(&stream, self.first_bytes))
                .and_then(|()| self.readiness.watch(&stream, self.last_key, Interest::Read));
            if watched.is_ok() {
                self.silent.push_back((self.last_key, now.plus_nanos(SILENT_NS), stream));
            }
        }
        let is_late = |(_, deadline, _): &(usize, Instant, TcpStream)| *deadline <= now;
        while self.silent.len() > MOST_SILENT || self.silent.front().is_some_and(is_late) {
            roll.silent += 1;
            self.silent.pop_front();
        }
        let beyond = self.spoken.len().saturating_sub(MOST_WAITING);
        roll.refused += beyond as u64;
        self.spoken.drain(..beyond);
        Ok(())
    }
}
