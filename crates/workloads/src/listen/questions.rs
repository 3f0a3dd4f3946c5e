//! Queries, and whether they were answered.

use std::collections::BTreeMap;

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;

use super::MOST;
use crate::messages::QuestionHeard;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Arp,
    NetbeuiName,
    NetbeuiStatus,
    NmpiName,
    IpxName,
    XnsName,
    UdpName,
    NearestServer,
    Servers,
}

impl Kind {
    const fn words(self) -> &'static str {
        match self {
            Self::Arp => "ARP: who has",
            Self::NetbeuiName => "NetBEUI: who has the name",
            Self::NetbeuiStatus => "NetBEUI: status of",
            Self::NmpiName => "NMPI: who has the name",
            Self::IpxName => "NetBIOS over IPX: who has the name",
            Self::XnsName => "XNS: who has the name",
            Self::UdpName => "NetBIOS over UDP: who has the name",
            Self::NearestServer => "SAP: nearest",
            Self::Servers => "SAP: which",
        }
    }
}

#[derive(Debug)]
struct Question {
    times: u64,
    last: Instant,
    is_answered: bool,
}

#[derive(Debug, Default)]
pub struct Questions {
    found: BTreeMap<(Kind, String, Mac), Question>,
    pub others: u64,
}

impl Questions {
    pub fn ask(&mut self, at: Instant, kind: Kind, asked: String, by: Mac) {
        let key = (kind, asked, by);
        if self.found.len() >= MOST && !self.found.contains_key(&key) {
            self.others += 1;
            return;
        }
        let new = Question { times: 0, last: at, is_answered: false };
        let question = self.found.entry(key).or_insert(new);
        question.times += 1;
        question.last = at;
    }

    /// A reply was heard, or other evidence that the target exists.
    pub fn answer(&mut self, kind: Kind, asked: &str) {
        let from = (kind, asked.to_owned(), Mac([0; 6]));
        let to = (kind, asked.to_owned(), Mac([0xff; 6]));
        for (_, question) in self.found.range_mut(from..=to) {
            question.is_answered = true;
        }
    }

    pub fn answered(&self) -> u64 {
        self.found.values().filter(|question| question.is_answered).count() as u64
    }

    pub fn unanswered(&self, now: Instant) -> Vec<QuestionHeard> {
        let heard =
            |((kind, asked, mac), question): (&(Kind, String, Mac), &Question)| QuestionHeard {
                question: kind.words().to_owned(),
                asked: asked.clone(),
                mac: mac.to_string(),
                times: question.times,
                last_before_end_ns: now.nanos_since(question.last),
            };
        self.found.iter().filter(|(_, question)| !question.is_answered).map(heard).collect()
    }
}
