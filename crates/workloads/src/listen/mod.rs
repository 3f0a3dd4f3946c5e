//! Listening on a segment: stations with their protocols, names, servers, and unanswered queries. Memory is bounded
//! for any traffic.

mod announcements;
#[cfg(test)]
mod exact_tests;
mod ip;
#[cfg(test)]
mod name_service_tests;
mod names;
mod netbeui;
mod novell;
mod protocols;
mod questions;
mod stations;
#[cfg(test)]
mod tests;
mod xns;

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};

use crate::messages::Heard;

use names::{Names, Servers};
use protocols::{Family, Protocol, Protocols, framing_heard, protocol};
use questions::Questions;
use stations::Stations;

const MOST: usize = 1000;
/// Memory limit of all lists together, bytes.
pub const MEMORY_BYTES: u64 = 16 << 20;

struct Notes<'a> {
    at: Instant,
    from: Mac,
    is_to_all: bool,
    names: &'a mut Names,
    servers: &'a mut Servers,
    questions: &'a mut Questions,
    stations: &'a mut Stations,
}

#[derive(Debug)]
pub struct Observer {
    own: Mac,
    start: Instant,
    frames: u64,
    bytes: u64,
    unreadable_frames: u64,
    frames_between_others: u64,
    protocols: Protocols,
    stations: Stations,
    names: Names,
    servers: Servers,
    questions: Questions,
}

impl Observer {
    pub fn new(own: Mac, start: Instant) -> Self {
        Self {
            own,
            start,
            frames: 0,
            bytes: 0,
            unreadable_frames: 0,
            frames_between_others: 0,
            protocols: Protocols::default(),
            stations: Stations::new(start),
            names: Names::default(),
            servers: Servers::default(),
            questions: Questions::default(),
        }
    }

    pub fn frames(&self) -> u64 {
        self.frames
    }

    pub fn see(&mut self, at: Instant, octets: &[u8]) {
        self.frames += 1;
        self.bytes += octets.len() as u64;
        let Ok((frame, vlans)) = Frame::parse_tagged(octets) else {
            self.unreadable_frames += 1;
            return;
        };
        let (to, from) = (frame.header.destination, frame.header.source);
        if !to.is_group() && to != self.own && from != self.own {
            self.frames_between_others += 1;
        }
        let Protocol { name, family, payload } = protocol(&frame);
        let name = match *vlans.numbers() {
            [] => name,
            [number] => format!("{name} in VLAN {number}"),
            [ref outer @ .., number] => {
                outer.iter().fold(format!("{name} in VLAN {number}"), |name, outer| {
                    format!("{name} of {outer}")
                })
            }
        };
        let count = octets.len() as u64;
        self.stations.see(at, from, count, &name);
        let framing = framing_heard(frame.header.framing);
        self.protocols.see(framing, name, count);
        let mut notes = Notes {
            at,
            from,
            is_to_all: to == Mac::BROADCAST,
            names: &mut self.names,
            servers: &mut self.servers,
            questions: &mut self.questions,
            stations: &mut self.stations,
        };
        match family {
            Family::Arp => ip::arp(payload, &mut notes),
            Family::Ipv4 => ip::ipv4(payload, &mut notes),
            Family::Netbeui => netbeui::frame(payload, &mut notes),
            Family::Ipx => novell::ipx(framing, payload, &mut notes),
            Family::Xns => xns::idp(payload, &mut notes),
            Family::Other => {}
        }
    }

    /// Everything heard so far. The driver adds what it knows itself: interface, drops, recording.
    pub fn heard(&self, now: Instant) -> Heard {
        let questions = &self.questions;
        Heard {
            interface: String::new(),
            mac: self.own.to_string(),
            elapsed_ns: now.nanos_since(self.start),
            frames: self.frames,
            bytes: self.bytes,
            kernel_drops: 0,
            unreadable_frames: self.unreadable_frames,
            frames_between_others: self.frames_between_others,
            recorded_frames: 0,
            unrecorded_frames: 0,
            protocols: self.protocols.heard(),
            other_protocol_frames: self.protocols.others,
            stations: self.stations.heard(),
            other_station_frames: self.stations.others,
            names: self.names.heard(),
            other_names: self.names.others,
            servers: self.servers.heard(),
            other_servers: self.servers.others,
            unanswered: questions.unanswered(now),
            answered_questions: questions.answered(),
            other_questions: questions.others,
        }
    }
}
