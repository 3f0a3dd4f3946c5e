//! Broadcast queries: who holds a name, and adapter status.

use lanlab_units::Instant;
use lanlab_wire::netbios_name::Name;

use super::{Correlators, QueryPace};
use crate::carrier::QueryId;

const MOST_QUERIES: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryKind {
    Find,
    Status,
}

#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) id: QueryId,
    kind: QueryKind,
    pub(crate) name: Name,
    correlator: u16,
    sent: u32,
    next_at: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct Queries {
    open: Vec<Query>,
    last_id: u32,
}

impl Queries {
    /// Start a query. `None` if too many are open.
    pub(crate) fn ask(
        &mut self,
        now: Instant,
        kind: QueryKind,
        name: Name,
        correlators: &mut Correlators,
    ) -> Option<QueryId> {
        if self.open.len() >= MOST_QUERIES {
            return None;
        }
        self.last_id = self.last_id.wrapping_add(1);
        let id = QueryId(self.last_id);
        let correlator = correlators.next();
        self.open.push(Query { id, kind, name, correlator, sent: 0, next_at: now });
        Some(id)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.open.iter().map(|query| query.next_at).min()
    }

    /// Call `push` for each due query, and `ended` for each finished one.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Instant,
        pace: QueryPace,
        mut push: impl FnMut(QueryKind, Name, u16),
        mut ended: impl FnMut(QueryId),
    ) {
        self.open.retain_mut(|query| {
            if query.next_at > now {
                return true;
            }
            if query.sent == pace.count {
                ended(query.id);
                return false;
            }
            query.sent += 1;
            query.next_at = now.plus_nanos(pace.interval_ns);
            push(query.kind, query.name, query.correlator);
            true
        });
    }

    pub(crate) fn answered(&self, kind: QueryKind, correlator: u16) -> Option<&Query> {
        self.open.iter().find(|query| query.kind == kind && query.correlator == correlator)
    }
}
