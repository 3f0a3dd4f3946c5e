//! Remote procedure calls (RFC 5531) over TCP, each a record of fragments (section 11).

use super::xdr::{Garbled, Reader, Writer};

const LAST: u32 = 1 << 31;

/// Longest credential or verifier (section 8.2).
const MAX_AUTH_OCTETS: usize = 400;

const CALL: u32 = 0;
const REPLY: u32 = 1;
const RPC_VERSION: u32 = 2;
/// No authentication (section 8.1).
pub const AUTH_NONE: u32 = 0;
/// A user by number (appendix A), which the server trusts.
pub const AUTH_SYS: u32 = 1;

/// Status of a call: executed, or why not (section 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    Success,
    NoProgram,
    NoVersion(u32, u32),
    NoProcedure,
    GarbageArguments,
    SystemError,
    NoRpcVersion(u32, u32),
    /// The credentials are rejected, for this reason (section 9, `auth_stat`).
    NotAuthenticated(u32),
}

/// Length of a fragment by its header, and whether it is the record's last.
pub fn fragment(header: [u8; 4]) -> (usize, bool) {
    let word = u32::from_be_bytes(header);
    ((word & !LAST) as usize, word & LAST != 0)
}

pub fn auth_sys(stamp: u32, machine: &str, user: u32, group: u32) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.u32(stamp);
    writer.opaque(machine.as_bytes());
    writer.u32(user);
    writer.u32(group);
    writer.u32(0); // No further groups.
    writer.into_octets()
}

/// Begin a call: reserve the header of its one fragment, then write everything before the
/// arguments.
pub fn begin_call(xid: u32, program: (u32, u32), procedure: u32, user: &[u8]) -> Writer {
    let mut writer = Writer::after(Vec::with_capacity(256));
    for word in [0, xid, CALL, RPC_VERSION, program.0, program.1, procedure] {
        writer.u32(word);
    }
    writer.u32(if user.is_empty() { AUTH_NONE } else { AUTH_SYS });
    writer.opaque(user);
    writer.u32(AUTH_NONE);
    writer.opaque(&[]);
    writer
}

/// Begin a reply like [`begin_call`], in reused memory.
pub fn begin_reply(mut memory: Vec<u8>, xid: u32, accepted: Accepted) -> Writer {
    memory.clear();
    let mut writer = Writer::after(memory);
    for word in [0, xid, REPLY] {
        writer.u32(word);
    }
    let (denied, words): (bool, &[u32]) = match accepted {
        Accepted::Success => (false, &[0]),
        Accepted::NoProgram => (false, &[1]),
        Accepted::NoVersion(low, high) => (false, &[2, low, high]),
        Accepted::NoProcedure => (false, &[3]),
        Accepted::GarbageArguments => (false, &[4]),
        Accepted::SystemError => (false, &[5]),
        Accepted::NoRpcVersion(low, high) => (true, &[0, low, high]),
        Accepted::NotAuthenticated(why) => (true, &[1, why]),
    };
    writer.boolean(denied);
    if !denied {
        writer.u32(AUTH_NONE);
        writer.opaque(&[]);
    }
    for word in words {
        writer.u32(*word);
    }
    writer
}

/// Write the header of a single-fragment record that will be followed by `more` octets.
pub fn finish(writer: Writer, more: usize) -> Vec<u8> {
    let mut octets = writer.into_octets();
    let header = (octets.len() - 4 + more) as u32 | LAST;
    octets[..4].copy_from_slice(&header.to_be_bytes());
    octets
}

pub fn xid(record: &[u8]) -> Option<u32> {
    Reader::new(record).u32().ok()
}

pub fn read_reply(record: &[u8]) -> Result<(Accepted, Reader<'_>), Garbled> {
    let mut reader = Reader::new(record);
    reader.u32()?;
    if reader.u32()? != REPLY {
        return Err(Garbled);
    }
    let accepted = if reader.boolean()? {
        match reader.u32()? {
            0 => Accepted::NoRpcVersion(reader.u32()?, reader.u32()?),
            1 => Accepted::NotAuthenticated(reader.u32()?),
            _ => return Err(Garbled),
        }
    } else {
        reader.u32()?;
        reader.opaque(MAX_AUTH_OCTETS)?;
        match reader.u32()? {
            0 => Accepted::Success,
            1 => Accepted::NoProgram,
            2 => Accepted::NoVersion(reader.u32()?, reader.u32()?),
            3 => Accepted::NoProcedure,
            4 => Accepted::GarbageArguments,
            5 => Accepted::SystemError,
            _ => return Err(Garbled),
        }
    };
    Ok((accepted, reader))
}

#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    pub xid: u32,
    pub rpc_version: u32,
    pub program: (u32, u32),
    pub procedure: u32,
    pub arguments: Reader<'a>,
}

impl Call<'_> {
    pub fn is_understood(&self) -> bool {
        self.rpc_version == RPC_VERSION
    }
}

pub fn read_call(record: &[u8]) -> Result<Call<'_>, Garbled> {
    let mut reader = Reader::new(record);
    let xid = reader.u32()?;
    if reader.u32()? != CALL {
        return Err(Garbled);
    }
    let rpc_version = reader.u32()?;
    let program = (reader.u32()?, reader.u32()?);
    let procedure = reader.u32()?;
    for _ in 0..2 {
        reader.u32()?;
        reader.opaque(MAX_AUTH_OCTETS)?;
    }
    Ok(Call { xid, rpc_version, program, procedure, arguments: reader })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn calls_round_trip() {
        let user = auth_sys(7, "host", 1000, 100);
        let mut writer = begin_call(42, (100_003, 3), 6, &user);
        writer.u32(0xabcd);
        let octets = finish(writer, 0);
        let (length, last) = fragment(octets[..4].try_into().unwrap());
        assert_eq!((length, last), (octets.len() - 4, true));
        let call = read_call(&octets[4..]).unwrap();
        assert_eq!((call.xid, call.program, call.procedure), (42, (100_003, 3), 6));
        assert!(call.is_understood());
        assert_eq!(call.arguments.rest(), [0, 0, 0xab, 0xcd]);
    }

    #[test]
    fn replies_round_trip() {
        for accepted in [
            Accepted::Success,
            Accepted::NoProgram,
            Accepted::NoVersion(2, 3),
            Accepted::NoProcedure,
            Accepted::GarbageArguments,
            Accepted::SystemError,
            Accepted::NoRpcVersion(2, 2),
            Accepted::NotAuthenticated(5),
        ] {
            let octets = finish(begin_reply(Vec::new(), 9, accepted), 0);
            assert_eq!(xid(&octets[4..]), Some(9));
            assert_eq!(read_reply(&octets[4..]).unwrap().0, accepted);
        }
    }

    proptest! {
        #[test]
        fn any_record_is_parsed_without_panic(record: Vec<u8>) {
            let _ = (xid(&record), read_call(&record).map(|_| ()), read_reply(&record).map(|_| ()));
        }
    }
}
