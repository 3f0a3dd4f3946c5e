//! What other programs sent, fed to the server and the client: every request is answered as its program takes it.

use std::collections::BTreeMap;

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::files::{FileCall, FileStore as _};
use lanlab_stack::ncp::client::{Plan, User};
use lanlab_stack::ncp::server::{Offer, Server};
use lanlab_stack::node::{CarrierKind, Node, NodeConfig, Peer, StationConfig};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_stack::profile::netware::NETWARE_3;
use lanlab_stack::redirector::{Access, Call, Done, FileId, Reason, Refusal};
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Header, framing, packet_type};
use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::envelope::{Envelope, Reply, kind};
use lanlab_wire::ncp::files::parse_data;
use lanlab_wire::ncp::function::{self, Function};
use lanlab_wire::netbios_name::{Name, suffix};

use super::pair::{Asking, READY, Serving};
use crate::memory_files::MemoryFiles;
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
        let carriers = CarrierKind::Ncp;
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
        serving.handle(now, node, &event, &mut message);
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
fn ncpfs_logs_in_lists_users_and_mounts() {
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

#[test]
fn ncpfs_writes_reads_renames_and_deletes_by_name_spaces_and_by_old_calls() {
    let frames = replay::read(include_str!("../frames/ncp-ncpfs-files.txt"));
    let mut files = MemoryFiles::default();
    for name in ["LOGIN", "A1.TXT"] {
        let path = vec![name.to_owned()];
        files.carry_out(FileCall::MakeDirectory { path }, &mut vec![]);
    }
    let mut server = Listening::new(files);
    let (replayed, _) = server.replay(READY, &frames);
    let answers = answered(&frames, &replayed.answers);
    let expected = [
        (([0x17, 0, 0x14, 0x3d], completion::NO_SUCH_PROPERTY), 1),
        (([0x3f, 0, 0, 1], completion::FAILED), 1),
        (([0x57, 3, 0, 0], completion::FAILED), 1),
        (([0x68, 1, 0, 0], completion::UNSUPPORTED), 1),
    ];
    let mut named = BTreeMap::new();
    for one in refused(&answers) {
        *named.entry(one).or_insert(0) += 1;
    }
    // Ends of searches, NET_ADDRESS and NDS.
    let named: Vec<_> = named
        .into_iter()
        .map(|((mut asked, code), count)| {
            if asked[0] == 0x3f {
                asked = [0x3f, 0, 0, 1];
            }
            ((asked, code), count)
        })
        .collect();
    assert_eq!(named, expected, "{named:02x?}");
    // What it wrote by both kinds of calls, and what it read by both.
    let written: Vec<u8> = answers
        .iter()
        .filter(|one| one.0[0] == 0x49)
        .flat_map(|one| one.0[14..].to_vec())
        .collect();
    let read: Vec<u8> = answers
        .iter()
        .filter(|one| one.0[0] == 0x48)
        .flat_map(|(asked, _, behind)| {
            let offset = u32::from_be_bytes(asked[8..12].try_into().unwrap());
            parse_data(offset, behind).unwrap().to_vec()
        })
        .collect();
    assert_eq!((written.len(), read.len()), (10_000, 10_000));
    assert!(written[..5_000] == written[5_000..], "written");
    assert!(written == read);
    assert_eq!(server.serving.server.open_files(), 0);
    none_is_malformed(&replayed.capture, "ncp-ncpfs-files");
}

type Outcome = Result<Done, Refusal>;
/// A sequence number, and what was asked.
type Asked = (u8, Vec<u8>);

/// Replay frames of `mars_nwe` to a client. It starts when it would choose `socket`, and after each outcome makes the
/// call that `next` returns.
/// Returns the outcomes, the client's requests, and both directions as a capture.
fn at_mars(
    frames: &[Captured],
    socket: u64,
    mut next: impl FnMut(usize, &Outcome) -> Option<Call<'static>>,
) -> (Vec<Outcome>, Vec<Asked>, Vec<u8>) {
    let begin = Instant::from_nanos((socket - 0x4002) / 2 * 1_000_000);
    let carriers = CarrierKind::Ncp;
    let name = |text| Name::new(text, suffix::SERVER).unwrap();
    let config = NodeConfig::new(SERVER, name("JUDGE"), WINDOWS_NT, carriers);
    let (framing, network) = (Some(framing::RAW_802_3), Some(NETWORK));
    let station = StationConfig { netware: NETWARE_3, framing, network, ..config.station };
    let mut node = Node::new(&NodeConfig { station, ..config }, begin);
    node.handle_timeout(begin);
    let called = sap_name(&frames[0].frame);
    node.open(begin, Peer::Name(name(&called)));
    let mut client = Asking::new(Plan {
        volume: "SYS".into(),
        user: Some(User { name: "JUDGE".into(), password: "JUDGE".into() }),
        most_data_bytes: 1024,
        large_packets: true,
        burst_packets: Some((24, 10)),
        carrier: CarrierFacts { longest_message: 0, keeps_raw: false, is_one_at_a_time: true },
    });
    let (mut outcomes, mut message) = (vec![], vec![]);
    let (replayed, _) = replay::replay(&mut node, begin, frames, |now, node| {
        while let Some(event) = node.poll_event(&mut message) {
            client.handle(now, node, &event, &mut message);
        }
        for (_, outcome) in client.take_done() {
            let call = next(outcomes.len(), &outcome);
            outcomes.push(outcome);
            if let Some(call) = call {
                client.begin(now, node, call);
            }
        }
    });
    let mut requests = vec![];
    for sent in replayed.answers.iter().flatten().filter_map(|frame| ncp(frame)) {
        let (envelope, data) = Envelope::parse(&sent).unwrap();
        if envelope.kind == kind::REQUEST {
            requests.push((envelope.sequence, data.to_vec()));
        }
    }
    requests.dedup();
    (outcomes, requests, replayed.capture)
}

/// Up to the first directory that a client makes.
const MARS_LOGIN: [Function; 11] = [
    function::NEGOTIATE_BUFFER,
    function::SERVER_INFORMATION,
    function::NEGOTIATE_PACKET,
    function::OFFER_BURST,
    function::GET_KEY,
    function::OBJECT_ID,
    function::LOG_IN_KEYED,
    function::ALLOCATE_PERMANENT,
    function::ALLOCATE_TEMPORARY,
    function::FREE_HANDLE,
    function::MAKE_DIRECTORY,
];

fn functions(requests: &[Asked]) -> Vec<Function> {
    assert!(requests.iter().map(|one| one.0).eq(1..=requests.len() as u8), "{requests:02x?}");
    requests.iter().map(|one| Function::parse(&one.1).unwrap().0).collect()
}

#[test]
fn a_client_works_with_mars_nwe_which_has_no_large_packets_and_no_bursts() {
    let frames = replay::read(include_str!("../frames/ncp-mars-session.txt"));
    let (outcomes, requests, capture) = at_mars(&frames, 0x5bd6, |step, _| match step {
        0 => Some(Call::CheckDirectory { path: "DATA" }),
        1 => Some(Call::MakeDirectory { path: "DATA/FD6B616D.LAB" }),
        2 => Some(Call::Open { path: "DATA/FD6B616D.LAB/MARK.LAB", access: Access::Create }),
        _ => None,
    });
    assert_eq!(functions(&requests), [&MARS_LOGIN[..], &[function::CREATE_NEW]].concat());
    assert_eq!(outcomes[..3], [Ok(Done::Nothing), Ok(Done::Nothing), Ok(Done::Nothing)]);
    assert_eq!(outcomes[3].as_ref().unwrap_err().reason, Reason::Denied);
    none_is_malformed(&capture, "ncp-mars");
}

#[test]
fn a_station_writes_blocks_at_mars_nwe_by_its_handles_up_to_multiples_of_1024() {
    const BLOCK: &[u8] = &[7; 1000];
    let frames = replay::read(include_str!("../frames/ncp-mars-station.txt"));
    let (mut file, mut offset) = (FileId(0), 0);
    let (outcomes, requests, capture) = at_mars(&frames, 0x4298, |step, outcome| {
        match outcome.as_ref().unwrap() {
            Done::Opened { file: opened, .. } => (file, offset) = (*opened, 0),
            Done::Written(bytes) => offset += u64::from(*bytes),
            _ => {}
        }
        let rest = &BLOCK[offset as usize % BLOCK.len()..];
        match step {
            0 => Some(Call::CheckDirectory { path: "DATA" }),
            1 => Some(Call::MakeDirectory { path: "DATA/A.LAB" }),
            2 => Some(Call::Open { path: "DATA/A.LAB/MARK.LAB", access: Access::Create }),
            3 => Some(Call::Write { file, offset, parts: [b"mark", b""] }),
            4 => Some(Call::Close { file }),
            5 => Some(Call::MakeDirectory { path: "DATA/A.LAB/B" }),
            6 => Some(Call::Open { path: "DATA/A.LAB/B/0", access: Access::Create }),
            7..=10 => Some(Call::Write { file, offset, parts: [rest, b""] }),
            _ => None,
        }
    });
    let files = [
        function::CREATE_NEW,
        function::WRITE,
        function::CLOSE,
        function::MAKE_DIRECTORY,
        function::CREATE_NEW,
    ];
    let expected = [&MARS_LOGIN[..], &files, &[function::WRITE; 4]].concat();
    assert_eq!(functions(&requests), expected);
    let written: Vec<_> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Ok(Done::Written(bytes)) => Some(*bytes),
            _ => None,
        })
        .collect();
    assert_eq!(written, [4, 1000, 24, 976, 48]);
    // Each write has the handle of the last file that mars_nwe created.
    let mut handle = vec![];
    let replies = frames.iter().filter_map(|one| ncp(&one.frame)).skip(1);
    for ((_, asked), reply) in requests.iter().zip(replies) {
        let (reply, behind) = Reply::parse(&reply).unwrap();
        match Function::parse(asked).unwrap().0 {
            function::CREATE_NEW => handle = behind[..6].to_vec(),
            function::WRITE => assert_eq!(asked[2..8], handle, "{}", reply.envelope.sequence),
            _ => {}
        }
    }
    none_is_malformed(&capture, "ncp-mars-station");
}

/// The name of the first server in an answer of SAP.
fn sap_name(frame: &[u8]) -> String {
    let frame = Frame::parse(frame).unwrap();
    let (_, data) = Header::parse(framing::packet(&frame).unwrap().0).unwrap();
    let name = &data[4..52];
    let end = name.iter().position(|octet| *octet == 0).unwrap();
    String::from_utf8(name[..end].to_vec()).unwrap()
}
