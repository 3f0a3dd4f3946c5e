//! Remote Administration Protocol, used before Windows NT: lists servers, and the shares of a
//! server.
//!
//! Source: [MS-RAP] 2.5.5 (shares), 2.5.7 (servers), 2.5.8 (workstations) and 2.5.2 (error
//! numbers). Request and answer are parameters and data of a transaction to [`PIPE`] ([MS-CIFS]
//! 2.2.4.33). Structure descriptors are ignored, because the request's number and level imply them.
//! All strings use a code page. String offsets count from the beginning of the data, because the
//! converter of each answer is zero.

use super::reader::Reader;
use crate::Error;

const FORMAT: &str = "rap";
/// The pipe for requests, case-insensitive.
pub const PIPE: &[u8] = b"\\PIPE\\LANMAN";

mod number {
    pub(super) const SHARES: u16 = 0;
    pub(super) const SHARE: u16 = 1;
    pub(super) const SERVER: u16 = 13;
    pub(super) const WORKSTATION: u16 = 63;
    pub(super) const SERVERS: u16 = 104;
}

/// Results of requests, [MS-RAP] 2.5.2 and [MS-ERREF] 2.2.
pub mod status {
    pub const SUCCESS: u16 = 0;
    pub const NOT_SUPPORTED: u16 = 50;
    pub const INVALID_LEVEL: u16 = 124;
    pub const MORE_DATA: u16 = 234;
    pub const NO_SUCH_SHARE: u16 = 2310;
}

/// Services of a server, as bits of [MS-BRWS] 2.2.1.
pub mod server_type {
    pub const WORKSTATION: u32 = 0x0000_0001;
    pub const SERVER: u32 = 0x0000_0002;
    pub const DOMAIN_ENUM: u32 = 0x8000_0000;
    /// Requests every server known to this one, of any type.
    pub const LOCAL_LIST_ONLY: u32 = 0x4000_0000;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What<'a> {
    Shares,
    Share {
        name: &'a [u8],
    },
    Server,
    Workstation,
    Servers {
        /// Bits of [`server_type`].
        kinds: u32,
    },
    Other {
        number: u16,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    pub what: What<'a>,
    pub level: u16,
    pub room: u16,
}

impl<'a> Request<'a> {
    pub fn parse(parameters: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, parameters);
        let number = reader.u16()?;
        // Descriptors of the parameters and of the data.
        string(&mut reader)?;
        string(&mut reader)?;
        let what = match number {
            number::SHARES => What::Shares,
            number::SHARE => What::Share { name: string(&mut reader)? },
            number::SERVER => What::Server,
            number::WORKSTATION => What::Workstation,
            number::SERVERS => What::Servers { kinds: 0 },
            number => return Ok(Self { what: What::Other { number }, level: 0, room: 0 }),
        };
        let (level, room) = (reader.u16()?, reader.u16()?);
        let what = match what {
            What::Servers { .. } => What::Servers { kinds: reader.u32()? },
            what => what,
        };
        Ok(Self { what, level, room })
    }
}

fn string<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let all = { *reader }.rest();
    let len = all.iter().position(|octet| *octet == 0).unwrap_or(all.len());
    let text = reader.take(len)?;
    reader.skip(1)?;
    Ok(text)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share<'a> {
    /// Server name, cut to 12 octets, the size in a list.
    pub name: &'a [u8],
    pub is_pipes: bool,
    pub remark: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Server<'a> {
    /// Server name, at most 15 octets.
    pub name: &'a [u8],
    pub version: (u8, u8),
    /// Bits of [`server_type`].
    pub kinds: u32,
    pub comment: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workstation<'a> {
    pub name: &'a [u8],
    pub group: &'a [u8],
    pub version: (u8, u8),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    pub parameters: Vec<u8>,
    pub data: Vec<u8>,
}

impl Answer {
    pub fn refused(status: u16) -> Self {
        Self { parameters: words([status, 0, 0, 0]), data: Vec::new() }
    }

    /// The shares, at level 0 or 1.
    pub fn shares(shares: &[Share<'_>], level: u16, room: u16) -> Self {
        Self::list(shares, level, room, |share, data| data.share(share, level))
    }

    /// One share, at level 0 or 1.
    pub fn share(share: &Share<'_>, level: u16, room: u16) -> Self {
        Self::one(level <= 1, room, |data| data.share(share, level))
    }

    /// The servers, at level 0 or 1.
    pub fn servers(servers: &[Server<'_>], level: u16, room: u16) -> Self {
        Self::list(servers, level, room, |server, data| data.server(server, level))
    }

    /// One server, at level 0 or 1.
    pub fn server(server: &Server<'_>, level: u16, room: u16) -> Self {
        Self::one(level <= 1, room, |data| data.server(server, level))
    }

    /// A computer, at level 10.
    pub fn workstation(computer: &Workstation<'_>, level: u16, room: u16) -> Self {
        Self::one(level == 10, room, |data| data.workstation(computer))
    }

    fn list<T>(all: &[T], level: u16, room: u16, write: impl Fn(&T, &mut Data)) -> Self {
        if level > 1 {
            return Self::refused(status::INVALID_LEVEL);
        }
        let written = |count: usize| {
            let mut data = Data::default();
            for one in &all[..count] {
                write(one, &mut data);
            }
            data.whole()
        };
        let fits = |count: &usize| written(*count).len() <= usize::from(room);
        let count = (0..=all.len()).rev().find(fits).unwrap_or(0);
        let status = if count < all.len() { status::MORE_DATA } else { status::SUCCESS };
        let parameters = words([status, 0, count as u16, all.len() as u16]);
        Self { parameters, data: written(count) }
    }

    fn one(knows_level: bool, room: u16, write: impl Fn(&mut Data)) -> Self {
        if !knows_level {
            return Self { parameters: words([status::INVALID_LEVEL, 0, 0]), data: Vec::new() };
        }
        let mut data = Data::default();
        write(&mut data);
        let data = data.whole();
        let needed = data.len() as u16;
        if needed > room {
            // A part is useless: the positions of strings would be unknown.
            return Self { parameters: words([status::MORE_DATA, 0, needed]), data: Vec::new() };
        }
        Self { parameters: words([status::SUCCESS, 0, needed]), data }
    }
}

fn words<const N: usize>(words: [u16; N]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[derive(Default)]
struct Data {
    fixed: Vec<u8>,
    strings: Vec<u8>,
    pointers: Vec<(usize, usize)>,
}

impl Data {
    fn name(&mut self, name: &[u8], room: usize) {
        let name = &name[..name.len().min(room - 1)];
        self.fixed.extend_from_slice(name);
        self.fixed.resize(self.fixed.len() + room - name.len(), 0);
    }

    fn pointer(&mut self, text: &[u8]) {
        self.pointers.push((self.fixed.len(), self.strings.len()));
        self.fixed.extend_from_slice(&[0; 4]);
        self.strings.extend_from_slice(text);
        self.strings.push(0);
    }

    fn share(&mut self, share: &Share<'_>, level: u16) {
        self.name(share.name, 13);
        if level > 0 {
            self.fixed.push(0);
            self.fixed.extend_from_slice(&if share.is_pipes { 3_u16 } else { 0 }.to_le_bytes());
            self.pointer(share.remark);
        }
    }

    fn server(&mut self, server: &Server<'_>, level: u16) {
        self.name(server.name, 16);
        if level > 0 {
            self.fixed.extend_from_slice(&[server.version.0, server.version.1]);
            self.fixed.extend_from_slice(&server.kinds.to_le_bytes());
            self.pointer(server.comment);
        }
    }

    fn workstation(&mut self, computer: &Workstation<'_>) {
        self.pointer(computer.name);
        // The user name: nobody is logged in.
        self.pointer(b"");
        self.pointer(computer.group);
        self.fixed.extend_from_slice(&[computer.version.0, computer.version.1]);
        self.pointer(computer.group);
        self.pointer(b"");
    }

    fn whole(mut self) -> Vec<u8> {
        let begin = self.fixed.len();
        for (at, offset) in self.pointers {
            let offset = ((begin + offset) as u16).to_le_bytes();
            self.fixed[at..at + 2].copy_from_slice(&offset);
        }
        self.fixed.extend_from_slice(&self.strings);
        self.fixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Written by hand from [MS-RAP] 2.5.5.1; tests of `lanlab serve` use smbclient.
    const ASKS_FOR_SHARES: &[u8] = b"\0\0WrLeh\0B13BWz\0\x01\0\xe0\xff";

    const FILES: Share<'_> = Share { name: b"DATA", is_pipes: false, remark: b"cnc" };
    const PIPES: Share<'_> = Share { name: b"IPC$", is_pipes: true, remark: b"" };

    #[test]
    fn requests_are_distinguished() {
        let shares = Request::parse(ASKS_FOR_SHARES).unwrap();
        assert_eq!(shares, Request { what: What::Shares, level: 1, room: 0xffe0 });
        let servers = b"\x68\0WrLehDz\0B16BBDz\0\x01\0\xe0\xff\0\0\0\x80WORKGROUP\0";
        let servers = Request::parse(servers).unwrap();
        let kinds = server_type::DOMAIN_ENUM;
        assert_eq!(servers, Request { what: What::Servers { kinds }, level: 1, room: 0xffe0 });
        let share = Request::parse(b"\x01\0zWrLh\0B13BWz\0DATA\0\x01\0\0\x10").unwrap();
        assert_eq!(share, Request { what: What::Share { name: b"DATA" }, level: 1, room: 4096 });
        let other = Request::parse(b"\xd6\0zb16g16\0\0").unwrap();
        assert_eq!(other.what, What::Other { number: 214 });
        assert!(Request::parse(&ASKS_FOR_SHARES[..18]).is_err());
    }

    #[test]
    fn strings_follow_all_structures() {
        let answer = Answer::shares(&[FILES, PIPES], 1, 1000);
        assert_eq!(answer.parameters, [0, 0, 0, 0, 2, 0, 2, 0]);
        let expected: [&[u8]; 5] = [
            b"DATA\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0",
            b"IPC$\0\0\0\0\0\0\0\0\0\0\x03\0\x2c\0\0\0",
            b"cnc\0",
            b"\0",
            b"",
        ];
        assert_eq!(answer.data, expected.concat());
    }

    #[test]
    fn entries_without_room_are_omitted_and_reported() {
        let answer = Answer::shares(&[FILES, PIPES], 1, 30);
        assert_eq!(answer.parameters, [234, 0, 0, 0, 1, 0, 2, 0]);
        assert_eq!(answer.data.len(), 24);
        let one = Answer::share(&FILES, 1, 10);
        assert_eq!((one.parameters, one.data), (vec![234, 0, 0, 0, 24, 0], Vec::new()));
        assert_eq!(Answer::shares(&[FILES], 2, 1000).parameters[0], 124);
    }

    #[test]
    fn long_names_are_cut_to_the_list_field() {
        let long = Share { name: b"ALONGSHARENAME", ..FILES };
        assert_eq!(Answer::shares(&[long], 0, 100).data, b"ALONGSHARENA\0");
        let server =
            Server { name: b"CNCFILES", version: (4, 0), kinds: 3, comment: b"old machines" };
        let answer = Answer::server(&server, 1, 100);
        assert_eq!(&answer.data[..26], b"CNCFILES\0\0\0\0\0\0\0\0\x04\0\x03\0\0\0\x1a\0\0\0");
        assert_eq!(&answer.data[26..], b"old machines\0");
    }

    #[test]
    fn computers_report_name_and_workgroup() {
        let computer = Workstation { name: b"CNCFILES", group: b"WORKGROUP", version: (4, 0) };
        let answer = Answer::workstation(&computer, 10, 100);
        assert_eq!(&answer.data[22..], b"CNCFILES\0\0WORKGROUP\0WORKGROUP\0\0");
        assert_eq!(answer.data[12..14], [4, 0]);
        assert_eq!(Answer::workstation(&computer, 1, 100).parameters[0], 124);
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(parameters: Vec<u8>) {
            let _ = Request::parse(&parameters);
        }

        #[test]
        fn lists_fit_their_buffer(room: u16, level in 0..2_u16, count in 0..40_usize) {
            let answer = Answer::shares(&vec![FILES; count], level, room);
            prop_assert!(answer.data.len() <= usize::from(room));
        }
    }
}
