//! The server's side of a control connection, from the byte after the cookie on.

use lanlab_wire::iperf3::State;
use serde_json::{Map, Value, json};

use super::asked::{Asked, Bounds, Refused, unreadable};
use super::inbox::{Inbox, not_iperf3, put_text};
use crate::messages::{Failure, PeerReport};

#[derive(Debug, Clone, PartialEq)]
pub enum Served {
    /// The client requests a test: [`Server::open_flows`], or [`Server::refuse`].
    Asked(Box<Asked>),
    /// The client's amount was reached: [`Server::exchange`].
    End,
    /// The client's results: [`Server::give_results`].
    Report(Box<PeerReport>),
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Parameters,
    Waiting,
    Running,
    Results,
    Showing,
    Over,
}

#[derive(Debug)]
pub struct Server {
    bounds: Bounds,
    phase: Phase,
    inbox: Inbox,
    outbox: Vec<u8>,
}

impl Server {
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            phase: Phase::Parameters,
            inbox: Inbox::default(),
            outbox: vec![State::ParameterExchange as u8],
        }
    }

    /// Append bytes from the client. Drain [`Self::poll_event`] before the next call.
    pub fn handle(&mut self, octets: &[u8]) {
        self.inbox.put(octets);
    }

    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.outbox)
    }

    pub fn open_flows(&mut self) {
        self.say(State::CreateStreams);
    }

    pub fn start(&mut self) {
        self.say(State::TestStart);
        self.say(State::TestRunning);
        self.phase = Phase::Running;
    }

    pub fn exchange(&mut self) {
        self.say(State::ExchangeResults);
        self.phase = Phase::Results;
    }

    pub fn give_results(&mut self, results: &PeerReport) {
        put_text(&mut self.outbox, &json!(results));
        self.say(State::DisplayResults);
        self.phase = Phase::Showing;
    }

    /// Refuse or end a test, with the number of an error message that the client prints.
    pub fn refuse(&mut self, number: i32) {
        self.say(State::ServerError);
        self.outbox.extend_from_slice(&number.to_be_bytes());
        self.outbox.extend_from_slice(&0_i32.to_be_bytes());
        self.phase = Phase::Over;
    }

    pub fn terminate(&mut self) {
        self.say(State::ServerTerminate);
        self.phase = Phase::Over;
    }

    /// The next event; `None` until more bytes arrive.
    pub fn poll_event(&mut self) -> Result<Option<Served>, Refused> {
        match self.phase {
            Phase::Parameters => {
                let text = self.inbox.json::<Map<String, Value>>().map_err(unreadable)?;
                let Some(text) = text else { return Ok(None) };
                self.phase = Phase::Waiting;
                let asked = Asked::read(&text, &self.bounds)?;
                return Ok(Some(Served::Asked(Box::new(asked))));
            }
            Phase::Results => {
                let report = self.inbox.json::<PeerReport>().map_err(unreadable)?;
                let Some(report) = report else { return Ok(None) };
                self.phase = Phase::Waiting;
                return Ok(Some(Served::Report(Box::new(report))));
            }
            Phase::Over => return Ok(None),
            Phase::Waiting | Phase::Running | Phase::Showing => {}
        }
        let Some(state) = self.inbox.state().map_err(unreadable)? else { return Ok(None) };
        match (state, self.phase) {
            (State::TestEnd, Phase::Running) => {
                self.phase = Phase::Waiting;
                Ok(Some(Served::End))
            }
            (State::Done, Phase::Showing) => {
                self.phase = Phase::Over;
                Ok(Some(Served::Over))
            }
            (State::ClientTerminate, _) => {
                self.phase = Phase::Over;
                Err(unreadable(Failure::new("client.ended", "the client was ended at its end")))
            }
            (state, phase) => {
                Err(unreadable(not_iperf3(format!("{state:?} where {phase:?} was due"))))
            }
        }
    }

    fn say(&mut self, state: State) {
        self.outbox.push(state as u8);
    }
}
