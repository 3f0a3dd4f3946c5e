//! Transactions of one part and of several, and what the pipe of LAN Manager says.

use lanlab_stack::smb::server::{Offer, Server};
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::command as c;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::negotiate::dialect;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::transaction::{Request, Response, Secondary};

use super::both::offer;
use super::raw::{Raw, ended};

pub type Answered = Result<(Vec<u8>, Vec<u8>), &'static str>;

fn parsed(answer: &[u8]) -> Answered {
    let header = Header::parse(answer).unwrap();
    if !header.status.is_success() {
        return Err(header.status.name().unwrap());
    }
    let response = Response::parse(&Block::first(&header, answer).unwrap()).unwrap();
    assert!(response.is_whole());
    Ok((response.parameters.to_vec(), response.data.to_vec()))
}

impl Raw {
    pub fn transact(&mut self, subcommand: u16, parameters: &[u8], data: &[u8]) -> Answered {
        self.transact_within(4000, subcommand, parameters, data)
    }

    pub fn transact_within(
        &mut self,
        max_data: u16,
        number: u16,
        parameters: &[u8],
        data: &[u8],
    ) -> Answered {
        let setup = number.to_le_bytes();
        let request =
            Request { max_parameters: 10, max_data, ..Request::whole(&setup, parameters, data) };
        let said = self.ask(c::TRANSACTION2, |writer| request.emit(writer));
        parsed(&said[0])
    }

    pub fn of_path(&mut self, level: u16, name: &str) -> Result<Vec<u8>, &'static str> {
        let parameters = [&level.to_le_bytes()[..], &[0; 4], name.as_bytes(), &[0]].concat();
        let (parameters, data) = self.transact(5, &parameters, b"")?;
        assert_eq!(parameters, [0; 2], "no extended attribute is wrong");
        Ok(data)
    }

    pub fn set_path(&mut self, level: u16, name: &str, data: &[u8]) -> Result<(), &'static str> {
        let parameters = [&level.to_le_bytes()[..], &[0; 4], name.as_bytes(), &[0]].concat();
        self.transact(6, &parameters, data).map(|found| assert_eq!(found, (vec![0; 2], vec![])))
    }

    pub fn set_file(&mut self, level: u16, fid: u16, data: &[u8]) -> Result<(), &'static str> {
        let parameters = [fid, level, 0].map(u16::to_le_bytes).concat();
        self.transact(8, &parameters, data).map(|found| assert_eq!(found, (vec![0; 2], vec![])))
    }

    pub fn of_file(&mut self, level: u16, fid: u16) -> Result<Vec<u8>, &'static str> {
        let parameters = [fid, level].map(u16::to_le_bytes).concat();
        self.transact(7, &parameters, b"").map(|(parameters, data)| {
            assert_eq!(parameters, [0; 2]);
            data
        })
    }

    pub fn first(&mut self, head: [u16; 4], name: &str) -> Answered {
        let parameters = [&head.map(u16::to_le_bytes).concat()[..], &[0; 4], name.as_bytes(), &[0]];
        self.transact(1, &parameters.concat(), b"")
    }

    pub fn next(&mut self, head: [u16; 3], flags: u16, name: &str) -> Answered {
        let head = head.map(u16::to_le_bytes).concat();
        let parameters = [&head[..], &[0; 4], &flags.to_le_bytes()[..], name.as_bytes(), &[0]];
        self.transact(2, &parameters.concat(), b"")
    }
}

/// A client that has logged in and connected.
pub fn connected() -> Raw {
    let server = Server::new(Offer { user: None, ..offer() });
    let mut raw = Raw::negotiated(&server, &[], dialect::LM12);
    raw.log_in();
    raw.connect();
    raw
}

/// At a file and a directory.
pub fn raw() -> Raw {
    let mut raw = connected();
    raw.fill("a long name.text", &[7; 0x1234]);
    raw.make_directory("SUB");
    raw
}

#[test]
fn the_lan_manager_pipe_lists_shares_and_servers() {
    let server = Server::new(Offer { user: None, ..offer() });
    let mut raw = Raw::negotiated(&server, &[], dialect::LANMAN1);
    raw.log_in();
    let words = [0xff, 0, 0, 1];
    raw.say(c::TREE_CONNECT_ANDX, &words, b"\0\\\\S\\IPC$\0IPC\0");
    raw.tid = 2;
    let ask = |raw: &mut Raw, pipe: &[u8], parameters: &[u8], max_data| {
        let lead = [pipe, &[0]].concat();
        let request = Request {
            max_parameters: 8,
            max_data,
            setup: &[],
            lead: &lead,
            ..Request::whole(&[0; 2], parameters, b"")
        };
        parsed(&raw.ask(c::TRANSACTION, |writer| request.emit(writer))[0])
    };
    let words = |words: [u16; 4]| words.map(u16::to_le_bytes).concat();
    let name = |name: &[u8], len: usize| {
        let mut field = name.to_vec();
        field.resize(len, 0);
        field
    };
    // [MS-RAP] 2.5.6.1: name, a pad, type (0 of files, 3 of pipes), where the remark is.
    let share = |of: &[u8], kind, at| [&name(of, 13)[..], &[0, kind, 0, at, 0, 0, 0]].concat();
    let (files, pipes) = (share(b"SHARE", 0, 40), share(b"IPC$", 3, 41));
    let shares = [&files[..], &pipes, b"\0\0"].concat();
    let server = |of: &[u8], kinds: u32, at: u8| {
        [&name(of, 16)[..], &[4, 0], &kinds.to_le_bytes(), &[at, 0, 0, 0]].concat()
    };
    let own = [&server(b"SERVER", 3, 26)[..], b"lanlab\0"].concat();
    let group = [&server(b"WORKGROUP", 0x8000_0000, 26)[..], b"SERVER\0"].concat();
    let room = b"\x01\0\0\x10";
    let servers =
        |kinds: u32| [&b"\x68\0WrLehDz\0B16BBDz\0"[..], room, &kinds.to_le_bytes(), b"\0"].concat();
    let one = |ending: &[u8]| [&b"\x01\0zWrLh\0B13BWz\0"[..], ending, &[0], room].concat();
    let workstation = {
        let strings = b"SERVER\0\0WORKGROUP\0WORKGROUP\0\0";
        let pointers: Vec<u8> =
            [22, 29, 30].into_iter().flat_map(|at: u32| at.to_le_bytes()).collect();
        let more: Vec<u8> = [40, 50].into_iter().flat_map(|at: u32| at.to_le_bytes()).collect();
        [&pointers[..], &[4, 0], &more, strings].concat()
    };
    let len = |octets: &[u8]| [0, 0, octets.len() as u16].map(u16::to_le_bytes).concat();
    let one_share = [&share(b"SHARE", 0, 20)[..], b"\0"].concat();
    let only = [&files[..13], &[0, 0, 0, 20, 0, 0, 0], b"\0"].concat();
    let cases = [
        (b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10".to_vec(), 4000, (words([0, 0, 2, 2]), shares)),
        // As many as have room, and how many there are (ERROR_MORE_DATA).
        (b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10".to_vec(), 41, (words([234, 0, 1, 2]), only)),
        (b"\0\0WrLeh\0B13BWz\0\x02\0\0\x10".to_vec(), 4000, (words([124, 0, 0, 0]), vec![])),
        (one(b"share"), 4000, (len(&one_share), one_share)),
        (one(b"other"), 4000, (words([2310, 0, 0, 0]), vec![])),
        (b"\x0d\0WrLh\0B16BBDz\0\x01\0\0\x10".to_vec(), 4000, (len(&own), own.clone())),
        (b"\x3f\0WrLh\0zzzBBzz\0\x0a\0\0\x10".to_vec(), 4000, (len(&workstation), workstation)),
        (servers(0xffff_ffff), 4000, (words([0, 0, 1, 1]), group.clone())),
        (servers(0x8000_0000), 4000, (words([0, 0, 1, 1]), group)),
        (servers(2), 4000, (words([0, 0, 1, 1]), own.clone())),
        (servers(0), 4000, (words([0, 0, 1, 1]), own.clone())),
        (servers(0x4000_0000), 4000, (words([0, 0, 1, 1]), own)),
        // The client asks for servers of another kind.
        (servers(8), 4000, (words([0, 0, 0, 0]), vec![])),
        (servers(0x4000_0008), 4000, (words([0, 0, 0, 0]), vec![])),
        (b"\xd6\0zb16g16\0\0".to_vec(), 4000, (words([50, 0, 0, 0]), vec![])),
    ];
    for (parameters, max_data, expected) in cases {
        let found = ask(&mut raw, b"\\pipe\\LANMAN", &parameters, max_data);
        assert_eq!(found, Ok(expected), "{}", parameters.escape_ascii());
    }
    let shares = b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10";
    let other = ask(&mut raw, b"\\PIPE\\OTHER", shares, 4000);
    assert_eq!(other, Err(error::OBJECT_NAME_NOT_FOUND.name));
    assert_eq!(ask(&mut raw, b"\\PIPE\\LANMAN", b"\0", 4000), Err(error::NON_SPECIFIC.name));
    // The answer fits the buffer size in the request.
    let little = ask(&mut raw, b"\\PIPE\\LANMAN", b"\0\0WrLeh\0B13BWz\0\x01\0\x28\0", 4000);
    assert_eq!(little.unwrap().0, words([234, 0, 1, 2]));
}

#[test]
fn a_transaction_runs_once_all_parts_have_arrived() {
    let mut raw = raw();
    let whole = b"\x01\0\0\0\0\0a long name.text\0";
    let begin = |raw: &mut Raw, total_data| {
        let setup = 5_u16.to_le_bytes();
        let request = Request {
            total_parameters: whole.len() as u16,
            total_data,
            max_data: 4000,
            parameters: &whole[..5],
            ..Request::whole(&setup, &[], b"")
        };
        let said = raw.ask(c::TRANSACTION2, |writer| request.emit(writer));
        ended(&said)
    };
    let secondary =
        |raw: &mut Raw, (at, parameters): (u16, &[u8]), (data_at, data): (u16, &[u8])| {
            let secondary = Secondary {
                total_parameters: whole.len() as u16,
                total_data: data_at + data.len() as u16,
                parameter_displacement: at,
                data_displacement: data_at,
                fid: Some(0xffff),
                parameters,
                data,
            };
            raw.ask_as(raw.mid, c::TRANSACTION2_SECONDARY, |writer| secondary.emit(writer))
        };
    let expected = raw.of_path(1, "a long name.text").unwrap();
    assert_eq!(begin(&mut raw, 0), [(raw.mid, Some("success"))], "the rest is asked for");
    assert_eq!(secondary(&mut raw, (5, &whole[5..9]), (0, b"")), Vec::<Vec<u8>>::new());
    let said = secondary(&mut raw, (9, &whole[9..]), (0, b""));
    assert_eq!(parsed(&said[0]).unwrap().1, expected);
    // Data are waited for as parameters are.
    assert_eq!(begin(&mut raw, 2), [(raw.mid, Some("success"))]);
    assert_eq!(secondary(&mut raw, (5, &whole[5..]), (0, b"")), Vec::<Vec<u8>>::new());
    assert_eq!(secondary(&mut raw, (23, b""), (0, b"x")), Vec::<Vec<u8>>::new());
    let said = secondary(&mut raw, (23, b""), (1, b"y"));
    assert_eq!(parsed(&said[0]).unwrap().1, expected);
    // A part of nothing, one beyond the end, and one of another request are refused.
    for (at, part) in [(5, &b""[..]), (6, &whole[5..]), (0x7000, &whole[5..6])] {
        begin(&mut raw, 0);
        let said = secondary(&mut raw, (at, part), (0, b""));
        assert_eq!(parsed(&said[0]), Err(error::NON_SPECIFIC.name), "{at}");
    }
    begin(&mut raw, 0);
    raw.mid += 1;
    let said = secondary(&mut raw, (5, &whole[5..]), (0, b""));
    assert_eq!(parsed(&said[0]), Err(error::NON_SPECIFIC.name), "another request");
    // 16 KiB of both are the most.
    let most = (16 << 10) - whole.len() as u16;
    assert_eq!(begin(&mut raw, most), [(raw.mid, Some("success"))]);
    let refused = Some(error::INSUFFICIENT_RESOURCES.name);
    assert_eq!(begin(&mut raw, most + 1), [(raw.mid, refused)]);
}
