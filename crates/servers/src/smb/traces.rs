//! Reads events from the server's traces that it reports nowhere else. Each connection has a span
//! named `conn` with events; each request has one named `dispatch`, with its command.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tracing::dispatcher::{DefaultGuard, WeakDispatch, get_default, set_default};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

use crate::admission::{MemoryBudget, UNIT_BYTES};
use crate::visits::{Visitor, Visits};

const SAYING: [&str; 2] =
    ["smb_server::handlers::negotiate", "smb_server::handlers::session_setup"];

/// Dialect names in the crate's code, and in [MS-SMB2].
const DIALECTS: [(&str, &str); 5] = [
    ("Smb202", "SMB 2.0.2"),
    ("Smb210", "SMB 2.1"),
    ("Smb300", "SMB 3.0"),
    ("Smb302", "SMB 3.0.2"),
    ("Smb311", "SMB 3.1.1"),
];

/// Number of the oldest dialect, chosen without a second NEGOTIATE if a client offers SMB 2.0.2 alone.
const OLDEST_CHOSEN: &str = "0x0202";

/// Span numbers of requests: writes, and all others. Connections count from 1.
const WRITE: u64 = u64::MAX;
const OTHER: u64 = u64::MAX - 1;

thread_local! {
    static WRITING: Cell<bool> = const { Cell::new(false) };
    /// Connections whose spans this thread has entered, each with its dispatcher: tasks spawned by the server do
    /// not inherit the subscriber.
    static ENTERED: RefCell<Vec<(u64, Option<DefaultGuard>)>> = const { RefCell::new(Vec::new()) };
}

pub fn is_writing() -> bool {
    WRITING.get()
}

pub fn is_oldest_dialect() -> bool {
    let connection = ENTERED.with_borrow(|all| all.last().map(|(id, _)| *id));
    let is_oldest = |traces: &Traces| {
        let id = connection?;
        traces.with(id, |connection| connection.dialect == Some(DIALECTS[0].1))
    };
    get_default(|dispatch| dispatch.downcast_ref::<Traces>().and_then(is_oldest)).unwrap_or(false)
}

pub struct Traces {
    visits: Arc<Visits>,
    has_users: bool,
    /// Memory for connections before login, and the server's port.
    strangers: Arc<MemoryBudget>,
    port: u16,
    /// Peers whose connections end next, together: finding a socket takes a search of all of them.
    ending: Arc<Mutex<BTreeSet<SocketAddr>>>,
    this: OnceLock<WeakDispatch>,
    spans: AtomicU64,
    connections: Mutex<HashMap<u64, Connection>>,
}

struct Connection {
    visitor: Visitor,
    dialect: Option<&'static str>,
    handles: usize,
    /// Ends the connection if others wait for its place, until it has logged in.
    ending: Option<AbortHandle>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.is_known();
    }
}

impl Connection {
    /// The client has logged in, or disconnected.
    fn is_known(&mut self) {
        if let Some(ending) = self.ending.take() {
            ending.abort();
        }
    }
}

impl Traces {
    pub fn new(
        visits: &Arc<Visits>,
        has_users: bool,
        (strangers, port): (Arc<MemoryBudget>, u16),
    ) -> Self {
        Self {
            visits: Arc::clone(visits),
            has_users,
            strangers,
            port,
            ending: Arc::default(),
            this: OnceLock::new(),
            spans: AtomicU64::new(0),
            connections: Mutex::default(),
        }
    }

    /// Count a connection as not logged in, and end it if another one needs its place.
    fn end_if_crowded(&self, peer: SocketAddr) -> AbortHandle {
        let (strangers, port) = (Arc::clone(&self.strangers), self.port);
        let peers = Arc::clone(&self.ending);
        let ending = async move {
            let Some(hold) = strangers.hold(UNIT_BYTES, peer.ip().into()).await else { return };
            hold.ended().await;
            let is_first = {
                let mut peers = peers.lock();
                peers.insert(peer);
                peers.len() == 1
            };
            if is_first {
                // In a separate task: a login aborts only the wait above, so no peer stays listed.
                tokio::spawn(async move {
                    // Other peers that end together with this one are listed first.
                    tokio::task::yield_now().await;
                    let peers = std::mem::take(&mut *peers.lock());
                    lanlab_os::shut_down_connections(port, &peers);
                });
            }
        };
        tokio::spawn(ending).abort_handle()
    }

    fn with<T>(&self, id: u64, work: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        self.connections.lock().get_mut(&id).map(work)
    }
}

impl Subscriber for Traces {
    fn on_register_dispatch(&self, dispatch: &Dispatch) {
        let _ = self.this.set(dispatch.downgrade());
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        if metadata.is_span() {
            let is_known = matches!(metadata.name(), "conn" | "dispatch");
            return is_known && metadata.target().starts_with("smb_server");
        }
        *metadata.level() <= Level::INFO && SAYING.contains(&metadata.target())
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut said = Said::default();
        span.record(&mut said);
        if span.metadata().name() == "dispatch" {
            return Id::from_u64(if said.cmd == "Write" { WRITE } else { OTHER });
        }
        let peer = said.peer.parse::<SocketAddr>();
        let ending = peer.as_ref().ok().map(|peer| self.end_if_crowded(*peer));
        let peer = peer.map_or(said.peer, |peer| peer.ip().to_canonical().to_string());
        let visitor = self.visits.arrive(peer);
        let id = self.spans.fetch_add(1, Ordering::Relaxed) + 1;
        let connection = Connection { visitor, dialect: None, handles: 1, ending };
        self.connections.lock().insert(id, connection);
        Id::from_u64(id)
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.with(id.into_u64(), |connection| connection.handles += 1);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let left = self.with(id.into_u64(), |connection| {
            connection.handles -= 1;
            connection.handles
        });
        let is_over = left == Some(0);
        if is_over {
            self.connections.lock().remove(&id.into_u64());
        }
        is_over
    }

    fn enter(&self, id: &Id) {
        if id.into_u64() >= OTHER {
            return WRITING.set(id.into_u64() == WRITE);
        }
        let this = self.this.get().and_then(WeakDispatch::upgrade);
        let entered = (id.into_u64(), this.as_ref().map(set_default));
        ENTERED.with_borrow_mut(|all| all.push(entered));
    }

    fn exit(&self, id: &Id) {
        if id.into_u64() >= OTHER {
            return WRITING.set(false);
        }
        let left = ENTERED.with_borrow_mut(Vec::pop);
        drop(left);
    }

    fn event(&self, event: &Event<'_>) {
        let Some(id) = ENTERED.with_borrow(|all| all.last().map(|(id, _)| *id)) else { return };
        let mut said = Said::default();
        event.record(&mut said);
        self.with(id, |connection| match &*said.message {
            "NEGOTIATE complete" => {
                let known = DIALECTS.iter().find(|(name, _)| *name == said.dialect);
                connection.dialect = known.map(|(_, dialect)| *dialect);
            }
            "SMB1 multi-protocol -> SMB2" if said.chosen == OLDEST_CHOSEN => {
                connection.dialect = Some(DIALECTS[0].1);
            }
            "session established" => {
                // `User { user: "name", … }`, or no user.
                let user = said.identity.split('"').nth(1).filter(|_| self.has_users);
                connection.visitor.admitted(user, connection.dialect);
                connection.is_known();
            }
            "NTLM authenticate failed" => connection.visitor.refused("wrong password or user"),
            refusal if refusal.contains("refused") || refusal.contains("failed") => {
                connection.visitor.refused(refusal);
            }
            _ => {}
        });
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
}

#[derive(Default)]
struct Said {
    message: String,
    cmd: String,
    peer: String,
    dialect: String,
    chosen: String,
    identity: String,
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let place = match field.name() {
            "message" => &mut self.message,
            "cmd" => &mut self.cmd,
            "peer" => &mut self.peer,
            "dialect" => &mut self.dialect,
            "chosen" => &mut self.chosen,
            "identity" => &mut self.identity,
            _ => return,
        };
        *place = format!("{value:?}");
    }
}
