//! Packets of strangers: foreign and stale connections, repeated writes, floods of calls, arbitrary octets.

use lanlab_stack::node::CarrierKind;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Address, Header as Packet, NO_CHECKSUM, framing, socket};
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::status::Status;
use lanlab_wire::smb1::writer::Writer;
use proptest::prelude::*;

use super::exchange::request;
use crate::by_hand::{CLIENT, Carried, Hand, OTHER};
use crate::segment::mac;

pub enum Direct {}

impl Carried for Direct {
    const KIND: CarrierKind = CarrierKind::Ipx;
    type Packet = Vec<u8>;

    fn read(frame: &Frame<'_>) -> Option<Vec<u8>> {
        let (header, data) = Packet::parse(framing::packet(frame).unwrap().0).unwrap();
        (header.source.socket == socket::SMB_SERVER).then(|| data.to_vec())
    }
}

pub type Server = Hand<Direct>;

impl Server {
    pub fn hear(&mut self, from: Mac, message: &[u8]) -> Vec<Vec<u8>> {
        let source = Address { network: 0, node: from.0, socket: 0x4001 };
        let destination = Address { network: 0, node: mac(0).0, socket: socket::SMB_SERVER };
        let header = Packet { checksum: NO_CHECKSUM, hops: 0, kind: 4, destination, source };
        let mut octets = vec![];
        framing::emit((mac(0), from), framing::IEEE_802_2, &header, message, &mut octets).unwrap();
        self.hear_frame(&octets)
    }

    pub fn answer(&mut self) -> Vec<Vec<u8>> {
        let (session, message) = (self.asked.unwrap(), self.received.last().unwrap());
        let header = Header::parse(message).unwrap().response(Status::success(0));
        let mut answer = vec![];
        Writer::begin(&mut answer, &header).empty();
        self.node.send(self.now, session, &answer).unwrap();
        self.sent()
    }

    pub fn session(&mut self, from: Mac) -> u16 {
        assert!(self.hear(from, &request(command::NEGOTIATE, 1)).is_empty());
        let answer = self.answer().remove(0);
        let connection = u16::from_le_bytes([answer[18], answer[19]]);
        assert!(!matches!(connection, 0 | 0xffff));
        connection
    }
}

pub fn numbered(command: u8, number: u16, connection: u16, sequence: u16) -> Vec<u8> {
    let mut message = request(command, number);
    message[18..20].copy_from_slice(&connection.to_le_bytes());
    message[20..22].copy_from_slice(&sequence.to_le_bytes());
    message
}

pub fn error(answer: &[u8]) -> (u8, u16) {
    (answer[5], u16::from_le_bytes([answer[7], answer[8]]))
}

#[test]
fn a_repeated_write_is_answered_but_not_executed_again() {
    let mut server = Server::new();
    let connection = server.session(CLIENT);
    let write = numbered(command::WRITE, 2, connection, 1);
    assert!(server.hear(CLIENT, &write).is_empty());
    assert_eq!(server.received.len(), 2);
    // It is being carried out still.
    let working = server.hear(CLIENT, &write);
    assert_eq!((working.len(), error(&working[0])), (1, (2, 0x11)));
    let answer = server.answer();
    assert_eq!(answer[0][18..22], write[18..22], "the answer has the numbers of the request");
    for _ in 0..3 {
        assert_eq!(server.hear(CLIENT, &write), answer);
    }
    // A number before it, and one that leaves something out.
    for sequence in [0xffff, 3, 9] {
        assert!(server.hear(CLIENT, &numbered(command::WRITE, 9, connection, sequence)).is_empty());
    }
    assert_eq!(server.received.len(), 2);
    assert!(server.hear(CLIENT, &numbered(command::WRITE, 3, connection, 2)).is_empty());
    assert_eq!(server.received.len(), 3);
}

#[test]
fn sequence_numbers_wrap_to_one() {
    let mut server = Server::new();
    let connection = server.session(CLIENT);
    let mut mid = 2;
    for sequence in (1..=0xffff).chain([1, 2]) {
        let before = server.received.len();
        server.hear(CLIENT, &numbered(command::WRITE, mid, connection, sequence));
        assert_eq!(server.received.len(), before + 1, "{sequence}");
        server.answer();
        server.received.truncate(1);
        mid = if mid == 60_000 { 2 } else { mid + 1 };
    }
}

#[test]
fn connection_numbers_of_others_are_rejected_as_unknown() {
    let mut server = Server::new();
    let connection = server.session(CLIENT);
    for (from, number) in [(OTHER, connection), (CLIENT, connection + 1), (CLIENT, 0)] {
        let answers = server.hear(from, &numbered(command::WRITE, 2, number, 1));
        assert_eq!((answers.len(), error(&answers[0])), (1, (2, 0x10)));
    }
    assert_eq!(server.received.len(), 1);
    // Answers and what is no SMB at all are not answered.
    let header = Header::request(command::WRITE, 0x80, 0).emit();
    assert!(server.hear(OTHER, &header).is_empty() && server.hear(OTHER, b"no SMB").is_empty());
}

#[test]
fn a_repeated_first_request_is_answered_and_a_new_one_restarts_the_session() {
    let mut server = Server::new();
    let connection = server.session(CLIENT);
    let again = server.hear(CLIENT, &request(command::NEGOTIATE, 1));
    assert_eq!(again[0][18..20], connection.to_le_bytes());
    assert_eq!((server.sessions.len(), server.received.len()), (1, 1));
    // Another first request: the client has begun anew.
    server.hear(CLIENT, &request(command::NEGOTIATE, 5));
    assert_eq!((server.sessions.len(), server.ended.len()), (2, 1));
    let answer = server.answer();
    let connection = u16::from_le_bytes([answer[0][18], answer[0][19]]);
    // As long as it does not go on, it has not heard the answer.
    server.now = server.now.plus_nanos(31_000_000_000);
    assert_eq!(server.hear(CLIENT, &request(command::NEGOTIATE, 5)), answer);
    server.hear(CLIENT, &numbered(command::READ, 6, connection, 0));
    let went_on = server.now;
    server.now = went_on.plus_nanos(29_999_999_999);
    assert_eq!(server.hear(CLIENT, &request(command::NEGOTIATE, 5)), answer);
    // Later than any copy comes late, it is a client that has begun anew.
    server.now = went_on.plus_nanos(30_000_000_000);
    server.hear(CLIENT, &request(command::NEGOTIATE, 5));
    assert_eq!((server.sessions.len(), server.ended.len()), (3, 2));
}

#[test]
fn clients_that_only_negotiate_make_room_for_others() {
    let mut server = Server::new();
    let first = server.session(CLIENT);
    server.hear(CLIENT, &numbered(command::READ, 2, first, 0));
    for number in 0..2_000_u16 {
        let [high, low] = number.to_be_bytes();
        server.hear(Mac([2, 1, 0, 0, high, low]), &request(command::NEGOTIATE, 1));
    }
    let open = server.sessions.len() - server.ended.len();
    assert_eq!(open, 254);
    // The one that has gone on is there.
    server.received.clear();
    server.hear(CLIENT, &numbered(command::READ, 3, first, 0));
    assert_eq!(server.received.len(), 1);
}

#[test]
fn unfinished_requests_of_a_session_are_bounded() {
    let mut server = Server::new();
    let connection = server.session(CLIENT);
    for number in 2..100 {
        server.hear(CLIENT, &numbered(command::READ, number, connection, 0));
    }
    assert_eq!(server.received.len(), 1 + 8);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_packets_leave_a_server_running(
        packets in prop::collection::vec(
            (any::<bool>(), 0..5_usize, prop::collection::vec(any::<u8>(), 0..90)), 0..40,
        ),
    ) {
        let mut server = Server::new();
        let connection = server.session(CLIENT);
        for (has_header, at, octets) in packets {
            let sockets =
                [socket::SMB_SERVER, socket::SMB_NAMES, socket::SAP, socket::RIP, 0x4001];
            let mut message = octets;
            if has_header && message.len() >= 32 {
                message[..4].copy_from_slice(b"\xffSMB");
                message[18..20].copy_from_slice(&connection.to_le_bytes());
            }
            let source = Address { network: 0, node: CLIENT.0, socket: 0x4001 };
            let destination = Address { network: 0, node: mac(0).0, socket: sockets[at] };
            let header = Packet { checksum: NO_CHECKSUM, hops: 0, kind: 4, destination, source };
            let mut octets = vec![];
            framing::emit((mac(0), CLIENT), framing::SNAP, &header, &message, &mut octets).unwrap();
            server.hear_frame(&octets);
            server.now = server.now.plus_nanos(1_000_000);
        }
    }
}
