//! Frames without a link that are queued for sending.

use std::collections::VecDeque;

use lanlab_wire::ethernet::{self, Framing, Mac};
use lanlab_wire::llc::{Control, Header, Unnumbered, sap};
use lanlab_wire::nbf::NameHeader;

/// Maximum frames queued; more are dropped until the driver has sent some.
const MOST_WAITING: usize = 128;

#[derive(Debug)]
struct Waiting {
    to: Mac,
    header: Header,
    information: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Output {
    pub(super) mac: Mac,
    waiting: VecDeque<Waiting>,
    /// Frames dropped because the driver had not sent earlier ones.
    pub(super) dropped: u64,
}

impl Output {
    pub(super) fn new(mac: Mac) -> Self {
        Self { mac, waiting: VecDeque::new(), dropped: 0 }
    }

    pub(super) fn push(&mut self, to: Mac, header: NameHeader, data: &[u8]) {
        let mut information = Vec::new();
        header.emit(&mut information);
        information.extend_from_slice(data);
        let control = Control::Unnumbered { kind: Unnumbered::Information, poll: false };
        let ui = Header {
            destination_sap: sap::NETBIOS,
            source_sap: sap::NETBIOS,
            is_response: false,
            control,
        };
        self.push_pdu(to, ui, information);
    }

    pub(super) fn push_pdu(&mut self, to: Mac, header: Header, information: Vec<u8>) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back(Waiting { to, header, information });
        } else {
            self.dropped += 1;
        }
    }

    pub(super) fn poll_transmit(&mut self, into: &mut Vec<u8>) -> bool {
        let Some(Waiting { to, header, information }) = self.waiting.pop_front() else {
            return false;
        };
        begin(to, self.mac, into);
        header.emit(into);
        into.extend_from_slice(&information);
        ethernet::close(0, into);
        true
    }
}

/// Write the addresses of a frame; [`ethernet::close`] fills in the length later.
pub(super) fn begin(to: Mac, from: Mac, into: &mut Vec<u8>) {
    into.clear();
    let header = ethernet::Header { destination: to, source: from, framing: Framing::Llc };
    // Cannot fail: payloads are bounded.
    let _ = header.emit(0, into);
}
