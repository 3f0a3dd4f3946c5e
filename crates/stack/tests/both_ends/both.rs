//! A client and its session with the server, without a carrier: whole messages go from one to the
//! other, over files in memory.

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::redirector::{Call, CallId, Done, Redirector, Refusal};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan, User};
use lanlab_stack::smb::server::{Offer, Server};

pub use crate::memory_files::MemoryFiles;
use lanlab_stack::files::{FileCall, FileStore};

pub const CARRIER: CarrierFacts =
    CarrierFacts { longest_message: 0x1_ffff, keeps_raw: true, is_one_at_a_time: false };

pub fn user(password: &str) -> User {
    User { name: "me".into(), password: password.into(), domain: String::new() }
}

pub fn offer() -> Offer {
    Offer {
        name: "server".into(),
        share: "share".into(),
        user: Some(user("Secret-1")),
        read_only: false,
        dialects: Dialect::Core..=Dialect::Nt,
    }
}

pub fn server() -> Server {
    Server::new(offer())
}

pub fn client(dialect: Option<Dialect>, password: &str) -> Client {
    Client::new(plan(dialect, password))
}

pub fn plan(dialect: Option<Dialect>, password: &str) -> Plan {
    Plan {
        dialect,
        server: "server".into(),
        share: "share".into(),
        user: Some(user(password)),
        nonce: [7; 8],
        time: 0x01d0_0000_0000_0000,
        raw: false,
        multiplexed: true,
        requires_signatures: false,
        carrier: CARRIER,
    }
}

/// A session of the server, and its files.
pub struct Served {
    pub session: Session,
    pub files: MemoryFiles,
    /// What it asked of them.
    pub asked: Vec<FileCall>,
}

impl Served {
    pub fn new(server: &Server) -> Self {
        let session = server.session(CARRIER, [3; 8], 0x01d0_0000_0000_0000);
        Self { session, files: MemoryFiles::default(), asked: Vec::new() }
    }

    pub fn say(&mut self) -> Vec<Vec<u8>> {
        let (mut said, mut head, mut data) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..1000 {
            while let Some(call) = self.session.poll_file_call(&mut data) {
                self.asked.push(call.clone());
                let answer = self.files.carry_out(call, &mut data);
                self.session.handle_file_answer(answer, &mut data);
            }
            if !self.session.poll_message(&mut head, &mut data) {
                break;
            }
            said.push([&head[..], &data[..]].concat());
        }
        said
    }

    pub fn answer(&mut self, message: &[u8]) -> Vec<Vec<u8>> {
        self.session.handle_message(&mut message.to_vec());
        self.say()
    }
}

pub struct Both {
    pub client: Client,
    pub served: Served,
    /// Messages of the client that were sent.
    pub sent: Vec<Vec<u8>>,
}

impl Both {
    pub fn outcome(
        &mut self,
        call: CallId,
        change: impl Fn(&mut Vec<u8>),
    ) -> Option<Result<Done, Refusal>> {
        let (mut message, mut data) = (Vec::new(), Vec::new());
        for _ in 0..1000 {
            while let Some((ended, outcome)) = self.client.poll_done(&mut data) {
                if ended == call {
                    return Some(outcome);
                }
            }
            if !self.client.poll_message(&mut message) {
                return None;
            }
            change(&mut message);
            self.sent.push(message.clone());
            for mut answer in self.served.answer(&message) {
                self.client.handle_message(&mut answer);
            }
        }
        None
    }

    pub fn call(&mut self, call: Call<'_>) -> Result<Done, Refusal> {
        let id = self.client.call(call);
        self.outcome(id, |_| {}).expect("an answer")
    }

    /// What was read, as octets of what holds it.
    pub fn read(&mut self, call: CallId) -> (std::ops::Range<usize>, Vec<u8>) {
        let (mut message, mut data) = (Vec::new(), Vec::new());
        loop {
            if let Some((ended, outcome)) = self.client.poll_done(&mut data) {
                let Ok(Done::Read(range)) = outcome else { panic!("{outcome:?}") };
                assert_eq!(ended, call);
                return (range, data);
            }
            assert!(self.client.poll_message(&mut message), "an answer");
            for mut answer in self.served.answer(&message) {
                self.client.handle_message(&mut answer);
            }
        }
    }

    pub fn connect(client: Client, server: &Server) -> (Self, Option<Result<Done, Refusal>>) {
        let mut both = Self { client, served: Served::new(server), sent: Vec::new() };
        let outcome = both.outcome(Client::CONNECTED, |_| {});
        (both, outcome)
    }
}
