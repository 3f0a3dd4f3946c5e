//! Plain TCP services: echo (RFC 862), discard (RFC 863), character generator (RFC 864).
//!
//! Not over UDP, where they would answer forged sender addresses.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::thread::Scope;
use std::time::Duration;

use lanlab_os as os;
use lanlab_units::Instant;
use socket2::SockRef;

use super::ledger::Moving;
use super::opening::Arrivals;
use super::report::{ACKNOWLEDGES_WITHIN_NS, TcpBefore};
use super::roll::{Entered, Roll, address_of};
use super::{BUSY, IDLE, crowded_out};
use crate::messages::{Failure, PeerClient, PeerError, PeerServe, PeerService};
use crate::running::Running;
use crate::workloads::setup::{is_closed, is_idle};

const BUFFER_BYTES: usize = 128 << 10;
/// Unsent data for a client that may read nothing, and the amount after which it is known to read, bytes.
const UNREAD_BYTES: u32 = 64 << 10;
const READ_BYTES: u64 = 1 << 20;
/// Time-out of a read or write, to check for the end.
const LOOK: Duration = Duration::from_millis(50);
/// RFC 864: lines of 72 of the 95 printable characters, each starting one further.
const CHARACTERS: usize = 95;
const LINE_CHARACTERS: usize = 72;
const FIRST_CHARACTER: u8 = b' ';
/// Made once, as making it costs more than serving a stranger.
static PATTERN: LazyLock<Vec<u8>> = LazyLock::new(characters);

pub fn serve<'a: 'scope, 'scope>(
    request: &'a PeerServe,
    listener: &TcpListener,
    roll: &mut Roll<'a>,
    scope: &'scope Scope<'scope, '_>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::system("waiting for clients", &error);
    let speaks_first = request.service != PeerService::Chargen;
    let mut arrivals = Arrivals::new(listener, speaks_first.into()).map_err(failed)?;
    while !roll.running.is_cancelled() {
        let wait = if arrivals.spoken.is_empty() { IDLE } else { BUSY };
        arrivals.wait(listener, wait, roll).map_err(failed)?;
        while !arrivals.spoken.is_empty()
            && roll.has_room(request.clients.into(), arrivals.spoken.len())
        {
            // Take the newest: earlier ones may be part of a flood.
            let Some(stream) = arrivals.spoken.pop_back().map(Arc::new) else { break };
            roll.clients += 1;
            let entered = roll.enter(roll.clients, 1, Some(Arc::clone(&stream)));
            let client = roll.client(entered.number, address_of(&stream), String::new());
            let running = roll.running;
            scope.spawn(move || talk(request, &stream, entered, client, running));
        }
        roll.take_results(Duration::ZERO);
    }
    Ok(())
}

fn talk(
    request: &PeerServe,
    stream: &TcpStream,
    entered: Entered,
    mut client: PeerClient,
    running: &Running,
) {
    let began = os::monotonic();
    let conversation = Conversation {
        stream,
        moving: &entered.moving,
        running,
        began,
        deadline: began.plus_nanos(request.longest_ns),
        rate_bps: request.rate_bps,
    };
    let before = TcpBefore::of(std::slice::from_ref(stream));
    entered.moving.is_going.store(true, Ordering::Release);
    let ended = conversation.begin().and_then(|()| match request.service {
        PeerService::Chargen => conversation.generate(),
        service => conversation.answer(service == PeerService::Echo),
    });
    client.elapsed_ns = os::monotonic().nanos_since(began);
    entered.moving.is_going.store(false, Ordering::Release);
    // Bytes acknowledged by the client's TCP by now are known to be received.
    let handed_over = entered.moving.sending.progress.counted().1;
    let is_crowded_out = entered.moving.is_crowded_out.load(Ordering::Acquire);
    // Another client waits for the place of an evicted one.
    let within_ns = if is_crowded_out { 0 } else { ACKNOWLEDGES_WITHIN_NS };
    let acknowledged = before.settled(std::slice::from_ref(stream), within_ns);
    let acknowledged = acknowledged.first().copied().flatten();
    client.sent_bytes = acknowledged.map_or(handed_over, |bytes| bytes.min(handed_over));
    client.received_bytes = entered.moving.receiving.progress.counted().1;
    let ended = if is_crowded_out { Err(crowded_out()) } else { ended };
    if let Err(Failure { code, message, .. }) = ended {
        client.error = Some(PeerError { code: code.into(), message });
    }
    // An already closed connection stays closed.
    if is_crowded_out {
        // Unread data would keep system memory, so the connection is reset instead.
        let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
    } else {
        let _ = stream.shutdown(Shutdown::Both);
    }
    entered.end(client);
}

struct Conversation<'a> {
    stream: &'a TcpStream,
    moving: &'a Moving,
    running: &'a Running,
    began: Instant,
    deadline: Instant,
    rate_bps: Option<u64>,
}

impl Conversation<'_> {
    fn begin(&self) -> Result<(), Failure> {
        self.stream
            .set_nonblocking(false)
            .and_then(|()| self.stream.set_read_timeout(Some(LOOK)))
            .and_then(|()| self.stream.set_write_timeout(Some(LOOK)))
            .map_err(|error| Failure::system("socket options", &error))
    }

    fn answer(&self, is_echo: bool) -> Result<(), Failure> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            self.check()?;
            match (&mut &*self.stream).read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(octets) => {
                    self.moving.receiving.count(0, octets as u64);
                    if is_echo {
                        self.write_all(&buffer[..octets])?;
                    }
                    self.keep_the_rate(&self.moving.receiving);
                }
                Err(error) if is_idle(&error) => {}
                Err(error) => return ended_by(&error),
            }
        }
    }

    /// Send characters until the client closes its end; discard its input.
    fn generate(&self) -> Result<(), Failure> {
        let pattern = &*PATTERN;
        let mut discarded = vec![0; BUFFER_BYTES];
        let mut place = 0;
        // Filling the whole buffer would take milliseconds for each stranger. Not every system has the limit.
        let mut is_limited = os::limit_unsent(self.stream, UNREAD_BYTES).is_ok();
        loop {
            self.check()?;
            if is_limited && self.moving.sending.progress.counted().1 >= READ_BYTES {
                is_limited = os::limit_unsent(self.stream, 0).is_err();
            }
            match os::receive_now(self.stream, &mut discarded) {
                Ok(octets) => self.moving.receiving.count(0, octets as u64),
                Err(error) if is_idle(&error) => {}
                Err(error) => return ended_by(&error),
            }
            match (&mut &*self.stream).write(&pattern[place..]) {
                Ok(octets) => {
                    self.moving.sending.count(0, octets as u64);
                    place = (place + octets) % pattern.len();
                    self.keep_the_rate(&self.moving.sending);
                }
                Err(error) if is_idle(&error) => {}
                // Clients end this service by closing.
                Err(error) if is_closed(&error) => return Ok(()),
                Err(error) => return ended_by(&error),
            }
        }
    }

    fn write_all(&self, mut octets: &[u8]) -> Result<(), Failure> {
        while !octets.is_empty() {
            self.check()?;
            match (&mut &*self.stream).write(octets) {
                Ok(written) => {
                    self.moving.sending.count(0, written as u64);
                    octets = &octets[written..];
                }
                Err(error) if is_idle(&error) => {}
                Err(error) => return ended_by(&error),
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Failure> {
        if self.running.is_cancelled() {
            return Err(Failure::new("cancelled", "the server was ended before the client"));
        }
        if os::monotonic() < self.deadline {
            return Ok(());
        }
        let seconds = self.deadline.nanos_since(self.began) / 1_000_000_000;
        Err(Failure::new("client.too_long", format!("the client was there for {seconds} s")))
    }

    fn keep_the_rate(&self, moved: &Running) {
        let Some(rate_bps) = self.rate_bps else { return };
        let due_ns = u128::from(moved.progress.counted().1) * 8_000_000_000 / u128::from(rate_bps);
        let due = self.began.plus_nanos(u64::try_from(due_ns).unwrap_or(u64::MAX));
        while os::monotonic() < due && self.check().is_ok() {
            let next = os::monotonic().plus_nanos(LOOK.as_nanos() as u64);
            os::sleep_until(next.min(due));
        }
    }
}

fn ended_by(error: &io::Error) -> Result<(), Failure> {
    Err(if is_closed(error) {
        Failure::new("client.gone", "the client reset its connection")
    } else {
        Failure::system("the connection", error)
    })
}

fn characters() -> Vec<u8> {
    let character = |place: usize| FIRST_CHARACTER + (place % CHARACTERS) as u8;
    let line = |first: usize| {
        (first..first + LINE_CHARACTERS).map(character).chain(*b"\r\n").collect::<Vec<_>>()
    };
    // Whole cycles, so that the first line follows the last; several, as each write costs a call.
    (0..16 * CHARACTERS).flat_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines shown in RFC 864.
    #[test]
    fn chargen_output_matches_the_standard() {
        let all = String::from_utf8(characters()).unwrap();
        let lines: Vec<_> = all.split_terminator("\r\n").collect();
        assert!(lines.iter().all(|line| line.len() == LINE_CHARACTERS));
        assert!(lines[0].starts_with(" !\"#$%&'()*+,-./0123456789") && lines[0].ends_with("efg"));
        assert!(lines[1].starts_with("!\"#") && lines[1].ends_with("fgh"));
        assert_eq!((lines[CHARACTERS], lines.len()), (lines[0], 16 * CHARACTERS));
    }
}
