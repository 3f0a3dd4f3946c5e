//! The client's side of a control connection.

use lanlab_wire::iperf3::{COOKIE_BYTES, State};
use serde_json::{Value, json};

use super::inbox::{Inbox, not_iperf3, put_text};
use super::sentence;
use crate::messages::{Failure, PeerReport};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    pub is_udp: bool,
    pub directions: (bool, bool),
    /// Planned duration in whole seconds; the client ends the test, earlier or later.
    pub time_s: u64,
    pub flows: u16,
    pub message_bytes: usize,
    /// Bit/s per flow; 0: unlimited.
    pub rate_bps: u64,
    pub nodelay: bool,
    pub buffer_bytes: Option<u32>,
    pub congestion: Option<String>,
}

impl Test {
    fn text(&self) -> Value {
        let (server_sends, client_sends) = self.directions;
        let mut asked = json!({
            (if self.is_udp { "udp" } else { "tcp" }): true,
            "omit": 0,
            "time": self.time_s,
            "num": 0,
            "blockcount": 0,
            "parallel": self.flows,
            "len": self.message_bytes,
            "pacing_timer": 1000,
            "client_version": "lanlab",
        });
        let mut add = |key: &str, value: Value| asked[key] = value;
        if server_sends && client_sends {
            add("bidirectional", json!(true));
        } else if server_sends {
            add("reverse", json!(true));
        }
        if self.is_udp {
            add("udp_counters_64bit", json!(1));
        }
        if self.rate_bps > 0 {
            add("bandwidth", json!(self.rate_bps));
        }
        if self.nodelay {
            add("nodelay", json!(true));
        }
        if let Some(octets) = self.buffer_bytes {
            add("window", json!(octets));
        }
        if let Some(name) = &self.congestion {
            add("congestion", json!(name));
        }
        asked
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    OpenFlows,
    Running,
    /// The server waits for the client's results: [`Client::give_results`].
    WantResults,
    Report(Box<PeerReport>),
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Parameters,
    Opening,
    Starting,
    Started,
    Running,
    Results,
    Report,
    Showing,
    Over,
}

#[derive(Debug)]
pub struct Client {
    test: Test,
    phase: Phase,
    has_failed: bool,
    inbox: Inbox,
    outbox: Vec<u8>,
}

impl Client {
    pub fn new(test: Test, cookie: &[u8; COOKIE_BYTES]) -> Self {
        Self {
            test,
            phase: Phase::Parameters,
            has_failed: false,
            inbox: Inbox::default(),
            outbox: cookie.to_vec(),
        }
    }

    /// Append bytes from the server. Drain [`Self::poll_event`] before the next call.
    pub fn handle(&mut self, octets: &[u8]) {
        self.inbox.put(octets);
    }

    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.outbox)
    }

    /// The amount was reached: have the server stop and exchange results.
    pub fn end(&mut self) {
        if self.phase == Phase::Running {
            self.outbox.push(State::TestEnd as u8);
            self.phase = Phase::Results;
        }
    }

    pub fn give_results(&mut self, results: &PeerReport) {
        put_text(&mut self.outbox, &json!(results));
    }

    pub fn give_up(&mut self) {
        self.outbox.push(State::ClientTerminate as u8);
        self.phase = Phase::Over;
    }

    pub fn closed(&self) -> Failure {
        let hint = if self.phase == Phase::Opening {
            "check the server's output; it closes so with --authorized-users-path, or if it allows only a \
             lower rate"
        } else {
            "check the server's output"
        };
        Failure::new("peer.closed", "the iperf3 server closed its control connection").hint(hint)
    }

    /// The next event; `None` until more bytes arrive.
    pub fn poll_event(&mut self) -> Result<Option<Event>, Failure> {
        if self.has_failed {
            return self.inbox.error_numbers().map_or(Ok(None), |numbers| Err(failed(numbers)));
        }
        if self.phase == Phase::Report {
            let Some(report) = self.inbox.json::<PeerReport>()? else { return Ok(None) };
            self.phase = Phase::Showing;
            return Ok(Some(Event::Report(Box::new(report))));
        }
        let Some(state) = self.inbox.state()? else { return Ok(None) };
        match (state, self.phase) {
            (State::ParameterExchange, Phase::Parameters) => {
                put_text(&mut self.outbox, &self.test.text());
                self.phase = Phase::Opening;
                self.poll_event()
            }
            (State::CreateStreams, Phase::Opening) => {
                self.phase = Phase::Starting;
                Ok(Some(Event::OpenFlows))
            }
            (State::TestStart, Phase::Starting) => {
                self.phase = Phase::Started;
                self.poll_event()
            }
            (State::TestRunning, Phase::Starting | Phase::Started) => {
                self.phase = Phase::Running;
                Ok(Some(Event::Running))
            }
            (State::ExchangeResults, Phase::Results) => {
                self.phase = Phase::Report;
                Ok(Some(Event::WantResults))
            }
            (State::DisplayResults, Phase::Showing) => {
                self.outbox.push(State::Done as u8);
                self.phase = Phase::Over;
                Ok(Some(Event::Over))
            }
            (State::ServerError, _) => {
                self.has_failed = true;
                self.poll_event()
            }
            (State::AccessDenied, _) => {
                Err(Failure::new("peer.busy", "the iperf3 server is busy with another client")
                    .hint(
                        "an iperf3 server takes one client at a time; wait, or name another port",
                    ))
            }
            (State::ServerTerminate, _) => {
                Err(Failure::new("peer.closed", "the iperf3 server was ended at its end"))
            }
            (state, phase) => Err(not_iperf3(format!("{state:?} where {phase:?} was due"))),
        }
    }
}

fn failed((own, system): (i32, i32)) -> Failure {
    let found = format!("the iperf3 server failed with its error {own} and the system's {system}");
    let hint = if own == sentence::RATE {
        "it allows less at once, as by its --server-bitrate-limit: name a rate"
    } else {
        "check the server's output; older servers do not know every option"
    };
    Failure::new("peer.failed", found).hint(hint)
}

/// Flow numbers in reports: 1, 3, 4 and so on.
pub fn flow_number(place: usize) -> i64 {
    let place = i64::try_from(place).unwrap_or(i64::MAX - 2);
    if place == 0 { 1 } else { place + 2 }
}
