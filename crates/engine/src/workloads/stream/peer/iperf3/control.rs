//! The control connection of a test, as its client has it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_workloads::iperf3::{Client, Event};

use crate::messages::{Failure, PeerReport};
use crate::running::Running;
use crate::workloads::setup::{is_closed, is_idle};

/// Octets that one read asks for.
const READ_BYTES: usize = 16 * 1024;
/// To take the few octets of a dialogue.
const WRITE_WITHIN: Duration = Duration::from_secs(2);
/// Answers of a server that is not busy take a round trip; one that serves many flows a few.
const ANSWER_NS: u64 = 10_000_000_000;

/// A client and its connection.
pub struct Control<'a> {
    stream: TcpStream,
    client: Client,
    pub running: &'a Running,
}

impl<'a> Control<'a> {
    /// Over a connection that is open, whose reads come back after a tick.
    pub fn new(stream: TcpStream, client: Client, running: &'a Running) -> Result<Self, Failure> {
        stream
            .set_nodelay(true)
            .and_then(|()| stream.set_write_timeout(Some(WRITE_WITHIN)))
            .map_err(|error| Failure::system("socket options", &error))?;
        Ok(Self { stream, client, running })
    }

    /// Wait for an event, which is the next one of a server that keeps to the protocol.
    pub fn expect(&mut self, expected: &Event) -> Result<(), Failure> {
        let event = self.next()?;
        if event == *expected {
            return Ok(());
        }
        Err(Failure::new("peer.protocol", format!("found {event:?} where {expected:?} was due")))
    }

    /// The results of the server, in exchange for ours, and the end of the dialogue. `ours` is asked once
    /// the server waits for them.
    pub fn exchange(&mut self, ours: impl FnOnce() -> PeerReport) -> Result<PeerReport, Failure> {
        self.client.end();
        self.expect(&Event::WantResults)?;
        self.client.give_results(&ours());
        let event = self.next()?;
        let Event::Report(report) = event else {
            return Err(Failure::new("peer.protocol", format!("found {event:?} for a report")));
        };
        self.expect(&Event::Over)?;
        Ok(*report)
    }

    /// End a test that cannot go on. A server that is gone does not hear it.
    pub fn give_up(&mut self) {
        self.client.give_up();
        let _ = self.flush();
    }

    fn next(&mut self) -> Result<Event, Failure> {
        let deadline = os::monotonic().plus_nanos(ANSWER_NS);
        let mut buffer = [0; READ_BYTES];
        loop {
            let event = self.client.poll_event()?;
            self.flush()?;
            if let Some(event) = event {
                return Ok(event);
            }
            self.check(deadline)?;
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(self.client.closed()),
                Ok(octets) => self.client.handle(&buffer[..octets]),
                Err(error) if is_idle(&error) => {}
                Err(error) if is_closed(&error) => return Err(self.client.closed()),
                Err(error) => return Err(Failure::system("control connection", &error)),
            }
        }
    }

    fn check(&self, deadline: Instant) -> Result<(), Failure> {
        if self.running.is_cancelled() {
            return Err(Failure::cancelled());
        }
        if os::monotonic() < deadline {
            return Ok(());
        }
        let seconds = ANSWER_NS / 1_000_000_000;
        Err(Failure::new(
            "peer.no_answer",
            format!("the peer answered nothing on its control connection for {seconds} s"),
        )
        .hint("see whether it is an iperf3 server; `iperf3 -s` listens on 5201"))
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let octets = self.client.take_output();
        self.stream.write_all(&octets).map_err(|error| {
            if is_closed(&error) {
                self.client.closed()
            } else {
                Failure::system("control connection", &error)
            }
        })
    }
}
