//! Which clients were served at the same time, and their shares of the server's traffic.

use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lanlab_os::tcp_info;
use lanlab_units::Instant;
use lanlab_units::room::{GRACE_NS, LEAST_GRACE_NS, Standing, crowded_grace_ns, least_useful};

use crate::messages::{PeerClient, PeersTogether};
use crate::output::Output;
use crate::running::Running;

/// A client counts as served once it has moved this much, until it pauses for this long.
const SERVED_BYTES: u64 = 64 << 10;
/// The buffer of a client that reads nothing acknowledges less.
const SERVED_ACKNOWLEDGED_BYTES: u64 = 192 << 10;
const IDLE_NS: u64 = 500_000_000;

pub struct Moving {
    pub sending: Running,
    pub receiving: Running,
    pub is_going: AtomicBool,
    pub is_crowded_out: AtomicBool,
}

impl Moving {
    pub fn new(number: u64) -> Self {
        // Progress known only to the ledger.
        let silent = || Running::new(number, Output::new(std::io::sink()));
        Self {
            sending: silent(),
            receiving: silent(),
            is_going: AtomicBool::new(false),
            is_crowded_out: AtomicBool::new(false),
        }
    }

    fn bytes(&self) -> u64 {
        self.sending.progress.counted().1 + self.receiving.progress.counted().1
    }
}

struct Entry {
    number: u64,
    moving: Arc<Moving>,
    bytes: u64,
    own_bytes: u64,
    all_bytes: u64,
    at_once: u64,
    goes: bool,
    acknowledged_bytes: u64,
    /// When the client last sent, took or acknowledged data.
    moved_at: Option<Instant>,
    /// Set if the client has a single connection, which can be evicted for another.
    stream: Option<Arc<TcpStream>>,
}

impl Entry {
    fn standing(&mut self, now: Instant) -> Standing<Option<IpAddr>> {
        let info = self.stream.as_deref().and_then(|stream| tcp_info(stream).ok());
        let info = info.unwrap_or_default();
        if info.facts.acknowledged_bytes > self.acknowledged_bytes {
            self.acknowledged_bytes = info.facts.acknowledged_bytes;
            self.moved_at = Some(now);
        }
        let silent_ns = self.moved_at.map_or(0, |at| now.nanos_since(at));
        let is_moving = self.moving.receiving.progress.counted().1 >= SERVED_BYTES
            || info.facts.acknowledged_bytes >= SERVED_ACKNOWLEDGED_BYTES;
        let is_ending = self.moving.is_crowded_out.load(Ordering::Relaxed);
        Standing {
            address: self
                .stream
                .as_deref()
                .and_then(|it| it.peer_addr().ok())
                .map(|peer| peer.ip()),
            requests: info.turns(),
            silent_ns,
            is_served: is_ending || self.stream.is_none() || is_moving && silent_ns < IDLE_NS,
        }
    }
}

#[derive(Default)]
pub struct Ledger {
    entries: Vec<Entry>,
    pub moved_bytes: u64,
    /// Active clients, the traffic of each since this set last changed, and when that was.
    going: Vec<(u64, u64)>,
    since: Option<Instant>,
    together: Option<PeersTogether>,
}

impl Ledger {
    pub fn begin(&mut self, number: u64, moving: Arc<Moving>, stream: Option<Arc<TcpStream>>) {
        self.entries.push(Entry {
            number,
            moving,
            bytes: 0,
            own_bytes: 0,
            all_bytes: 0,
            at_once: 0,
            goes: false,
            acknowledged_bytes: 0,
            moved_at: None,
            stream,
        });
    }

    pub fn look(&mut self, now: Instant) {
        let mut all_bytes = 0;
        let mut going = Vec::with_capacity(self.entries.len());
        for entry in &mut self.entries {
            let bytes = entry.moving.bytes();
            let moved = bytes - entry.bytes;
            if moved > 0 || entry.moved_at.is_none() {
                entry.moved_at = Some(now);
            }
            entry.bytes = bytes;
            all_bytes += moved;
            entry.goes = entry.moving.is_going.load(Ordering::Acquire);
            if entry.goes {
                entry.own_bytes += moved;
                going.push((entry.number, moved));
            }
        }
        self.moved_bytes += all_bytes;
        for entry in self.entries.iter_mut().filter(|entry| entry.goes) {
            entry.all_bytes += all_bytes;
            entry.at_once = entry.at_once.max(going.len() as u64);
        }
        let numbers = |all: &[(u64, u64)]| all.iter().map(|one| one.0).collect::<Vec<_>>();
        if numbers(&going) == numbers(&self.going) {
            for (all, (_, moved)) in self.going.iter_mut().zip(going) {
                all.1 += moved;
            }
        } else {
            self.close(now);
            self.since = Some(now);
            self.going = going.into_iter().map(|(number, _)| (number, 0)).collect();
        }
    }

    /// End the least useful of `clients`, for others that wait.
    pub fn make_room(&mut self, now: Instant, clients: usize, others: usize) {
        let ending = |entry: &&Entry| entry.moving.is_crowded_out.load(Ordering::Relaxed);
        let missing = others.saturating_sub(self.entries.iter().filter(ending).count());
        let standings: Vec<_> = self.entries.iter_mut().map(|entry| entry.standing(now)).collect();
        let grace_ns = crowded_grace_ns(GRACE_NS, LEAST_GRACE_NS, clients, others);
        for place in least_useful(&standings, grace_ns).into_iter().take(missing) {
            let Entry { moving, stream, .. } = &self.entries[place];
            moving.is_crowded_out.store(true, Ordering::Release);
            // An already closed connection ends by itself.
            let _ = stream.as_ref().map(|stream| stream.shutdown(Shutdown::Both));
        }
    }

    fn close(&mut self, now: Instant) {
        let Some(since) = self.since.take() else { return };
        let time_ns = now.nanos_since(since);
        let rank = |together: &PeersTogether| (together.bytes.len(), together.time_ns);
        let bytes = self.going.iter().map(|one| one.1).collect();
        let found = PeersTogether { time_ns, bytes };
        let is_better = self.together.as_ref().is_none_or(|best| rank(&found) > rank(best));
        if found.bytes.len() > 1 && is_better {
            self.together = Some(found);
        }
    }

    /// A client has ended: add its share to its result.
    pub fn end(&mut self, client: &mut PeerClient) {
        if let Some(place) = self.entries.iter().position(|entry| entry.number == client.number) {
            let entry = self.entries.remove(place);
            client.moved_bytes = entry.own_bytes;
            client.moved_for_all_bytes = entry.all_bytes;
            client.clients_at_once = entry.at_once;
        }
    }

    pub fn finish(mut self, now: Instant) -> (u64, Option<PeersTogether>) {
        self.close(now);
        (self.moved_bytes, self.together)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + ms * 1_000_000)
    }

    fn ended(number: u64) -> PeerClient {
        PeerClient { number, ..PeerClient::default() }
    }

    #[test]
    fn client_shares_refer_to_their_active_time() {
        let clients: Vec<_> = (1..=3).map(|number| Arc::new(Moving::new(number))).collect();
        let mut ledger = Ledger::default();
        let go = |number: usize, goes| clients[number - 1].is_going.store(goes, Ordering::Release);
        for (number, moving) in (1..).zip(&clients) {
            ledger.begin(number, Arc::clone(moving), None);
        }
        go(1, true);
        ledger.look(at(0));
        clients[0].sending.count(1, 100);
        ledger.look(at(10));
        // The third test has not begun, so it has no share and is not running.
        go(2, true);
        ledger.look(at(20));
        for (client, bytes) in clients.iter().zip([300, 100, 7]) {
            client.receiving.count(1, bytes);
        }
        ledger.look(at(50));
        go(1, false);
        ledger.look(at(60));
        let (mut first, mut second) = (ended(1), ended(2));
        ledger.end(&mut first);
        ledger.end(&mut second);
        let share = |c: &PeerClient| (c.moved_bytes, c.moved_for_all_bytes, c.clients_at_once);
        assert_eq!(share(&first), (400, 507, 2));
        assert_eq!(share(&second), (100, 407, 2));
        let together = Some(PeersTogether { time_ns: 40_000_000, bytes: vec![300, 100] });
        assert_eq!(ledger.finish(at(70)), (507, together));
    }

    #[test]
    fn a_client_that_only_reads_stays_while_it_acknowledges_data() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = || TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let clients = [connect(), connect()];
        let streams = [0, 1].map(|_| Arc::new(listener.accept().unwrap().0));
        let send = |to: usize| (&*streams[to]).write_all(&[0; 1000]).unwrap();
        let moving = [1, 2].map(|number| Arc::new(Moving::new(number)));
        let mut ledger = Ledger::default();
        for ((number, moving), stream) in (1..).zip(&moving).zip(&streams) {
            ledger.begin(number, Arc::clone(moving), Some(Arc::clone(stream)));
        }
        let is_gone = || moving.each_ref().map(|one| one.is_crowded_out.load(Ordering::Acquire));
        (0..2).for_each(send);
        ledger.look(at(0));
        ledger.make_room(at(0), 2, 500);
        assert_eq!(is_gone(), [false, false]);
        send(1);
        ledger.make_room(at(15), 2, 500);
        assert_eq!(is_gone(), [true, false]);
        drop(clients);
    }
}
