//! A connection to an RPC server: each call has one answer, with any number of calls in flight.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lanlab_files::{Class, Fault, Result};
use lanlab_wire::nfs3::Status;
use lanlab_wire::nfs3::rpc::{self, Accepted};
use lanlab_wire::nfs3::xdr::{Garbled, Reader, Writer, padding};
use tokio::net::TcpStream;

use crate::multiplex::{Multiplex, Wire};

use super::status::{SYS_ALONE, fault_of};

/// Maximum length of the data of a call or an answer.
pub const MAX_DATA_OCTETS: u32 = 1 << 20;

/// Maximum length of an answer: data, and everything that can precede it.
pub const LONGEST: usize = MAX_DATA_OCTETS as usize + 4096;

#[derive(Debug)]
pub struct Records;

impl Wire for Records {
    fn length(&self, header: [u8; 4]) -> Result<(usize, bool)> {
        Ok(rpc::fragment(header))
    }

    fn longest(&self) -> usize {
        LONGEST
    }

    fn accept(&self, answer: &mut Vec<u8>) -> Result<Option<u64>> {
        Ok(Some(u64::from(rpc::xid(answer).ok_or(Garbled)?)))
    }
}

/// The server requires stronger authentication (RFC 5531, section 9).
const AUTH_TOOWEAK: u32 = 5;

#[derive(Debug)]
pub struct Connection {
    calls: Multiplex<Records>,
    next_xid: AtomicU32,
    user: Vec<u8>,
    /// Whether the connection comes from a privileged port, as some servers require.
    pub is_from_low_port: bool,
}

pub struct Answer {
    record: Vec<u8>,
    begin: usize,
}

impl Answer {
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.record[self.begin..])
    }

    /// Begin at the last `rest_octets` bytes.
    pub fn begin_at(&mut self, rest_octets: usize) {
        self.begin = self.record.len() - rest_octets;
    }
}

impl Connection {
    /// Make calls on a connection, as a user ([`rpc::auth_sys`]) or, if `user` is empty, without
    /// one.
    pub fn new(
        stream: TcpStream,
        user: Vec<u8>,
        patience: Duration,
        is_from_low_port: bool,
    ) -> Self {
        // Servers distinguish a client's calls by number, even across its connections.
        let mut first = [0; 4];
        let first = getrandom::fill(&mut first).map_or(1, |()| u32::from_ne_bytes(first));
        let calls = Multiplex::new(stream, Records, patience);
        Self { calls, next_xid: AtomicU32::new(first), user, is_from_low_port }
    }

    /// Call a procedure with arguments from `arguments`, then `data`, which is opaque data (padded
    /// here) or empty.
    pub async fn call(
        &self,
        program: (u32, u32),
        procedure: u32,
        arguments: impl FnOnce(&mut Writer),
        data: &[u8],
    ) -> Result<Answer> {
        let padded;
        let data = match padding(data.len()) {
            0 => data,
            missing => {
                padded = [data, &[0; 3][..missing]].concat();
                &padded
            }
        };
        let begin = || {
            let xid = self.next_xid.fetch_add(1, Ordering::Relaxed);
            let mut writer = rpc::begin_call(xid, program, procedure, &self.user);
            arguments(&mut writer);
            Ok((u64::from(xid), rpc::finish(writer, data.len())))
        };
        let record = self.calls.call(begin, data).await?;
        let (accepted, reader) = rpc::read_reply(&record)?;
        match accepted {
            Accepted::Success => {
                let begin = record.len() - reader.rest().len();
                Ok(Answer { record, begin })
            }
            refused => Err(refusal(program, refused)),
        }
    }

    pub fn give_back(&self, answer: Answer) {
        self.calls.give_back(answer.record);
    }

    pub async fn call_with_status(
        &self,
        program: (u32, u32),
        procedure: u32,
        arguments: impl FnOnce(&mut Writer),
        data: &[u8],
    ) -> Result<Answer> {
        let mut answer = self.call(program, procedure, arguments, data).await?;
        match Status(answer.reader().u32()?) {
            Status::OK => {
                answer.begin += 4;
                Ok(answer)
            }
            status => Err(fault_of(status, program.1)),
        }
    }
}

fn refusal(program: (u32, u32), refused: Accepted) -> Fault {
    let (number, version) = program;
    let (class, words) = match refused {
        Accepted::NotAuthenticated(AUTH_TOOWEAK) => {
            let words = format!("the user is not accepted (auth_stat {AUTH_TOOWEAK}, too weak)");
            return Fault::new(Class::Login, words).hint(SYS_ALONE);
        }
        Accepted::NotAuthenticated(why) => {
            (Class::Login, format!("the user is not accepted (auth_stat {why})"))
        }
        Accepted::NoProgram => (Class::Unsupported, format!("program {number} is not there")),
        Accepted::NoVersion(low, high) => (
            Class::Unsupported,
            format!("program {number}: found versions {low} to {high}; wanted: {version}"),
        ),
        Accepted::NoProcedure => {
            (Class::Unsupported, format!("program {number} has no such procedure"))
        }
        other => (Class::Protocol, format!("program {number}: {other:?}")),
    };
    Fault::new(class, words)
}
