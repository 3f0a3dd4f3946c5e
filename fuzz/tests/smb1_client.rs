//! What a server of SMB 1 says, for the fuzz target and for the test that feeds it all seeds.
//!
//! The first octet chooses the dialect that is asked for. Then come answers: for each the next request
//! that waits, how much of its head is kept, a status, and the octets after the header.

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::redirector::{Access, Call, CallId, Done, FileId, Redirector};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan, User};
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::header::{Header, LEN};
use lanlab_wire::smb1::status::Status;

/// Messages that a client sends at most for each that it gets and each call.
const MOST_MESSAGES: usize = 2;

/// What is written; a raw write sends it as a message of its own, without a header.
const DATA: [&[u8]; 2] = [b"a", b"bc"];

pub fn smb1_client(octets: &[u8]) {
    let Some((choice, mut rest)) = octets.split_first() else { return };
    let mut harness = Harness::new(*choice);
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let len = usize::from(u16::from_le_bytes([head[6], head[7]])).min(after.len());
        let (body, after) = after.split_at(len);
        harness.answer(*head, body);
        rest = after;
    }
    harness.check();
}

struct Harness {
    client: Client,
    sent: Vec<Vec<u8>>,
    /// Header of the request that was answered last.
    answered: Option<Header>,
    calls: Vec<CallId>,
    ended: Vec<CallId>,
    gave: usize,
}

impl Harness {
    fn new(choice: u8) -> Self {
        let dialect = [None, Some(Dialect::Core), Some(Dialect::LanMan1), Some(Dialect::LanMan2)];
        let user = User { name: "u".into(), password: "Secret-1".into(), domain: String::new() };
        let client = Client::new(Plan {
            dialect: dialect[usize::from(choice) % 4],
            server: "server".into(),
            share: "share".into(),
            user: (choice & 0x80 == 0).then_some(user),
            nonce: [7; 8],
            time: 0,
            raw: choice & 0x40 != 0,
            multiplexed: true,
            requires_signatures: false,
            carrier: CarrierFacts {
                longest_message: 0x1_ffff,
                keeps_raw: choice & 0x20 == 0,
                is_one_at_a_time: choice & 0x20 != 0,
            },
        });
        let (sent, calls, ended) = (Vec::new(), vec![Client::CONNECTED], Vec::new());
        let mut harness = Self { client, sent, answered: None, calls, ended, gave: 0 };
        harness.drain();
        harness
    }

    /// An answer to the request that was sent longest ago, or to another one.
    fn answer(&mut self, head: [u8; 8], body: &[u8]) {
        let which = usize::from(head[0]) % self.sent.len().max(1);
        let request = if self.sent.is_empty() { Vec::new() } else { self.sent.remove(which) };
        let mut message = match Header::parse(&request) {
            Ok(header) => {
                self.answered = Some(header);
                let status = u32::from_le_bytes([head[2], head[3], head[4], head[5]]);
                let status = Status::from_wire(status.to_le_bytes(), header.flags2);
                header.response(status).emit().to_vec()
            }
            Err(_) => vec![0; LEN],
        };
        if let Some(octet) = message.get_mut(usize::from(head[1])) {
            // One octet of the header is the fuzzer's, if it likes.
            *octet ^= head[0];
        }
        message.extend_from_slice(body);
        self.client.handle_message(&mut message);
        self.gave += 1;
        self.drain();
    }

    /// What the client sends and says, and a call of each kind once the session is there.
    fn drain(&mut self) {
        let mut message = Vec::new();
        while self.client.poll_message(&mut message) {
            if message == DATA.concat() {
                // It is answered as the request before it.
                let before = self.answered.expect("an answer that lets the data go");
                let header = Header { command: command::WRITE_COMPLETE, ..before };
                message = header.emit().to_vec();
            }
            assert!(Header::parse(&message).is_ok());
            self.sent.push(message.clone());
        }
        let mut data = Vec::new();
        while let Some((call, outcome)) = self.client.poll_done(&mut data) {
            assert!(self.calls.contains(&call) && !self.ended.contains(&call), "{call:?}");
            self.ended.push(call);
            match outcome {
                Ok(Done::Read(range)) => assert!(range.end <= data.len() && range.len() <= 50_000),
                Ok(Done::Written(count)) => assert!(count <= 3),
                Ok(Done::Listed(entries)) => assert!(entries.len() < 70_000 * self.gave),
                Ok(_) | Err(_) => {}
            }
            if call == Client::CONNECTED && self.client.facts().is_some() {
                self.begin();
            }
        }
        let most = MOST_MESSAGES * (self.gave + self.calls.len() + 1);
        assert!(self.sent.len() <= most, "{} messages", self.sent.len());
    }

    fn begin(&mut self) {
        let (file, path) = (FileId(3), "dir/a.txt");
        for call in [
            Call::Open { path, access: Access::Read },
            Call::Open { path, access: Access::Create },
            Call::Read { file, offset: 5, count: 50_000 },
            Call::Write { file, offset: 9, parts: DATA },
            Call::List { path: "dir" },
            Call::Flush { file },
            Call::MakeDirectory { path },
            Call::Rename { from: path, to: "b.txt" },
            Call::CheckDirectory { path: "dir" },
            Call::Echo,
            Call::Close { file },
            Call::End,
        ] {
            self.calls.push(self.client.call(call));
        }
        let mut message = Vec::new();
        while self.client.poll_message(&mut message) {
            self.sent.push(message.clone());
        }
    }

    /// Every call that has not ended can still be answered.
    fn check(&mut self) {
        let open = self.calls.len() - self.ended.len();
        assert!(
            open == 0 || !self.sent.is_empty() || self.gave == 0,
            "{open} calls wait for nothing"
        );
    }
}
