//! Clients of a server, their outcomes, and the server's totals.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use lanlab_os as os;
use lanlab_units::Instant;

use super::ledger::{Ledger, Moving};
use crate::messages::{PeerClient, PeerServeEnded, Reply};
use crate::running::Running;

pub struct Entered {
    pub number: u64,
    pub moving: Arc<Moving>,
    results: Sender<PeerClient>,
}

impl Entered {
    pub fn end(self, client: PeerClient) {
        // The receiver exists until all have ended.
        let _ = self.results.send(client);
    }
}

pub struct Roll<'a> {
    pub begin: Instant,
    pub running: &'a Running,
    pub clients: u64,
    pub refused: u64,
    pub silent: u64,
    sockets: Vec<(u64, usize)>,
    ledger: Ledger,
    results: Sender<PeerClient>,
    ended: Receiver<PeerClient>,
    cpu_ns: u64,
}

impl<'a> Roll<'a> {
    pub fn new(running: &'a Running) -> Self {
        let (results, ended) = channel();
        Self {
            begin: os::monotonic(),
            running,
            clients: 0,
            refused: 0,
            silent: 0,
            sockets: Vec::new(),
            ledger: Ledger::default(),
            results,
            ended,
            cpu_ns: os::process_cpu_ns(),
        }
    }

    pub fn len(&self) -> usize {
        self.sockets.len()
    }

    pub fn sockets(&self) -> usize {
        self.sockets.iter().map(|(_, sockets)| sockets).sum()
    }

    pub fn enter(
        &mut self,
        number: u64,
        sockets: usize,
        stream: Option<Arc<TcpStream>>,
    ) -> Entered {
        let moving = Arc::new(Moving::new(number));
        self.ledger.begin(number, Arc::clone(&moving), stream);
        self.sockets.push((number, sockets));
        Entered { number, moving, results: self.results.clone() }
    }

    /// Whether there is room for one more of at most `clients`; if not, end idle ones.
    pub fn has_room(&mut self, clients: usize, waiting: usize) -> bool {
        if self.len() < clients {
            return true;
        }
        self.ledger.make_room(os::monotonic(), clients, waiting);
        false
    }

    pub fn client(&self, number: u64, address: String, cookie: String) -> PeerClient {
        let began_ns = os::monotonic().nanos_since(self.begin);
        let id = self.running.id;
        PeerClient { id, number, address, cookie, began_ns, ..PeerClient::default() }
    }

    /// Report ended clients to the driver, waiting this long for them.
    pub fn take_results(&mut self, wait: Duration) {
        self.ledger.look(os::monotonic());
        let mut next = self.ended.recv_timeout(wait).ok();
        while let Some(mut client) = next {
            self.sockets.retain(|(number, _)| *number != client.number);
            self.ledger.end(&mut client);
            self.running.tell(|_| Reply::PeerClient(Box::new(client)));
            next = self.ended.try_recv().ok();
        }
    }

    pub fn finish(mut self, look: Duration) -> PeerServeEnded {
        while !self.sockets.is_empty() {
            self.take_results(look);
        }
        let now = os::monotonic();
        let (moved_bytes, together) = self.ledger.finish(now);
        PeerServeEnded {
            clients: self.clients,
            refused: self.refused,
            silent: self.silent,
            elapsed_ns: now.nanos_since(self.begin),
            engine_cpu_ns: Some(os::process_cpu_ns().saturating_sub(self.cpu_ns)),
            moved_bytes,
            together,
        }
    }
}

pub fn address_of(stream: &TcpStream) -> String {
    stream.peer_addr().map_or_else(|_| "unknown".to_owned(), |address| address.to_string())
}
