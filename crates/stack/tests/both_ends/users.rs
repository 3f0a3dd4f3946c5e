//! Several users of one connection: what each has open is its own, and goes with it.

use lanlab_stack::smb::server::{Offer, Server};
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::locking_andx::{self, Head, Range};
use lanlab_wire::smb1::negotiate::dialect;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::{close, command, logoff_andx, open};

use super::both::offer;
use super::raw::{Raw, ended};

impl Raw {
    fn open_file(&mut self) -> u16 {
        let name = Text::Oem(b"\\FILE");
        let request = open::Request { access: 0x42, search_attributes: 0, name };
        let answer = self.ask(command::OPEN, |writer| request.emit(writer)).remove(0);
        let header = Header::parse(&answer).unwrap();
        assert!(header.status.is_success(), "{}", header.status);
        open::Response::parse(&Block::first(&header, &answer).unwrap()).unwrap().fid
    }

    fn flush(&mut self, fid: u16) -> &'static str {
        let said = self.ask(command::FLUSH, |writer| close::Flush { fid }.emit(writer));
        ended(&said)[0].1.unwrap()
    }

    fn empty(&mut self, command: u8) -> &'static str {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method has one lifetime"
        )]
        let said = self.ask(command, |writer| writer.empty());
        ended(&said)[0].1.unwrap()
    }
}

fn connected() -> (Server, Raw, [u16; 2]) {
    let server = Server::new(Offer { user: None, ..offer() });
    let mut raw = Raw::negotiated(&server, &["FILE"], dialect::LANMAN1);
    let users = [raw.log_in(), raw.log_in()];
    raw.connect();
    (server, raw, users)
}

#[test]
fn files_belong_to_their_user_and_close_at_logoff() {
    let (server, mut raw, [one, other]) = connected();
    raw.uid = one;
    let fid = raw.open_file();
    raw.uid = other;
    assert_eq!(raw.flush(fid), error::INVALID_HANDLE.name);
    let kept = raw.open_file();
    let said = raw.ask(command::LOGOFF_ANDX, logoff_andx::emit);
    assert_eq!(ended(&said)[0].1, Some("success"));
    assert_eq!(server.open_files(), 1, "{kept} is closed");
    raw.uid = one;
    assert_eq!((raw.flush(kept), raw.flush(fid)), (error::INVALID_HANDLE.name, "success"));
}

#[test]
fn process_exit_closes_only_its_own_files() {
    let (server, mut raw, [one, other]) = connected();
    let tid = raw.tid;
    raw.uid = one;
    let fid = raw.open_file();
    (raw.uid, raw.tid) = (other, 0);
    assert_eq!(raw.empty(command::PROCESS_EXIT), "success");
    assert_eq!(server.open_files(), 1);
    raw.uid = one;
    assert_eq!(raw.empty(command::PROCESS_EXIT), "success");
    assert_eq!(server.open_files(), 0);
    raw.tid = tid;
    assert_eq!(raw.flush(fid), error::INVALID_HANDLE.name);
}

#[test]
fn logoff_ends_waits_for_locks() {
    let (_, mut raw, [one, _]) = connected();
    let head = |fid| Head { fid, lock_type: 0, oplock_level: 0, timeout_ms: 60_000 };
    let range = Range { pid: 1, offset: 0, count: 1 };
    let lock = |raw: &mut Raw, fid| {
        let said = raw.ask(command::LOCKING_ANDX, |writer| {
            locking_andx::emit_request(&head(fid), &[], &[range], writer);
        });
        ended(&said)
    };
    let kept = raw.open_file();
    assert_eq!(lock(&mut raw, kept)[0].1, Some("success"));
    raw.uid = one;
    let fid = raw.open_file();
    assert_eq!(lock(&mut raw, fid), []);
    let waited = raw.mid;
    let said = raw.ask(command::LOGOFF_ANDX, logoff_andx::emit);
    let not_locked = Some(error::RANGE_NOT_LOCKED.name);
    assert_eq!(ended(&said), [(raw.mid, Some("success")), (waited, not_locked)]);
}
