//! Questions to all stations: who has a name, and what is the state of its adapter.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader, value};
use lanlab_wire::netbios_name::Name;

use super::output::{Correlators, Output};
use super::status::STATUS_BYTES;
use crate::node::QuestionId;
use crate::profile::Profile;

/// Most questions at a time.
const MOST_QUESTIONS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Find,
    Status,
}

#[derive(Debug)]
pub(super) struct Question {
    pub(super) id: QuestionId,
    kind: Kind,
    pub(super) name: Name,
    correlator: u16,
    queries: u32,
    next_at: Instant,
}

/// Questions that are open.
#[derive(Debug, Default)]
pub(super) struct Questions {
    open: Vec<Question>,
    last_id: u32,
}

impl Questions {
    /// Begin to ask. `None` if too many questions are open.
    pub(super) fn ask(
        &mut self,
        now: Instant,
        kind: Kind,
        name: Name,
        correlators: &mut Correlators,
    ) -> Option<QuestionId> {
        if self.open.len() >= MOST_QUESTIONS {
            return None;
        }
        self.last_id = self.last_id.wrapping_add(1);
        let id = QuestionId(self.last_id);
        let correlator = correlators.next();
        self.open.push(Question { id, kind, name, correlator, queries: 0, next_at: now });
        Some(id)
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.open.iter().map(|question| question.next_at).min()
    }

    /// Send what is due. Calls `ended` with each question that is over.
    pub(super) fn handle_timeout(
        &mut self,
        now: Instant,
        (profile, own_name): (&Profile, Name),
        output: &mut Output,
        mut ended: impl FnMut(QuestionId),
    ) {
        self.open.retain_mut(|question| {
            if question.next_at > now {
                return true;
            }
            if question.queries == profile.query_count.value {
                ended(question.id);
                return false;
            }
            question.queries += 1;
            question.next_at = now.plus_nanos(profile.query_interval_ns.value);
            let (command, data1, data2, source) = match question.kind {
                Kind::Find => (NameCommand::NameQuery, 0, 0, NO_NAME),
                Kind::Status => {
                    (NameCommand::StatusQuery, value::STATUS_FIRST, STATUS_BYTES, own_name)
                }
            };
            let header = NameHeader {
                command,
                data1,
                data2,
                transmit_correlator: 0,
                response_correlator: question.correlator,
                destination: question.name,
                source,
            };
            output.push(Mac::NETBIOS_GROUP, header, &[]);
            true
        });
    }

    /// The question that is answered by a correlator.
    pub(super) fn answered(&self, kind: Kind, correlator: u16) -> Option<&Question> {
        self.open.iter().find(|question| question.kind == kind && question.correlator == correlator)
    }
}
