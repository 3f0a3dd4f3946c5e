//! Locks that are waited for: two clients of one server, and a time that the test says.

use lanlab_stack::smb::server::Server;
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::locking_andx::{self, Head, Range, lock_type};
use lanlab_wire::smb1::status::error::{self, Row};
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::{close, command, open};

use super::both::server;
use super::raw::{Raw, at_ms, ended};

const NO_LIMIT: u32 = u32::MAX;

struct Client {
    raw: Raw,
    fid: u16,
}

impl Client {
    fn new(server: &Server) -> Self {
        // Sessions of a test have files of their own, with the same numbers: one file to the server.
        let mut client = Self { raw: Raw::new(server, &["FILE"]), fid: 0 };
        client.open();
        client
    }

    fn open(&mut self) {
        let name = Text::Oem(b"\\FILE");
        let request = open::Request { access: 0x42, search_attributes: 0, name };
        let answer = self.raw.ask(command::OPEN, |writer| request.emit(writer)).remove(0);
        let header = Header::parse(&answer).unwrap();
        assert!(header.status.is_success(), "{}", header.status);
        let block = Block::first(&header, &answer).unwrap();
        self.fid = open::Response::parse(&block).unwrap().fid;
    }

    fn lock(&mut self, kind: u8, timeout_ms: u32, unlock: bool, ranges: &[u64]) -> Vec<Vec<u8>> {
        let head = Head { fid: self.fid, lock_type: kind, oplock_level: 0, timeout_ms };
        let ranges: Vec<_> =
            ranges.iter().map(|offset| Range { pid: 1, offset: *offset, count: 1 }).collect();
        let (unlocks, locks) = if unlock { (&ranges[..], &[][..]) } else { (&[][..], &ranges[..]) };
        self.raw.ask(command::LOCKING_ANDX, |writer| {
            locking_andx::emit_request(&head, unlocks, locks, writer);
        })
    }

    fn locked(&mut self, timeout_ms: u32, ranges: &[u64]) -> Option<&'static str> {
        let said = self.lock(0, timeout_ms, false, ranges);
        ended(&said).first().and_then(|(_, name)| *name)
    }

    fn cancel(&mut self, mid: u16) -> Vec<Vec<u8>> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method has one lifetime"
        )]
        self.raw.ask_as(mid, command::NT_CANCEL, |writer| writer.empty())
    }

    fn at(&mut self, milliseconds: u64) -> Vec<(u16, Option<&'static str>)> {
        self.raw.served.session.handle_timeout(at_ms(milliseconds));
        ended(&self.raw.served.say())
    }

    fn is_woken(&mut self) -> bool {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        self.raw.served.session.poll_woken(&mut cx).is_ready()
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as answers have it")]
fn name(row: Row) -> Option<&'static str> {
    Some(row.name)
}

const DONE: Option<&str> = Some("success");

#[test]
fn a_locked_range_is_refused_at_once_or_after_the_wait() {
    let server = server();
    let (mut one, mut other) = (Client::new(&server), Client::new(&server));
    assert_eq!(one.locked(0, &[5]), DONE);
    assert_eq!(other.locked(0, &[5]), name(error::LOCK_NOT_GRANTED));
    assert_eq!(other.locked(300, &[4, 5]), None, "it waits");
    let mid = other.raw.mid;
    assert_eq!(other.raw.served.session.poll_timeout(), Some(at_ms(300)));
    assert_eq!(other.at(299), []);
    // Nothing of it is kept meanwhile, and other requests are answered.
    assert_eq!(other.locked(0, &[4]), DONE);
    let unlocked = other.lock(0, 0, true, &[4]);
    assert_eq!(ended(&unlocked)[0].1, DONE);
    assert_eq!(other.at(300), [(mid, name(error::FILE_LOCK_CONFLICT))]);
    assert_eq!(other.raw.served.session.poll_timeout(), None);
    // What is too late is not granted afterwards.
    one.lock(0, 0, true, &[5]);
    assert_eq!(other.at(301), []);
    assert_eq!(one.locked(0, &[4]), DONE);
}

#[test]
fn waiting_clients_are_granted_locks_in_order() {
    let server = server();
    let mut clients = [0; 3].map(|_| Client::new(&server));
    assert_eq!(clients[0].locked(NO_LIMIT, &[5]), DONE);
    assert_eq!(clients[1].locked(NO_LIMIT, &[5]), None);
    assert_eq!(clients[2].locked(NO_LIMIT, &[5]), None);
    assert_eq!(clients[1].raw.served.session.poll_timeout(), None);
    let [first, second] = [1, 2].map(|at| clients[at].raw.mid);
    assert!(!clients[1].is_woken());
    clients[0].lock(0, 0, true, &[5]);
    assert!(clients[1].is_woken() && !clients[2].is_woken());
    assert_eq!(clients[1].at(1_000_000_000), [(first, DONE)]);
    assert_eq!(clients[2].at(1_000_000_000), []);
    // A client that goes gives back what it has locked.
    clients[1].raw.served.session.end();
    clients[1].raw.served.say();
    assert!(clients[2].is_woken());
    assert_eq!(clients[2].at(1_000_000_000), [(second, DONE)]);
}

#[test]
fn a_wait_ends_when_it_is_cancelled_or_its_file_is_closed() {
    let server = server();
    let (mut one, mut other) = (Client::new(&server), Client::new(&server));
    assert_eq!(one.locked(0, &[5]), DONE);
    let given_up = name(error::FILE_LOCK_CONFLICT);

    assert_eq!(other.locked(NO_LIMIT, &[5]), None);
    let waited = other.raw.mid;
    let wrong = other.lock(lock_type::CANCEL, 0, false, &[6]);
    assert_eq!(ended(&wrong)[0].1, name(error::CANCEL_VIOLATION));
    let said = other.lock(lock_type::CANCEL, 0, false, &[5]);
    assert_eq!(ended(&said), [(other.raw.mid, DONE), (waited, given_up)]);

    // One cancellation is for one range.
    assert_eq!(other.locked(NO_LIMIT, &[5]), None);
    let first = other.raw.mid;
    one.lock(0, 0, false, &[6]);
    assert_eq!(other.locked(NO_LIMIT, &[6]), None);
    let second = other.raw.mid;
    let said = other.lock(lock_type::CANCEL, 0, false, &[5, 6]);
    assert_eq!(ended(&said), [(other.raw.mid, DONE), (first, given_up)]);
    let said = other.lock(lock_type::CANCEL, 0, false, &[6]);
    assert_eq!(ended(&said), [(other.raw.mid, DONE), (second, given_up)]);

    assert_eq!(other.locked(NO_LIMIT, &[5]), None);
    let waited = other.raw.mid;
    let said = other.cancel(waited + 1);
    assert_eq!(ended(&said), [], "another request");
    let said = other.cancel(waited);
    assert_eq!(ended(&said), [(waited, given_up)]);

    assert_eq!(other.locked(NO_LIMIT, &[5]), None);
    let waited = other.raw.mid;
    let request = close::Request { fid: other.fid, last_write_time: close::KEEP_TIME };
    let said = other.raw.ask(command::CLOSE, |writer| request.emit(writer));
    assert_eq!(ended(&said), [(other.raw.mid, DONE), (waited, name(error::RANGE_NOT_LOCKED))]);

    // A client that goes waits no more, and what it left is free.
    other.open();
    assert_eq!(other.locked(NO_LIMIT, &[5]), None);
    other.raw.served.session.end();
    assert_eq!(ended(&other.raw.served.say()), []);
    one.lock(0, 0, true, &[5]);
    assert_eq!(one.locked(0, &[5]), DONE);
    assert_eq!((server.open_files(), other.raw.served.files.open()), (1, 0));
}

#[test]
fn lock_waits_are_bounded_and_refused_if_hopeless() {
    let server = server();
    let (mut one, mut other) = (Client::new(&server), Client::new(&server));
    assert_eq!(one.locked(0, &[5]), DONE);
    assert_eq!(other.locked(NO_LIMIT, &[7, 7]), name(error::FILE_LOCK_CONFLICT));
    let many: Vec<u64> = (0..65).collect();
    assert_eq!(other.locked(NO_LIMIT, &many), name(error::FILE_LOCK_CONFLICT));
    for _ in 0..16 {
        assert_eq!(other.locked(NO_LIMIT, &[5]), None);
    }
    assert_eq!(other.locked(NO_LIMIT, &[5]), name(error::FILE_LOCK_CONFLICT));
    let change = other.lock(lock_type::CHANGE, 0, false, &[5]);
    assert_eq!(ended(&change)[0].1, name(error::ATOMIC_LOCKS_NOT_SUPPORTED));
}
