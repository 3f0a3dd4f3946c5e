//! A client that sends what a test makes, mostly in the core dialect; the server takes newer commands in it, too.

use lanlab_stack::files::{FileAnswer, FileCall, FileStore, Presence};
use lanlab_stack::smb::server::Server;
use lanlab_units::Instant;
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::{Header, flags2};
use lanlab_wire::smb1::negotiate::{self, dialect};
use lanlab_wire::smb1::nt_create_andx::{self, access, disposition, options, share};
use lanlab_wire::smb1::session_setup_andx::Logon;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::smb1::{close, command, session_setup_andx, tree_connect};

use super::both::Served;

pub struct Raw {
    pub served: Served,
    pub tid: u16,
    pub uid: u16,
    /// Of the last request.
    pub mid: u16,
}

pub fn at_ms(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

/// Which request each answer is for, and how it ended.
pub fn ended(answers: &[Vec<u8>]) -> Vec<(u16, Option<&'static str>)> {
    let heads = answers.iter().map(|answer| Header::parse(answer).unwrap());
    heads.map(|head| (head.mid, head.status.name())).collect()
}

impl Raw {
    /// Connected, at a server with these files.
    pub fn new(server: &Server, files: &[&str]) -> Self {
        let mut raw = Self::negotiated(server, files, dialect::CORE);
        raw.connect();
        raw
    }

    /// The same, before a login or a share.
    pub fn negotiated(server: &Server, files: &[&str], name: &str) -> Self {
        let mut raw = Self { served: Served::new(server), tid: 0, uid: 0, mid: 0 };
        for name in files {
            raw.make(name);
        }
        raw.served.session.handle_timeout(at_ms(0));
        raw.ask(command::NEGOTIATE, |writer| negotiate::emit_request(&[name], writer));
        raw
    }

    pub fn connect(&mut self) {
        let request = tree_connect::Request {
            path: Text::Oem(b"\\\\S\\SHARE"),
            password: Text::Oem(b"SECRET-1"),
            service: Text::Oem(b"A:"),
        };
        let answer = self.ask(command::TREE_CONNECT, |writer| request.emit(writer)).remove(0);
        let header = Header::parse(&answer).unwrap();
        let block = Block::first(&header, &answer).unwrap();
        self.tid = tree_connect::Response::parse(&block).unwrap().tid;
    }

    /// Log in another user, who sends what follows.
    pub fn log_in(&mut self) -> u16 {
        let logon =
            Logon::LanMan { password: b"", account: Text::Oem(b"ME"), domain: Text::Oem(b"") };
        let text = Text::Oem(b"");
        let request = session_setup_andx::Request {
            max_buffer: 4096,
            max_mpx: 2,
            vc_number: 0,
            session_key: 0,
            logon,
            native_os: text,
            native_lan_manager: text,
        };
        let said = self.ask(command::SESSION_SETUP_ANDX, |writer| request.emit(writer));
        self.uid = Header::parse(&said[0]).unwrap().uid;
        self.uid
    }

    pub fn make(&mut self, name: &str) {
        let path = name.split('\\').map(str::to_owned).collect();
        let (presence, read, write, truncate) = (Presence::New, true, true, false);
        let create = FileCall::Open { path, read, write, presence, truncate };
        let created = self.served.files.carry_out(create, &mut Vec::new());
        let FileAnswer::Opened { handle, .. } = created else { panic!("{created:?}") };
        self.served.files.carry_out(FileCall::Close { handle }, &mut Vec::new());
    }

    pub fn names(&mut self) -> Vec<String> {
        let list = FileCall::List { path: Vec::new(), after: String::new(), most: 1000 };
        let listed = self.served.files.carry_out(list, &mut Vec::new());
        let FileAnswer::Listed(listed) = listed else { panic!("{listed:?}") };
        listed.into_iter().map(|found| found.name).collect()
    }

    pub fn make_directory(&mut self, name: &str) {
        let make = FileCall::MakeDirectory { path: vec![name.to_owned()] };
        assert_eq!(self.served.files.carry_out(make, &mut Vec::new()), FileAnswer::Done);
    }

    /// Open, and let others do all that they like meanwhile.
    pub fn nt_open(
        &mut self,
        name: &str,
        disposition: u32,
        access: u32,
        options: u32,
    ) -> Result<u16, &'static str> {
        let request = nt_create_andx::Request {
            flags: 0,
            root_fid: 0,
            access,
            allocation_size: 0,
            attributes: 0,
            share: share::READ | share::WRITE | share::DELETE,
            disposition,
            options,
            impersonation: 2,
            security_flags: 0,
            name: Text::Oem(name.as_bytes()),
        };
        let answer = self.ask(command::NT_CREATE_ANDX, |writer| request.emit(writer)).remove(0);
        let header = Header::parse(&answer).unwrap();
        if !header.status.is_success() {
            return Err(header.status.name().expect("a known status"));
        }
        let block = Block::first(&header, &answer).unwrap();
        Ok(nt_create_andx::Response::parse(&block).unwrap().fid)
    }

    /// Open what is there so that its last close removes it.
    pub fn open_to_remove(&mut self, name: &str) -> u16 {
        self.nt_open(name, disposition::OPEN, access::DELETE, options::DELETE_ON_CLOSE).unwrap()
    }

    pub fn close(&mut self, fid: u16) -> &'static str {
        let request = close::Request { fid, last_write_time: 0 };
        let said = self.ask(command::CLOSE, |writer| request.emit(writer));
        ended(&said)[0].1.expect("a known status")
    }

    pub fn ask(&mut self, command: u8, emit: impl FnOnce(&mut Writer<'_>)) -> Vec<Vec<u8>> {
        self.mid += 1;
        self.ask_as(self.mid, command, emit)
    }

    pub fn ask_as(
        &mut self,
        mid: u16,
        command: u8,
        emit: impl FnOnce(&mut Writer<'_>),
    ) -> Vec<Vec<u8>> {
        let flags2 = flags2::NT_STATUS | flags2::LONG_NAMES;
        let header =
            Header { tid: self.tid, mid, uid: self.uid, ..Header::request(command, 0, flags2) };
        let mut message = Vec::new();
        emit(&mut Writer::begin(&mut message, &header));
        self.served.answer(&message)
    }
}
