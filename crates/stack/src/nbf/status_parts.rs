//! Reassembly of adapter status whose names span several frames.
//!
//! A station that reports a full frame is queried again, alone, with the number of names received so far. If that
//! query or its answer is lost, the next broadcast query restarts the exchange, and only missing names are
//! requested.

use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{
    AdapterStatus, ENTRY_LEN, FIXED_LEN, NameCommand, NameEntry, NameHeader, value,
};
use lanlab_wire::netbios_name::Name;

use super::output::Output;
use super::status::STATUS_BYTES;
use crate::carrier::{Event, QueryId};
use crate::netbios::{Correlators, MOST_NAMES, Query};

/// Most stations queried for more names at a time; for others the first part counts.
const MOST_PARTIAL: usize = 64;

#[derive(Debug)]
struct Partial {
    query: QueryId,
    station: Mac,
    name: Name,
    correlator: u16,
    status: Box<AdapterStatus>,
}

impl Partial {
    fn is_more(&self, flags: u16) -> bool {
        let names = self.status.names.len();
        flags & value::STATUS_FRAME_LIMIT != 0
            && names < usize::from(self.status.name_count).min(MOST_NAMES)
            // A query for exactly one name cannot be distinguished from a first one.
            && names > usize::from(value::STATUS_FIRST)
    }

    fn into_event(self) -> Event {
        let Self { query, station, status, .. } = self;
        Event::Status { query, station, status }
    }
}

#[derive(Debug)]
pub(super) enum Answer {
    Whole(Event),
    Part,
    Unasked,
}

#[derive(Debug, Default)]
pub(super) struct StatusParts {
    partial: Vec<Partial>,
}

impl StatusParts {
    pub(super) fn begin(
        &mut self,
        (from, own_name): (Mac, Name),
        query: &Query,
        (status, flags): (AdapterStatus, u16),
        correlators: &mut Correlators,
        output: &mut Output,
    ) -> Answer {
        let is_known = |one: &&Partial| one.query == query.id && one.station == from;
        if let Some(partial) = self.partial.iter().find(is_known) {
            ask(partial, own_name, output);
            return Answer::Part;
        }
        let partial = Partial {
            query: query.id,
            station: from,
            name: query.name,
            correlator: correlators.next(),
            status: Box::new(status),
        };
        if !partial.is_more(flags) || self.partial.len() >= MOST_PARTIAL {
            return Answer::Whole(partial.into_event());
        }
        ask(&partial, own_name, output);
        self.partial.push(partial);
        Answer::Part
    }

    pub(super) fn go_on(
        &mut self,
        (from, own_name): (Mac, Name),
        header: &NameHeader,
        data: &[u8],
        output: &mut Output,
    ) -> Answer {
        let is_asked =
            |one: &Partial| one.station == from && one.correlator == header.transmit_correlator;
        let Some(index) = self.partial.iter().position(is_asked) else { return Answer::Unasked };
        let partial = &mut self.partial[index];
        let before = partial.status.names.len();
        let missing = usize::from(partial.status.name_count).min(MOST_NAMES).saturating_sub(before);
        partial.status.names.extend(NameEntry::parse_all(data).take(missing));
        // A station that sent no names will not send the rest either.
        if partial.status.names.len() > before && partial.is_more(header.data2) {
            ask(partial, own_name, output);
            return Answer::Part;
        }
        Answer::Whole(self.partial.swap_remove(index).into_event())
    }

    pub(super) fn end(&mut self, query: QueryId) -> impl Iterator<Item = Event> {
        let ended: Vec<_> = self.partial.extract_if(.., |partial| partial.query == query).collect();
        ended.into_iter().map(Partial::into_event)
    }
}

fn ask(partial: &Partial, own_name: Name, output: &mut Output) {
    let names = partial.status.names.len();
    let header = NameHeader {
        command: NameCommand::StatusQuery,
        // Fits, as there are at most `MOST_NAMES`.
        data1: names as u8,
        data2: STATUS_BYTES - (FIXED_LEN + names * ENTRY_LEN) as u16,
        transmit_correlator: 0,
        response_correlator: partial.correlator,
        destination: partial.name,
        source: own_name,
    };
    output.push(partial.station, header, &[]);
}
