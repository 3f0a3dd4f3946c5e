//! SMB 1 at both ends in virtual time: messages take a time, and no runtime is there.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use lanlab_files::{Class, Result, ServicePath, Session as _};
use lanlab_sessions::{Agreed, FileAnswers, Logins, MessagePort, Redirected, serve};
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::files::{FileAnswer, FileCall, FileStore, Presence};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan};
use lanlab_stack::smb::server::{Offer, Server};
use lanlab_units::{Clock, Instant};
use lanlab_workloads::virtual_time::VirtualTime;

#[path = "support/behaviour.rs"]
mod behaviour;
#[path = "../../stack/tests/support/memory_files.rs"]
mod memory_files;

use memory_files::MemoryFiles;

use behaviour::behaves;

/// Time of a message between the ends.
const DELAY: Duration = Duration::from_millis(3);
const LONGEST_BYTES: usize = 70_000;
const PATIENCE: Duration = Duration::from_secs(10);

/// Messages on their way to one end, with the time when they arrive.
#[derive(Default)]
struct Way {
    coming: VecDeque<(Instant, Vec<u8>)>,
    receiver: Option<Waker>,
    is_ended: bool,
}

struct End {
    time: VirtualTime,
    out: Rc<RefCell<Way>>,
    back: Rc<RefCell<Way>>,
}

impl Drop for End {
    fn drop(&mut self) {
        let mut way = self.out.borrow_mut();
        way.is_ended = true;
        if let Some(waker) = way.receiver.take() {
            waker.wake();
        }
    }
}

impl MessagePort for End {
    fn set_longest(&mut self, _: usize) {}

    fn poll_send(&mut self, _: &mut Context<'_>, parts: [&[u8]; 2]) -> Poll<io::Result<()>> {
        let arrives_at = self.time.now() + DELAY;
        self.out.borrow_mut().coming.push_back((arrives_at, parts.concat()));
        let (time, way) = (self.time.clone(), Rc::clone(&self.out));
        self.time.spawn(async move {
            time.sleep_until(arrives_at).await;
            if let Some(waker) = way.borrow_mut().receiver.take() {
                waker.wake();
            }
        });
        Poll::Ready(Ok(()))
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<io::Result<()>> {
        let mut way = self.back.borrow_mut();
        let is_here = way.coming.front().is_some_and(|(at, _)| *at <= self.time.now());
        if let Some((_, message)) = way.coming.pop_front_if(|_| is_here) {
            *into = message;
            return Poll::Ready(Ok(()));
        }
        if way.is_ended && way.coming.is_empty() {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        way.receiver = Some(cx.waker().clone());
        Poll::Pending
    }
}

fn cable(time: &VirtualTime) -> [End; 2] {
    let (one, other) = (Rc::<RefCell<Way>>::default(), Rc::<RefCell<Way>>::default());
    [(&one, &other), (&other, &one)].map(|(out, back)| End {
        time: time.clone(),
        out: Rc::clone(out),
        back: Rc::clone(back),
    })
}

/// Files that take a time for each call, as a disk does.
struct Disk {
    time: VirtualTime,
    files: Rc<RefCell<MemoryFiles>>,
}

impl FileAnswers for Disk {
    async fn carry_out(&mut self, first: FileCall, session: &mut Session, data: &mut Vec<u8>) {
        let mut next = Some(first);
        while let Some(call) = next {
            self.time.sleep_ns(1_000_000).await;
            let answer = self.files.borrow_mut().carry_out(call, data);
            session.handle_file_answer(answer, data);
            next = session.poll_file_call(data);
        }
    }
}

struct Anybody;

impl Logins for Anybody {
    fn longest_message(&self) -> usize {
        LONGEST_BYTES
    }

    fn succeeded(&mut self) {}

    async fn failed(&mut self, _: u32) -> io::Result<()> {
        Ok(())
    }
}

fn facts() -> CarrierFacts {
    CarrierFacts {
        longest_message: LONGEST_BYTES as u32,
        keeps_raw: false,
        is_one_at_a_time: false,
    }
}

fn server() -> Server {
    Server::new(Offer {
        name: "SERVER".into(),
        share: "share".into(),
        user: None,
        read_only: false,
        dialects: Dialect::Core..=Dialect::Nt,
    })
}

async fn connected(
    time: &VirtualTime,
    dialect: Dialect,
    end: End,
) -> Result<Redirected<Client, End, VirtualTime>> {
    let client = Client::new(Plan {
        dialect: Some(dialect),
        server: "SERVER".into(),
        share: "share".into(),
        user: None,
        nonce: [7; 8],
        time: 0,
        raw: false,
        multiplexed: true,
        requires_signatures: false,
        carrier: facts(),
    });
    let port = (end, Agreed::default());
    Redirected::begin(client, Client::CONNECTED, port, (time.clone(), PATIENCE), "").await
}

fn stored(files: &RefCell<MemoryFiles>, name: &ServicePath) -> Option<Vec<u8>> {
    let path = name.as_str().split('/').map(str::to_owned).collect();
    let (mut files, mut data) = (files.borrow_mut(), Vec::new());
    let presence = Presence::Old;
    let open = FileCall::Open { path, read: true, write: false, presence, truncate: false };
    let FileAnswer::Opened { handle, .. } = files.carry_out(open, &mut data) else { return None };
    let (offset, count) = (0, 1 << 20);
    files.carry_out(FileCall::Read { handle, offset, count }, &mut data);
    files.carry_out(FileCall::Close { handle }, &mut Vec::new());
    Some(data)
}

/// Serve one client, who does what is asked. What the time is in the end.
fn served(dialect: Dialect) -> Instant {
    let time = VirtualTime::new();
    let [client, mut port] = cable(&time);
    let files = Rc::new(RefCell::new(MemoryFiles::default()));
    let serving = {
        let (clock, files) = (time.clone(), Rc::clone(&files));
        async move {
            let mut session = server().session(facts(), [1; 8], 0);
            let mut disk = Disk { time: clock.clone(), files };
            serve(&mut session, &mut port, &mut disk, &mut Anybody, &clock).await
        }
    };
    let serving = time.spawn(serving);
    let using = {
        let (clock, files) = (time.clone(), Rc::clone(&files));
        async move {
            let session = connected(&clock, dialect, client).await.unwrap();
            behaves(&session, |name| stored(&files, name), true, false).await;
            session.end().await.unwrap();
            let _ = serving.await;
        }
    };
    time.run(using).unwrap();
    assert_eq!(files.borrow().open(), 0, "what was left open");
    time.now()
}

#[test]
fn both_ends_pass_the_common_tests_in_repeatable_time() {
    for dialect in [Dialect::LanMan2, Dialect::Nt] {
        let took = served(dialect);
        assert!(took > Instant::ZERO + 100 * DELAY, "{dialect:?}: {took:?}");
        assert_eq!(served(dialect), took, "{dialect:?}");
    }
}

#[test]
fn a_silent_server_times_out_on_the_virtual_clock() {
    let time = VirtualTime::new();
    let [client, _silent] = cable(&time);
    let clock = time.clone();
    let gave_up = async move { connected(&clock, Dialect::Nt, client).await.err().unwrap() };
    let fault = time.run(gave_up).unwrap();
    assert_eq!(fault.class, Class::TimedOut);
    assert_eq!(time.now(), Instant::ZERO + PATIENCE);
}

#[test]
fn a_connection_that_ends_is_reported_with_the_protocol() {
    let time = VirtualTime::new();
    let [client, gone] = cable(&time);
    drop(gone);
    let clock = time.clone();
    let cut = async move { connected(&clock, Dialect::Nt, client).await.err().unwrap() };
    let fault = time.run(cut).unwrap();
    assert_eq!(fault.class, Class::Reset, "{fault}");
    assert!(fault.message.starts_with("SMB 1"), "{fault}");
}
