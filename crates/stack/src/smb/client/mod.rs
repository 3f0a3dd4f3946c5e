//! The redirector of SMB 1.
//!
//! Each request has a number of its own (MID) and is answered in any order; as many are outstanding
//! as the server takes. Memory of messages is used again.

mod answers;
mod calls;
mod connecting;
mod listing;
mod login;
mod names;

use std::collections::{BTreeMap, VecDeque};

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::{Header, flags, flags2};
use lanlab_wire::smb1::strings::CodePage;
use lanlab_wire::smb1::{command, status};

use super::Dialect;
use super::signing::Signing;
use crate::carrier::CarrierFacts;
use crate::redirector::{Call, CallId, Done, Reason, Redirector, RedirectorFacts, Refusal};
use connecting::Agreed;
use listing::Listing;
use login::Login;

/// Messages whose memory is kept.
const MAX_SPARE: usize = 64;

/// To what, as whom and how to connect.
#[derive(Clone)]
pub struct Plan {
    /// The only dialect to speak; absent: the newest that the server speaks.
    pub dialect: Option<Dialect>,
    /// Name of the server, for the path of the share.
    pub server: String,
    /// Name of the share.
    pub share: String,
    /// As whom; absent: as a guest.
    pub user: Option<User>,
    /// Code page of both ends where strings are not UTF-16LE.
    pub code_page: CodePage,
    /// Random octets, new for each session.
    pub nonce: [u8; 8],
    /// Time now, 100 ns since 1601.
    pub time: u64,
    /// What the carrier can do.
    pub carrier: CarrierFacts,
}

/// A user.
#[derive(Clone)]
pub struct User {
    /// Name.
    pub name: String,
    /// Password.
    pub password: String,
    /// Domain, or empty.
    pub domain: String,
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "User {:?}", self.name)
    }
}

/// What a response is awaited for.
enum Step {
    Negotiate,
    Login(Login),
    Connect,
    Open,
    Read { count: u32 },
    Write { count: u32 },
    DiskSpace,
    List(Box<Listing>),
    Other,
}

/// A request that is not answered yet.
struct Pending {
    call: CallId,
    command: u8,
    step: Step,
    /// Number that the signature of the response has.
    number: Option<u32>,
}

/// A call that has ended, with the message that holds what was read.
type Ended = (CallId, Result<Done, Refusal>, Vec<u8>);

/// See the module.
pub struct Client {
    plan: Plan,
    agreed: Option<Agreed>,
    facts: Option<RedirectorFacts>,
    signing: Option<Signing>,
    /// Key of a login by extended security that is not judged yet.
    extended_key: Option<[u8; 16]>,
    uid: u16,
    tid: u16,
    next_mid: u16,
    next_call: u64,
    pending: BTreeMap<u16, Pending>,
    /// Requests that wait for their turn, with their number.
    waiting: VecDeque<(u16, Vec<u8>)>,
    sent: usize,
    done: VecDeque<Ended>,
    spare: Vec<Vec<u8>>,
    /// Why nothing more is possible.
    broken: Option<Refusal>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("smb::Client").field("facts", &self.facts).finish_non_exhaustive()
    }
}

impl Client {
    /// The call that ends when the session is there.
    pub const CONNECTED: CallId = CallId(0);

    /// Begin a session. Its first message is the offer of dialects.
    pub fn new(plan: Plan) -> Self {
        let mut client = Self {
            plan,
            agreed: None,
            facts: None,
            signing: None,
            extended_key: None,
            uid: 0,
            tid: 0,
            next_mid: 1,
            next_call: 1,
            pending: BTreeMap::new(),
            waiting: VecDeque::new(),
            sent: 0,
            done: VecDeque::new(),
            spare: Vec::new(),
            broken: None,
        };
        client.negotiate();
        client
    }

    /// Header of a request.
    fn header(&self, command: u8) -> Header {
        let (flags, mut flags2) = match self.agreed.as_ref().map(|agreed| agreed.dialect) {
            None | Some(Dialect::Core) => (0, 0),
            Some(_) => (flags::CASE_INSENSITIVE | flags::CANONICALIZED_PATHS, 0),
        };
        if let Some(agreed) = &self.agreed {
            flags2 |= agreed.flags2;
        }
        if self.signing.is_some() {
            flags2 |= flags2::SIGNED | flags2::SIGNATURE_REQUIRED;
        }
        // The process is always the same one; zero would be one that old servers take for none.
        Header { pid: 1, tid: self.tid, uid: self.uid, ..Header::request(command, flags, flags2) }
    }

    /// Memory for a message.
    fn memory(&mut self) -> Vec<u8> {
        let mut memory = self.spare.pop().unwrap_or_default();
        memory.clear();
        memory
    }

    fn keep(&mut self, memory: Vec<u8>) {
        if self.spare.len() < MAX_SPARE && memory.capacity() > 0 {
            self.spare.push(memory);
        }
    }

    /// Have a request sent when it is its turn.
    fn send(&mut self, call: CallId, command: u8, step: Step, mut message: Vec<u8>) {
        let mut mid = self.next_mid;
        // 0xffff is what a server says of its own accord ([MS-CIFS] 2.2.1.6.2).
        while mid == u16::MAX || self.pending.contains_key(&mid) {
            mid = mid.wrapping_add(1);
        }
        self.next_mid = mid.wrapping_add(1);
        message[30..32].copy_from_slice(&mid.to_le_bytes());
        self.pending.insert(mid, Pending { call, command, step, number: None });
        self.waiting.push_back((mid, message));
    }

    /// Wait for another message of the same response.
    fn wait_for_more(&mut self, mid: u16, call: CallId, command: u8, listing: Box<Listing>) {
        self.sent += 1;
        let step = Step::List(listing);
        self.pending.insert(mid, Pending { call, command, step, number: None });
    }

    fn end(&mut self, call: CallId, outcome: Result<Done, Refusal>) {
        let memory = self.memory();
        self.done.push_back((call, outcome, memory));
    }

    /// Nothing more is possible: every call that is under way ends.
    fn fail(&mut self, refusal: &Refusal) {
        self.broken = Some(refusal.clone());
        self.waiting.clear();
        for (_, pending) in std::mem::take(&mut self.pending) {
            self.end(pending.call, Err(refusal.clone()));
        }
    }

    /// Requests that may be outstanding.
    fn depth(&self) -> usize {
        self.agreed.as_ref().map_or(1, |agreed| usize::from(agreed.max_mpx))
    }

    fn take(&mut self, message: &mut Vec<u8>) -> Result<(), Refusal> {
        let header = Header::parse(message).map_err(malformed)?;
        if !header.is_response() {
            // A server breaks an opportunistic lock of its own accord; none was asked for.
            return match header.command {
                command::LOCKING_ANDX => Ok(()),
                other => Err(protocol(format!("{}: found a request", command::name(other)))),
            };
        }
        let Some(mut pending) = self.pending.remove(&header.mid) else {
            let message =
                format!("{}: found a response to no request", command::name(header.command));
            return Err(protocol(message));
        };
        let (call, expected) = (pending.call, pending.command);
        if header.command != expected {
            let (found, asked) = (command::name(header.command), command::name(expected));
            self.pending.insert(header.mid, pending);
            return Err(protocol(format!("found a response of {found} to {asked}")));
        }
        if let (Some(signing), Some(number)) = (&self.signing, pending.number)
            && !signing.is_signed(message, number)
        {
            self.pending.insert(header.mid, pending);
            let name = command::name(expected);
            return Err(protocol(format!("{name}: the signature of the response is wrong")));
        }
        self.sent = self.sent.saturating_sub(1);
        let block = match Block::first(&header, message) {
            Ok(block) => block,
            Err(error) => {
                self.pending.insert(header.mid, pending);
                return Err(malformed(error));
            }
        };
        if let Step::Read { count } = pending.step {
            let outcome = answers::read(&block, count);
            let mut memory = self.memory();
            std::mem::swap(&mut memory, message);
            self.done.push_back((call, outcome, memory));
            return Ok(());
        }
        match std::mem::replace(&mut pending.step, Step::Other) {
            Step::Negotiate => self.negotiated(&block)?,
            Step::Login(login) => self.logged_in(&header, &block, login)?,
            Step::Connect => self.connected(&header, &block)?,
            Step::List(listing) => self.listed(call, &header, &block, listing),
            Step::Open => self.end(call, answers::opened(&block)),
            Step::Write { count } => self.end(call, answers::written(&block, count)),
            Step::DiskSpace => self.end(call, answers::disk_space(&block)),
            Step::Other | Step::Read { .. } => self.end(call, answers::nothing(&block)),
        }
        Ok(())
    }
}

impl Redirector for Client {
    fn call(&mut self, call: Call<'_>) -> CallId {
        let id = CallId(self.next_call);
        self.next_call += 1;
        let begun = match &self.broken {
            Some(refusal) => Err(refusal.clone()),
            None => self.begin(id, call),
        };
        if let Err(refusal) = begun {
            self.end(id, Err(refusal));
        }
        id
    }

    fn handle_message(&mut self, message: &mut Vec<u8>) {
        if self.broken.is_some() {
            return;
        }
        if let Err(refusal) = self.take(message) {
            self.fail(&refusal);
            // What fails while the session is made has no request of its own any more.
            if self.facts.is_none() && !self.done.iter().any(|ended| ended.0 == Self::CONNECTED) {
                self.end(Self::CONNECTED, Err(refusal));
            }
        }
    }

    fn poll_message(&mut self, into: &mut Vec<u8>) -> bool {
        if self.sent >= self.depth() {
            return false;
        }
        let Some((mid, mut message)) = self.waiting.pop_front() else { return false };
        if let Some(signing) = &mut self.signing {
            let number = signing.sign(&mut message);
            if let Some(pending) = self.pending.get_mut(&mid) {
                pending.number = Some(number);
            }
        }
        self.sent += 1;
        std::mem::swap(into, &mut message);
        self.keep(message);
        true
    }

    fn poll_done(&mut self, data: &mut Vec<u8>) -> Option<(CallId, Result<Done, Refusal>)> {
        let (call, outcome, mut message) = self.done.pop_front()?;
        std::mem::swap(data, &mut message);
        self.keep(message);
        Some((call, outcome))
    }

    fn facts(&self) -> Option<&RedirectorFacts> {
        self.facts.as_ref()
    }
}

fn protocol(message: impl Into<String>) -> Refusal {
    Refusal::new(Reason::Protocol, message)
}

fn malformed(error: lanlab_wire::Error) -> Refusal {
    protocol(error.to_string())
}

/// Why a server refused a command.
fn refused(block: &Block<'_>) -> Refusal {
    let found = block.header().status;
    Refusal::new(reason(found), format!("{}: {found}", block.format()))
}

/// What kind of thing a status says went wrong.
fn reason(found: status::Status) -> Reason {
    use status::error as e;
    let rows: [(Reason, &[e::Row]); 7] = [
        (
            Reason::Missing,
            &[
                e::NO_SUCH_FILE,
                e::OBJECT_NAME_NOT_FOUND,
                e::OBJECT_PATH_NOT_FOUND,
                e::NOT_A_DIRECTORY,
                e::BAD_NETWORK_NAME,
                e::DELETE_PENDING,
            ],
        ),
        (
            Reason::Exists,
            &[e::OBJECT_NAME_COLLISION, e::DIRECTORY_NOT_EMPTY, e::FILE_IS_A_DIRECTORY],
        ),
        (
            Reason::Denied,
            &[
                e::ACCESS_DENIED,
                e::CANNOT_DELETE,
                e::SHARING_VIOLATION,
                e::FILE_LOCK_CONFLICT,
                e::LOCK_NOT_GRANTED,
                e::NETWORK_ACCESS_DENIED,
                e::MEDIA_WRITE_PROTECTED,
            ],
        ),
        (Reason::Login, &[e::LOGON_FAILURE, e::WRONG_PASSWORD, e::SMB_BAD_UID]),
        (Reason::NoSpace, &[e::DISK_FULL]),
        (Reason::Name, &[e::OBJECT_NAME_INVALID, e::NAME_TOO_LONG]),
        (Reason::Unsupported, &[e::NOT_SUPPORTED, e::INVALID_FUNCTION, e::SMB_BAD_COMMAND]),
    ];
    let known = rows.iter().find(|(_, rows)| rows.iter().any(|row| found.is(*row)));
    known.map_or(Reason::Protocol, |(reason, _)| *reason)
}
