//! The control connection of a client at the server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use lanlab_workloads::iperf3::{Refused, Served, Server};

use crate::messages::Failure;
use crate::workloads::setup::{is_closed, is_idle};

const READ_BYTES: usize = 16 * 1024;
const WRITE_WITHIN: Duration = Duration::from_secs(2);
/// Read time-out during a test, to check whether the server ends and whether data still arrives: the precision of
/// the window's end.
const LOOK: Duration = Duration::from_millis(10);
/// iperf3's error for a closed control connection, which the client never receives.
const CLOSED: i32 = 109;

pub struct Line {
    stream: TcpStream,
    pub server: Server,
}

impl Line {
    /// A connection opened with a cookie, with non-blocking reads.
    pub fn new(stream: TcpStream, server: Server) -> Self {
        Self { stream, server }
    }

    pub fn wait_from_now_on(&self) -> Result<(), Failure> {
        self.stream
            .set_nonblocking(false)
            .and_then(|()| self.stream.set_nodelay(true))
            .and_then(|()| self.stream.set_read_timeout(Some(LOOK)))
            .and_then(|()| self.stream.set_write_timeout(Some(WRITE_WITHIN)))
            .map_err(|error| Failure::system("socket options", &error))
    }

    /// The next event; `None` after a read time-out.
    pub fn poll(&mut self) -> Result<Option<Served>, Refused> {
        let mut buffer = [0; READ_BYTES];
        loop {
            if let Some(event) = self.server.poll_event()? {
                return Ok(Some(event));
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(closed()),
                Ok(octets) => self.server.handle(&buffer[..octets]),
                Err(error) if is_idle(&error) => return Ok(None),
                Err(error) => return Err(gone(&error)),
            }
        }
    }

    pub fn flush(&mut self) -> Result<(), Refused> {
        let octets = self.server.take_output();
        self.stream.write_all(&octets).map_err(|error| gone(&error))
    }

    /// End a test with an error that the client prints, unless it has disconnected.
    pub fn refuse(&mut self, number: i32) {
        self.server.refuse(number);
        let _ = self.flush();
    }

    pub fn terminate(&mut self) {
        self.server.terminate();
        let _ = self.flush();
    }
}

fn closed() -> Refused {
    let failure = Failure::new("client.gone", "the client closed its control connection");
    Refused { failure, number: CLOSED }
}

fn gone(error: &std::io::Error) -> Refused {
    if is_closed(error) {
        return closed();
    }
    Refused { failure: Failure::system("control connection", error), number: CLOSED }
}
