//! Bursts of clients that do not keep to the protocol, and servers without bursts.

use lanlab_stack::profile::netware::NetWare;
use lanlab_stack::profile::netware::{NETWARE_2, NETWARE_3};
use lanlab_stack::redirector::Redirector;
use lanlab_wire::ncp::burst::{
    Fragment, Header, Low, Offer, Operation, Packet, READ_REPLY_LEN, file_of, flag, operation,
    parse_data, parse_result, result,
};
use lanlab_wire::ncp::completion as c;
use lanlab_wire::ncp::files::{OfPath, Opened};
use lanlab_wire::ncp::function as f;
use lanlab_wire::ncp::text::Name;

use super::hostile::Bench;
use super::pair::{Pair, Setting, pattern};

/// The client's number of its connection.
const OWN: u32 = 0x1234_5678;
const CLIENT: (u8, u16) = (0, 0x4003);

/// A client with bursts, and the file that it has open.
fn bench() -> (Bench, [u8; 4]) {
    let mut bench = Bench::logged_in();
    let create = OfPath { handle: 1, attributes: 0, path: Name(b"A") };
    let (code, reply) = bench.ask(f::CREATE_NEW, |out| create.emit(out));
    assert_eq!(code, c::OK);
    let offer = Offer { connection: OWN, packet: 576, socket: 0x4003, ..Offer::default() };
    let (code, reply_to_offer) = bench.ask(f::OFFER_BURST, |out| offer.emit(out));
    assert_eq!((code, &reply_to_offer[..8]), (c::OK, &[0, 0, 0, 1, 0, 0, 2, 0x40][..]));
    (bench, file_of(Opened::parse(&reply).unwrap().file))
}

fn header(burst: u16, flags: u8) -> Header {
    Header { flags, source: OWN, destination: 1, burst, ack: burst, ..Header::default() }
}

fn send(
    bench: &mut Bench,
    header: Header,
    missing: &[Fragment],
    data: &[u8],
) -> Vec<(u8, Vec<u8>)> {
    let mut message = vec![];
    header.emit(missing, data, &mut message);
    assert_eq!(bench.send_octets(CLIENT, &message), []);
    let bursts = std::mem::take(&mut bench.bursts);
    let answers = bursts.iter().map(|octets| {
        let packet = Packet::parse(octets).unwrap();
        (packet.header.flags, packet.data.to_vec())
    });
    answers.collect()
}

fn asked(number: u32, file: [u8; 4], offset: u32, count: u32, data: &[u8]) -> Vec<u8> {
    let mut body = vec![];
    let operation = Low { number };
    Operation { operation, file, reserved: [0; 8], offset, count }.emit(&mut body);
    body.extend_from_slice(data);
    body
}

#[test]
fn a_burst_write_runs_once_and_its_reply_is_kept() {
    let (mut bench, file) = bench();
    let body = asked(operation::WRITE, file, 0, 1_000, &[7; 1_000]);
    let total = body.len() as u32;
    let part = |burst, offset: usize, end: usize, flags| {
        (
            Header { total, offset: offset as u32, ..header(burst, flags) },
            body[offset..end].to_vec(),
        )
    };
    // Its end comes first, twice: the beginning is missing.
    for _ in 0..2 {
        let (head, data) = part(0, 510, 1_024, flag::END);
        let answers = send(&mut bench, head, &[], &data);
        assert_eq!(answers, [(flag::SYSTEM | flag::MISSING, vec![])]);
    }
    // Out of turn, or of others: dropped.
    for wrong in [
        Header { burst: 1, ..part(0, 0, 510, 0).0 },
        Header { ack: 1, ..part(0, 0, 510, 0).0 },
        Header { source: 1, ..part(0, 0, 510, 0).0 },
        Header { destination: 2, ..part(0, 0, 510, 0).0 },
        Header { total: 999_999, ..part(0, 0, 510, 0).0 },
    ] {
        assert_eq!(send(&mut bench, wrong, &[], &body[..510]), [], "{wrong:?}");
    }
    // Out of its turn, or of another end's: two, and those of connections that there are not two.
    assert_eq!(bench.counted("information_discarded"), 2);
    assert_eq!(bench.counted("unknown_session_frames"), 2);
    let (head, data) = part(0, 0, 510, 0);
    let done = vec![(flag::END, vec![0; 4])];
    assert_eq!(send(&mut bench, head, &[], &data), done);
    // A late copy of its end hears the same, one of another part nothing.
    let (head, data) = part(0, 510, 1_024, flag::END);
    assert_eq!(send(&mut bench, head, &[], &data), done);
    let (head, data) = part(0, 0, 510, 0);
    assert_eq!(send(&mut bench, head, &[], &data), []);
    // What was written, in parts; of what answers it any part again, and nothing beyond its end.
    let read = asked(operation::READ, file, 0, 2_000, &[]);
    let head = Header { total: read.len() as u32, ..header(1, flag::END) };
    let whole: Vec<u8> =
        send(&mut bench, head, &[], &read).into_iter().flat_map(|one| one.1).collect();
    assert_eq!(parse_data(&whole), Ok(&[7; 1_000][..]));
    let length = u16::MAX;
    let list = [(1_000, 8), (5, 3), (u32::MAX, 9), (READ_REPLY_LEN as u32 + 1_000, length)];
    let list = list.map(|(offset, length)| Fragment { offset, length });
    let again = send(&mut bench, header(1, flag::SYSTEM | flag::MISSING), &list, &[]);
    let expected = [(0, whole[1_000..].to_vec()), (flag::END, whole[5..8].to_vec())];
    assert_eq!(again, expected);
    let many = vec![Fragment { offset: 0, length: 1 }; 200];
    let again = send(&mut bench, header(1, flag::SYSTEM | flag::MISSING), &many, &[]);
    assert_eq!(again.len(), 1, "the same part once");
    // After another request there is nothing to say again.
    assert_eq!(bench.ask(f::GET_TIME, |_| {}).0, c::OK);
    assert_eq!(send(&mut bench, head, &[], &read), []);
}

#[test]
fn failed_bursts_return_a_result_code() {
    let (mut bench, file) = bench();
    let mut burst = 0;
    let mut ask = |body: &[u8]| {
        let head = Header { total: body.len() as u32, ..header(burst, flag::END) };
        burst += 1;
        let answers = send(&mut bench, head, &[], body);
        assert_eq!(answers.len(), 1);
        parse_result(&answers[0].1).unwrap()
    };
    let other = [0, 0, 9, 9];
    assert_eq!(ask(&asked(operation::READ, file, 0, 10, &[])), result::NO_DATA);
    assert_eq!(ask(&asked(operation::READ, other, 0, 10, &[])), result::NOT_BEGUN);
    assert_eq!(ask(&asked(operation::WRITE, other, 0, 1, &[1])), result::WRITE_ERROR);
    assert_eq!(ask(&asked(operation::WRITE, file, 0, 9, &[1])), result::WRITE_ERROR, "its length");
    assert_eq!(ask(&asked(operation::WRITE, file, u32::MAX, 1, &[1])), result::WRITE_ERROR);
    assert_eq!(ask(&asked(3, file, 0, 1, &[])), result::NOT_BEGUN);
    assert_eq!(ask(&[1]), result::NOT_BEGUN, "short");
    assert_eq!(ask(&asked(operation::WRITE, file, 0, 1, &[1])), result::OK);
    assert_eq!(bench.files.open(), 1);
}

#[test]
fn without_bursts_each_block_is_one_packet() {
    let mut pair =
        Pair::new(&Setting::new(NetWare { has_bursts: NETWARE_2.has_bursts, ..NETWARE_3 }));
    let facts = pair.client().client.as_ref().unwrap().facts().unwrap();
    assert_eq!((facts.read_bytes, facts.write_bytes), (1_449, 1_449));
    pair.put("a", &pattern(5_000));
    assert_eq!(pair.get("a"), pattern(5_000));
}
