//! What other programs sent, fed to the server and the client: every request is answered as its program takes it.

use std::collections::BTreeMap;

use lanlab_stack::file_server::memory::MemoryFiles;
use lanlab_stack::ncp::profile::NETWARE_3;
use lanlab_stack::ncp::server::{Offer, Server};
use lanlab_stack::node::{CarrierKind, CarrierKinds, Node, NodeConfig, StationConfig};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Header, framing, packet_type};
use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::envelope::{Envelope, Reply, kind};
use lanlab_wire::netbios_name::{Name, suffix};
use lanlab_wire::smb1::strings::CodePage;

use crate::pair::{READY, Serving};
use crate::replay::{self, Captured};
use crate::tshark::fields;

/// The adapter of lanlab in the captures.
const SERVER: Mac = Mac([0x6e, 0x0c, 0x69, 0x30, 0x7a, 0xc9]);
const NETWORK: u32 = 0x22;

/// The server of the captures. Their passwords are proved with keys that were random: it asks for none.
pub struct Listening {
    pub node: Node,
    pub serving: Serving,
}

impl Listening {
    pub fn new(files: MemoryFiles) -> Self {
        let carriers = CarrierKinds::only(CarrierKind::Ncp);
        let name = Name::new("FS1", suffix::SERVER).unwrap();
        let config = NodeConfig::new(SERVER, name, WINDOWS_NT, carriers);
        let framing = Some(framing::IEEE_802_2);
        let (netware, network) = (NETWARE_3, Some(NETWORK));
        let station = StationConfig { netware, framing, network, ..config.station };
        let mut node = Node::new(&NodeConfig { station, ..config }, Instant::ZERO);
        node.handle_timeout(READY);
        node.listen();
        let offer = Offer {
            name: "FS1".into(),
            volume: "SYS".into(),
            user: None,
            read_only: false,
            code_page: CodePage::Cp437,
            netware: NETWARE_3,
        };
        let mut one = Self { node, serving: Serving::new(Server::new(offer), files) };
        one.work(READY);
        let mut frame = vec![];
        while one.node.poll_transmit(READY, &mut frame) {}
        one
    }

    fn work(&mut self, now: Instant) {
        work(now, &mut self.node, &mut self.serving);
    }

    pub fn replay(&mut self, begin: Instant, frames: &[Captured]) -> (replay::Replayed, Instant) {
        let serving = &mut self.serving;
        replay::replay(&mut self.node, begin, frames, |now, node| work(now, node, serving))
    }
}

fn work(now: Instant, node: &mut Node, serving: &mut Serving) {
    let mut message = vec![];
    while let Some(event) = node.poll_event(&mut message) {
        serving.handle(now, node, event, &mut message);
    }
}

/// What a frame has of NCP, if it is a packet of it.
fn ncp(frame: &[u8]) -> Option<Vec<u8>> {
    let frame = Frame::parse(frame).unwrap();
    let (header, data) = Header::parse(framing::packet(&frame)?.0).ok()?;
    (header.kind == packet_type::NCP).then(|| data.to_vec())
}

/// The function of a request, its completion code and what stands behind; each is answered once.
pub fn answered(frames: &[Captured], answers: &[Vec<Vec<u8>>]) -> Vec<(Vec<u8>, u8, Vec<u8>)> {
    let mut all = vec![];
    for (asked, said) in frames.iter().zip(answers) {
        let Some(request) = ncp(&asked.frame) else { continue };
        let (envelope, data) = Envelope::parse(&request).unwrap();
        let replies: Vec<_> = said.iter().filter_map(|frame| ncp(frame)).collect();
        assert_eq!(replies.len(), 1, "{request:02x?}");
        let (reply, behind) = Reply::parse(&replies[0]).unwrap();
        assert_eq!((reply.envelope.kind, reply.status), (kind::REPLY, 0), "{request:02x?}");
        assert_eq!(reply.envelope.sequence, envelope.sequence);
        if envelope.kind != kind::CREATE {
            assert_eq!(reply.envelope.connection, envelope.connection);
        }
        all.push((data.to_vec(), reply.completion, behind.to_vec()));
    }
    all
}

/// tshark reads every frame of both directions, and none as malformed.
pub fn none_is_malformed(capture: &[u8], of: &str) {
    let names = ["_ws.malformed", "frame.protocols"];
    let Some(lines) = fields(capture, of, &names) else { return };
    assert!(!lines.is_empty());
    for line in &lines {
        assert!(line.starts_with('\t'), "{line}");
    }
}

#[test]
fn the_first_request_of_ncpfs_is_number_1_after_a_create_of_number_1() {
    let frames = replay::read(include_str!("../frames/ncp-ncpfs-create-1.txt"));
    let mut server = Listening::new(MemoryFiles::default());
    let (replayed, now) = server.replay(READY, &frames);
    let answers = answered(&frames, &replayed.answers);
    // A create, and a request three times, of which two are copies.
    assert_eq!(answers.len(), 4);
    assert!(answers.iter().all(|one| one.1 == 0), "{answers:02x?}");
    assert_eq!((&answers[1].2, &answers[1].2), (&answers[2].2, &answers[3].2));
    none_is_malformed(&replayed.capture, "ncp-create-1");

    // The create once more has its own number in the reply; an end that comes twice is answered twice.
    let again = Captured { after_ns: 1, ..frames[2].clone() };
    let mut end = again.clone();
    let packet = end.frame.len() - 7;
    end.frame[packet..].copy_from_slice(&[0x55, 0x55, 2, 1, 1, 0, 0]);
    let frames = [again, end.clone(), end];
    let answers = answered(&frames, &server.replay(now, &frames).0.answers);
    assert_eq!(answers.iter().map(|one| one.1).collect::<Vec<_>>(), [0, 0, 0]);
}

/// The codes that do not say done, by what was asked.
fn refused(answers: &[(Vec<u8>, u8, Vec<u8>)]) -> Vec<([u8; 4], u8)> {
    let refused = answers.iter().filter(|one| one.1 != completion::OK);
    refused
        .map(|(asked, code, _)| {
            let mut begin = [0; 4];
            let length = asked.len().min(4);
            begin[..length].copy_from_slice(&asked[..length]);
            (begin, *code)
        })
        .collect()
}

#[test]
fn ncpfs_logs_in_asks_who_is_there_and_mounts() {
    let frames = replay::read(include_str!("../frames/ncp-ncpfs.txt"));
    let mut server = Listening::new(MemoryFiles::default());
    // Five connections were there before.
    let creates: Vec<_> = (0..5)
        .map(|index| {
            let create = frames.iter().find(|one| {
                ncp(&one.frame).is_some_and(|data| data.starts_with(&kind::CREATE.to_be_bytes()))
            });
            let mut create = create.unwrap().clone();
            // Its socket.
            create.frame[17 + 29] = 0x80 + 2 * index;
            Captured { after_ns: u64::from(index) * 1_000, ..create }
        })
        .collect();
    let (_, now) = server.replay(READY, &creates);
    let (replayed, _) = server.replay(now.plus_nanos(1_000_000), &frames);
    let answers = answered(&frames, &replayed.answers);
    assert!(answers.len() > 150, "{}", answers.len());
    let mut expected = BTreeMap::new();
    for (asked, code) in refused(&answers) {
        *expected.entry((asked, code)).or_insert(0) += 1;
    }
    let named: Vec<_> = expected.into_iter().collect();
    let of_others = completion::COLLISION;
    let expected = [
        // Connections of others; the end of a scan; NET_ADDRESS; name spaces of NFS and OS/2; NDS.
        (([0x17, 0, 5, 0x1c], of_others), 3),
        (([0x17, 0, 9, 0x37], completion::NO_SUCH_OBJECT), 3),
        (([0x17, 0, 0x14, 0x3d], completion::NO_SUCH_PROPERTY), 13),
        (([0x57, 6, 2, 0], completion::OTHER_NAME_SPACE), 1),
        (([0x57, 6, 4, 0], completion::OTHER_NAME_SPACE), 1),
        (([0x68, 1, 0, 0], completion::UNSUPPORTED), 14),
    ];
    assert_eq!(named, expected, "{named:02x?}");
    none_is_malformed(&replayed.capture, "ncp-ncpfs");
}
