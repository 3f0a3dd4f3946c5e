//! Frames that make no sense at a server's station, which answers as the standard says and goes on.

use std::time::{Duration, Instant};

use lanlab_clients::connect;
use lanlab_files::Session;
use lanlab_os::{RawFrames, RawLink, wait_readable};
use lanlab_wire::ethernet::{Frame, Framing, Header as Ethernet, Mac};
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader};
use lanlab_wire::netbios_name::{Name, suffix};

use super::cable::{Cable, place, runs_outside};
use super::{NAME, content, get, path, put, run, served};

struct Stranger {
    link: RawLink,
    server: Mac,
}

impl Stranger {
    fn send(&self, to: Mac, pdu: &[u8]) {
        let header =
            Ethernet { destination: to, source: Mac(self.link.mac()), framing: Framing::Llc };
        let mut frame = Vec::new();
        Frame { header, payload: pdu }.emit(&mut frame).unwrap();
        self.link.send(&frame).unwrap();
    }

    /// The next PDU for us that `wanted` takes.
    fn answered(&self, what: &str, wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let end = Instant::now() + Duration::from_secs(5);
        let mut buffer = [0; 2048];
        while Instant::now() < end {
            if !wait_readable(&self.link, Duration::from_millis(100)).unwrap() {
                continue;
            }
            while let Some(length) = self.link.receive(&mut buffer).unwrap() {
                let Ok(frame) = Frame::parse(&buffer[..length]) else { continue };
                if frame.header.source == self.server && wanted(frame.payload) {
                    return frame.payload.to_vec();
                }
            }
        }
        panic!("{what}: no answer")
    }
}

fn query(command: NameCommand, destination: Name, source: Name) -> Vec<u8> {
    let mut pdu = vec![0xf0, 0xf0, 0x03];
    let header = NameHeader::new(command, destination, source);
    NameHeader { response_correlator: 77, ..header }.emit(&mut pdu);
    pdu
}

#[test]
fn hostile_requests_get_standard_replies_while_clients_are_served() {
    if runs_outside("nbf::hostile::hostile_requests_get_standard_replies_while_clients_are_served")
    {
        return;
    }
    let _cable = Cable::new();
    run(async {
        let (_root, serving, target) = served().await;
        tokio::task::spawn_blocking(annoy).await.unwrap();
        let session = connect(&target).await.unwrap();
        let data = content(100_000, 3);
        put(&session, &path("file.dat"), &data).await;
        assert!(get(&session, &path("file.dat")).await == data);
        session.end().await.unwrap();
        serving.end().await;
    });
}

fn annoy() {
    let link = RawLink::open(&place("left"), RawFrames::Historic).unwrap();
    let server = Mac(RawLink::open(&place("right"), RawFrames::Historic).unwrap().mac());
    let stranger = Stranger { link, server };
    let own = Name::new(NAME, suffix::SERVER).unwrap();

    // Another station wants the server's name.
    stranger.send(Mac::NETBIOS_GROUP, &query(NameCommand::AddNameQuery, NO_NAME, own));
    stranger.answered("a claim of its name", |pdu| pdu.len() > 7 && pdu[7] == 0x0d);

    // It says that the name is its own: the server asks who has it, and goes on.
    stranger.send(Mac::NETBIOS_GROUP, &query(NameCommand::NameInConflict, own, NO_NAME));
    stranger.answered("a conflict of its name", |pdu| pdu.len() > 7 && pdu[7] == 0x01);

    // Type 1: TEST comes back, XID says what the station can do.
    stranger.send(server, &[0xf0, 0xf0, 0xf3, 1, 2, 3]);
    let echoed = stranger.answered("TEST", |pdu| pdu[2] == 0xf3);
    assert_eq!(echoed, [0xf0, 0xf1, 0xf3, 1, 2, 3]);
    stranger.send(server, &[0xf0, 0xf0, 0xbf, 0x81, 3, 0]);
    stranger.answered("XID", |pdu| pdu[2] == 0xbf && pdu[3] == 0x81);

    // Numbered frames without a link: DM, as a response.
    stranger.send(server, &[0xf0, 0xf0, 0x01, 0x01]);
    let disconnected = stranger.answered("RR without a link", |pdu| pdu[2] & 0xef == 0x0f);
    assert_eq!(disconnected, [0xf0, 0xf1, 0x1f]);

    // N(R) outside of what was sent: FRMR, which says so (Z).
    stranger.send(server, &[0xf0, 0xf0, 0x7f]);
    stranger.answered("SABME", |pdu| pdu[2] == 0x73);
    stranger.send(server, &[0xf0, 0xf0, 0x01, 77 << 1]);
    let rejected = stranger.answered("N(R) of 77", |pdu| pdu[2] & 0xef == 0x87);
    assert_eq!(rejected[7] & 0x08, 0x08, "{rejected:?}");

    // A link anew, sessions that are not open on it, and a peer that is never ready.
    stranger.send(server, &[0xf0, 0xf0, 0x7f]);
    stranger.answered("SABME", |pdu| pdu[2] == 0x73);
    for (number, command) in (0x14..=0x1f).enumerate() {
        let mut pdu = vec![0xf0, 0xf0, (number as u8) << 1, 0];
        pdu.extend([14, 0, 0xff, 0xef, command, 0x0f, 0xff, 0xff, 9, 9, 9, 9, 200, 201]);
        stranger.send(server, &pdu);
    }
    stranger.send(server, &[0xf0, 0xf0, 0x05, 0x01]);

    // Lengths that are not those of the frame, SAPs that are not there, and other nonsense.
    let mut state = 1_u32;
    for round in 0..3000 {
        let length = round % 90;
        let mut frame = [&server.0[..], &stranger.link.mac()].concat();
        let stated = if round % 3 == 0 { 1500 } else { length as u16 };
        frame.extend(stated.to_be_bytes());
        frame.extend([0xf0, 0xf0, 0x03, 44, 0, 0xff, 0xef].iter().take(round % 8));
        while frame.len() < 14 + length {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            frame.push((state >> 24) as u8);
        }
        stranger.link.send(&frame).unwrap();
    }
}
