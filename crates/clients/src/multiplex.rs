//! Many calls in flight on one connection: each is written at once, and answers are matched to
//! calls in any order.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use bytes::BufMut;
use lanlab_files::{Class, Fault, Result};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::exchanges::Wait;

/// Bytes read together with a header: a short answer takes one system call, and little of a long one is
/// copied twice.
const READ_AHEAD_OCTETS: usize = 8 << 10;

/// Up to this length, data is copied after its header, which costs less than a second part of a
/// write.
const COPIED_OCTETS: usize = 4 << 10;

/// Longer answers are read into reused memory, because new memory from the system, page by page,
/// costs as much as all other work for a long answer.
const REUSED_OCTETS: usize = 16 << 10;

const MAX_SPARE: usize = 16;

/// How answers are delimited on a connection, and which calls they belong to.
pub trait Wire: Send + Sync + 'static {
    /// Number of bytes after a header, and whether the answer ends with them.
    fn length(&self, header: [u8; 4]) -> Result<(usize, bool)>;

    /// Length limit of an answer.
    fn longest(&self) -> usize;

    /// The call that an answer belongs to, if any. Removes its protection.
    fn accept(&self, answer: &mut Vec<u8>) -> Result<Option<u64>>;
}

pub struct Multiplex<W> {
    pub wire: Arc<W>,
    writer: tokio::sync::Mutex<Writer>,
    waiting: Arc<Waiting>,
    reader: JoinHandle<()>,
    patience: Duration,
}

impl<W> fmt::Debug for Multiplex<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Multiplex").finish_non_exhaustive()
    }
}

struct Writer {
    half: OwnedWriteHalf,
    /// A call was dropped while it was being written: the server could not parse further data.
    cut: bool,
}

#[derive(Default)]
pub struct Waiting {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: HashMap<u64, oneshot::Sender<Vec<u8>>>,
    ended: Option<Fault>,
    spare: Vec<Vec<u8>>,
}

impl Waiting {
    fn ended(&self) -> Fault {
        let gone = || Fault::new(Class::Reset, "the connection has ended");
        self.state.lock().ended.clone().unwrap_or_else(gone)
    }
}

struct Call<'a> {
    key: u64,
    waiting: &'a Waiting,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.waiting.state.lock().calls.remove(&self.key);
    }
}

impl<W: Wire> Multiplex<W> {
    /// Make calls on a connection; each waits for its answer at most for `patience`.
    pub fn new(stream: TcpStream, wire: W, patience: Duration) -> Self {
        let wire = Arc::new(wire);
        let waiting = Arc::new(Waiting::default());
        let (reading, half) = stream.into_split();
        let reader = tokio::spawn(read_all(reading, Arc::clone(&wire), Arc::clone(&waiting)));
        let writer = tokio::sync::Mutex::new(Writer { half, cut: false });
        Self { wire, writer, waiting, reader, patience }
    }

    /// Make one call and return the answer. `begin`, which runs when it is the call's turn to be
    /// written, provides its key and header; `data` follows.
    pub async fn call(
        &self,
        begin: impl FnOnce() -> Result<(u64, Vec<u8>)>,
        data: &[u8],
    ) -> Result<Vec<u8>> {
        match tokio::time::timeout(self.patience, self.call_unbounded(begin, data)).await {
            Ok(done) => done,
            Err(_) => Err(self.too_late()),
        }
    }

    pub fn give_back(&self, mut answer: Vec<u8>) {
        if answer.capacity() > REUSED_OCTETS {
            answer.clear();
            let mut state = self.waiting.state.lock();
            if state.spare.len() < MAX_SPARE {
                state.spare.push(answer);
            }
        }
    }

    pub async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        tokio::time::timeout(self.patience, work).await.map_err(|_| self.too_late())
    }

    fn too_late(&self) -> Fault {
        let waited_s = self.patience.as_secs_f64();
        Fault::new(Class::TimedOut, format!("no answer within {waited_s} s"))
    }

    async fn call_unbounded(
        &self,
        begin: impl FnOnce() -> Result<(u64, Vec<u8>)>,
        data: &[u8],
    ) -> Result<Vec<u8>> {
        let wait = Wait::begin(data.len());
        let mut writer = self.writer.lock().await;
        if writer.cut {
            return Err(Fault::new(Class::Reset, "the connection was cut in the middle of a call"));
        }
        let (key, head) = begin()?;
        let (give, answer) = oneshot::channel();
        {
            let mut state = self.waiting.state.lock();
            if let Some(fault) = &state.ended {
                return Err(fault.clone());
            }
            state.calls.insert(key, give);
        }
        let _call = Call { key, waiting: &self.waiting };
        writer.cut = true;
        if let Err(error) = write_both(&mut writer.half, head, data).await {
            return Err(Fault::of_connection("write", &error));
        }
        writer.cut = false;
        drop(writer);
        let answer = answer.await.map_err(|_| self.waiting.ended())?;
        wait.answered(answer.len());
        Ok(answer)
    }
}

impl<W> Drop for Multiplex<W> {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn write_both(half: &mut OwnedWriteHalf, mut head: Vec<u8>, data: &[u8]) -> io::Result<()> {
    if data.len() <= COPIED_OCTETS {
        head.extend_from_slice(data);
        return half.write_all(&head).await;
    }
    let mut both = [IoSlice::new(&head), IoSlice::new(data)];
    let mut parts = &mut both[..];
    while !parts.is_empty() {
        match half.write_vectored(parts).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => IoSlice::advance_slices(&mut parts, written),
        }
    }
    Ok(())
}

/// Match answers to their calls until the connection ends or is malformed.
async fn read_all<W: Wire>(half: OwnedReadHalf, wire: Arc<W>, waiting: Arc<Waiting>) {
    let mut half = BufReader::with_capacity(READ_AHEAD_OCTETS, half);
    let fault = loop {
        let accepted = match read_one(&mut half, &*wire, &waiting).await {
            Ok(mut answer) => wire.accept(&mut answer).map(|key| (key, answer)),
            Err(fault) => Err(fault),
        };
        match accepted {
            Ok((None, _)) => {}
            Ok((Some(key), answer)) => {
                let Some(call) = waiting.state.lock().calls.remove(&key) else {
                    break Fault::new(Class::Protocol, "an answer to a call that was not made");
                };
                // A dropped call needs no answer.
                let _ = call.send(answer);
            }
            Err(fault) => break fault,
        }
    };
    let mut state = waiting.state.lock();
    state.ended = Some(fault);
    state.calls.clear();
}

pub async fn read_one(
    half: &mut BufReader<impl AsyncRead + Unpin>,
    wire: &impl Wire,
    waiting: &Waiting,
) -> Result<Vec<u8>> {
    let mut answer = Vec::new();
    loop {
        let mut header = [0; 4];
        half.read_exact(&mut header).await.map_err(|error| cut(&error))?;
        let (length, last) = wire.length(header)?;
        let (whole, longest) = (answer.len() + length, wire.longest());
        if whole > longest {
            let message = if header.is_ascii() {
                format!("an answer that begins with `{}`", header.escape_ascii())
            } else {
                format!("an answer of {whole} octets; allowed: {longest}")
            };
            let fault = Fault::new(Class::Protocol, message);
            return Err(if header.is_ascii() { fault.foreign() } else { fault });
        }
        if length == 0 && !last {
            return Err(Fault::new(Class::Protocol, "an empty part of an answer"));
        }
        if answer.is_empty() && length > REUSED_OCTETS {
            answer = waiting.state.lock().spare.pop().unwrap_or_default();
        }
        answer.reserve_exact(length);
        while answer.len() < whole {
            let missing = whole - answer.len();
            let count = half.read_buf(&mut (&mut answer).limit(missing)).await;
            if count.map_err(|error| cut(&error))? == 0 {
                return Err(cut(&io::ErrorKind::UnexpectedEof.into()));
            }
        }
        if last {
            return Ok(answer);
        }
    }
}

fn cut(error: &io::Error) -> Fault {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Fault::new(Class::Reset, "the server ended the connection");
    }
    Fault::of_connection("read", error)
}
