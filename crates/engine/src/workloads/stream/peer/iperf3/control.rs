//! The control connection of a test at the client.

use std::io;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_workloads::iperf3::{Client, Event};
use lanlab_workloads::path::ROUND_TRIPS_OF_SILENCE;

use crate::messages::{Failure, PeerReport};
use crate::running::Running;
use crate::workloads::setup::{is_closed, is_idle};

const READ_BYTES: usize = 16 * 1024;
const WRITE_WITHIN: Duration = Duration::from_secs(2);
/// Replies of an idle server take one round trip; with many flows, a few.
const ANSWER_NS: u64 = 10_000_000_000;

/// Time-out for a reply. It covers the opening of flows by the server: a question, its answer, and over TCP one
/// resend.
pub fn answer_ns(round_trip_ns: u64) -> u64 {
    ANSWER_NS.saturating_add(2 * ROUND_TRIPS_OF_SILENCE * round_trip_ns)
}

pub struct Control<'a> {
    stream: TcpStream,
    client: Client,
    patience_ns: u64,
    pub has_ended: bool,
    pub running: &'a Running,
}

impl<'a> Control<'a> {
    /// The connection must be open, with reads that time out after a tick.
    pub fn new(
        (stream, round_trip_ns): (TcpStream, u64),
        client: Client,
        running: &'a Running,
    ) -> Result<Self, Failure> {
        stream
            .set_nodelay(true)
            .and_then(|()| stream.set_write_timeout(Some(WRITE_WITHIN)))
            .map_err(|error| Failure::system("socket options", &error))?;
        let patience_ns = answer_ns(round_trip_ns);
        Ok(Self { stream, client, patience_ns, has_ended: false, running })
    }

    /// Wait for this event, which a conforming server sends next.
    pub fn expect(&mut self, expected: &Event) -> Result<(), Failure> {
        let event = self.next()?;
        if event == *expected {
            return Ok(());
        }
        Err(unexpected(&event, &format!("{expected:?}")))
    }

    /// Exchange results with the server, and end the dialogue. `ours` is called once the server waits for them.
    pub fn exchange(&mut self, ours: impl FnOnce() -> PeerReport) -> Result<PeerReport, Failure> {
        self.client.end();
        self.expect(&Event::WantResults)?;
        self.client.give_results(&ours());
        let event = self.next()?;
        let Event::Report(report) = event else {
            return Err(unexpected(&event, "a report"));
        };
        self.expect(&Event::Over)?;
        Ok(*report)
    }

    /// Check whether the server has ended the test during transfer, when it sends nothing else.
    pub fn watch(&mut self) -> Result<(), Failure> {
        let mut buffer = [0; 64];
        loop {
            let event = self.client.poll_event();
            if let Some(event) = self.seen(event)? {
                return Err(unexpected(&event, "the end of the test"));
            }
            match os::receive_now(&self.stream, &mut buffer) {
                Ok(0) => return self.seen(Err(self.client.closed())),
                Ok(octets) => self.client.handle(&buffer[..octets]),
                Err(error) if is_idle(&error) => return Ok(()),
                Err(error) => return self.seen(Err(self.broken(&error))),
            }
        }
    }

    fn seen<T>(&mut self, said: Result<T, Failure>) -> Result<T, Failure> {
        self.has_ended |= said.is_err();
        said
    }

    fn broken(&self, error: &io::Error) -> Failure {
        if is_closed(error) {
            self.client.closed()
        } else {
            Failure::system("control connection", error)
        }
    }

    /// Abort a test. A server that has disconnected does not notice.
    pub fn give_up(&mut self) {
        self.client.give_up();
        let _ = self.flush();
    }

    fn next(&mut self) -> Result<Event, Failure> {
        let deadline = os::monotonic().plus_nanos(self.patience_ns);
        let mut buffer = [0; READ_BYTES];
        loop {
            let event = self.client.poll_event();
            let event = self.seen(event)?;
            self.flush()?;
            if let Some(event) = event {
                return Ok(event);
            }
            self.check(deadline)?;
            match self.stream.read(&mut buffer) {
                Ok(0) => return self.seen(Err(self.client.closed())),
                Ok(octets) => self.client.handle(&buffer[..octets]),
                Err(error) if is_idle(&error) => {}
                Err(error) => return self.seen(Err(self.broken(&error))),
            }
        }
    }

    fn check(&self, deadline: Instant) -> Result<(), Failure> {
        self.running.check()?;
        if os::monotonic() < deadline {
            return Ok(());
        }
        let seconds = self.patience_ns / 1_000_000_000;
        Err(Failure::new(
            "peer.no_answer",
            format!("the peer answered nothing on its control connection for {seconds} s"),
        )
        .hint("check that it is an iperf3 server; `iperf3 -s` listens on 5201"))
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let octets = self.client.take_output();
        self.stream.write_all(&octets).map_err(|error| self.broken(&error))
    }
}

fn unexpected(event: &Event, due: &str) -> Failure {
    Failure::new("peer.protocol", format!("found {event:?} where {due} was due"))
}
