//! One script over each carrier on two clocks, by SMB 1 or `NetWare`: between nodes on the offline medium, in virtual time, and
//! between the nodes of real interfaces. Each station sends the same frames, octet by octet and in order, but for
//! numbers of sessions on IPX, which begin with the clock.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use lanlab_connections::wired::{WiredNode, WiredPlan, WiredPort};
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::ncp;
use lanlab_stack::node::{CarrierKind, Peer};
use lanlab_stack::profile::netware::NETWARE_3;
use lanlab_stack::profile::{DOS, IBM, Profile, WINDOWS_9X, WINDOWS_NT};
use lanlab_stack::redirector::{Access, Call, CallId, Done, Redirector};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{self, Client};
use lanlab_stack::smb::server::{self, Server};
use lanlab_units::Instant;
use lanlab_wire::netbios_name::{Name, suffix};

use super::cable::{Cable, place, runs_outside};
use super::clockless::{all_without_clock, of_netware};
use super::memory_files::MemoryFiles;
use super::offline::World;

use lanlab_stack::files::FileStore;

pub const MACS: [[u8; 6]; 2] = [[2, 0x60, 0x8c, 0, 0, 1], [2, 0x60, 0x8c, 0, 0, 2]];
/// A host that stands still for this long in the midst of the exchange makes timers run out.
const STALL: Duration = Duration::from_millis(60);
const ATTEMPTS: usize = 5;

pub fn name(end: usize) -> Name {
    Name::new(["CALLER", "CALLED"][end], suffix::SERVER).unwrap()
}

/// One end of a session, on either clock.
trait Port {
    fn facts(&self) -> CarrierFacts;
    fn poll_send(&mut self, cx: &mut Context<'_>, message: &[u8]) -> Poll<()>;
    /// `false`: the session is over.
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<bool>;
}

impl Port for WiredPort {
    fn facts(&self) -> CarrierFacts {
        Self::facts(self)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, message: &[u8]) -> Poll<()> {
        Self::poll_send(self, cx, [message, &[]]).map(Result::unwrap)
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<bool> {
        Self::poll_receive(self, cx, into).map(|received| received.is_ok())
    }
}

/// What both ends of a session speak.
#[derive(Debug, Clone, Copy)]
enum Spoken {
    Smb(Dialect),
    /// With or without bursts.
    NetWare {
        bursts: bool,
    },
}

fn client_of(spoken: Spoken, carrier: CarrierFacts) -> Box<dyn Redirector> {
    let user = None;
    let dialect = match spoken {
        Spoken::Smb(dialect) => dialect,
        Spoken::NetWare { bursts } => {
            let plan = ncp::client::Plan {
                volume: "share".into(),
                user: None,
                most_data_bytes: 1024,
                large_packets: true,
                burst_packets: bursts.then_some(NETWARE_3.burst_packets),
                carrier,
            };
            return Box::new(ncp::client::Client::new(plan));
        }
    };
    Box::new(Client::new(client::Plan {
        dialect: Some(dialect),
        server: "CALLED".into(),
        share: "share".into(),
        user,
        nonce: [7; 8],
        time: 0,
        raw: false,
        multiplexed: true,
        requires_signatures: false,
        carrier,
    }))
}

fn session_of(spoken: Spoken, carrier: CarrierFacts) -> Session {
    let read_only = false;
    let server: Box<dyn FileServer> = match spoken {
        Spoken::NetWare { .. } => Box::new(ncp::server::Server::new(ncp::server::Offer {
            name: "CALLED".into(),
            volume: "share".into(),
            user: None,
            read_only,
            netware: NETWARE_3,
        })),
        Spoken::Smb(_) => Box::new(Server::new(server::Offer {
            name: "share".into(),
            share: "share".into(),
            user: None,
            read_only,
            dialects: Dialect::Core..=Dialect::Nt,
        })),
    };
    server.session(carrier, [7; 8], 0x01d0_0000_0000_0000)
}

async fn call<P: Port>(mut port: P, spoken: Spoken) {
    let mut client = client_of(spoken, port.facts());
    let client = client.as_mut();
    done(client, &mut port, Client::CONNECTED).await;
    for size in [100, 20_000] {
        let data: Vec<u8> = (0..size).map(|at| (at * 7 + at / 251) as u8).collect();
        let path = "FILE.DAT";
        let opened = ask(client, &mut port, Call::Open { path, access: Access::Create }).await;
        let Done::Opened { file, .. } = opened.0 else { panic!("{opened:?}") };
        let mut offset = 0;
        while offset < data.len() {
            let parts = [&data[offset..], &[][..]];
            let write = Call::Write { file, offset: offset as u64, parts };
            let Done::Written(count) = ask(client, &mut port, write).await.0 else { panic!() };
            offset += count as usize;
        }
        ask(client, &mut port, Call::Close { file }).await;
        let opened = ask(client, &mut port, Call::Open { path, access: Access::Read }).await;
        let Done::Opened { file, .. } = opened.0 else { panic!("{opened:?}") };
        let mut read = Vec::new();
        while read.len() < data.len() {
            let count = 4096.min(data.len() - read.len()) as u32;
            let wanted = Call::Read { file, offset: read.len() as u64, count };
            let (Done::Read(range), octets) = ask(client, &mut port, wanted).await else {
                panic!()
            };
            read.extend_from_slice(&octets[range]);
        }
        assert!(read == data);
        ask(client, &mut port, Call::Close { file }).await;
        ask(client, &mut port, Call::Remove { path }).await;
    }
}

async fn ask<P: Port>(
    client: &mut dyn Redirector,
    port: &mut P,
    call: Call<'_>,
) -> (Done, Vec<u8>) {
    let id = client.call(call);
    done(client, port, id).await
}

async fn done<P: Port>(client: &mut dyn Redirector, port: &mut P, id: CallId) -> (Done, Vec<u8>) {
    let (mut message, mut data) = (Vec::new(), Vec::new());
    loop {
        while let Some((ended, outcome)) = client.poll_done(&mut data) {
            if ended == id {
                return (outcome.unwrap(), data);
            }
        }
        while client.poll_message(&mut message) {
            poll_fn(|cx| port.poll_send(cx, &message)).await;
        }
        assert!(poll_fn(|cx| port.poll_receive(cx, &mut message)).await);
        client.handle_message(&mut message);
    }
}

async fn answer<P: Port>(mut port: P, spoken: Spoken) {
    let mut session = session_of(spoken, port.facts());
    let mut files = MemoryFiles::default();
    let (mut message, mut head, mut data) = (Vec::new(), Vec::new(), Vec::new());
    while poll_fn(|cx| port.poll_receive(cx, &mut message)).await {
        session.handle_message(&mut message);
        loop {
            while let Some(call) = session.poll_file_call(&mut data) {
                let answer = files.carry_out(call, &mut data);
                session.handle_file_answer(answer, &mut data);
            }
            if !session.poll_message(&mut head, &mut data) {
                break;
            }
            let whole = [&head[..], &data].concat();
            poll_fn(|cx| port.poll_send(cx, &whole)).await;
        }
        message = session.memory();
    }
}

struct VirtualPort(Rc<RefCell<World>>, usize);

impl Port for VirtualPort {
    fn facts(&self) -> CarrierFacts {
        self.0.borrow().sessions[self.1].unwrap().1
    }

    fn poll_send(&mut self, _: &mut Context<'_>, message: &[u8]) -> Poll<()> {
        let world = &mut *self.0.borrow_mut();
        let (id, _) = world.sessions[self.1].unwrap();
        let is_sent = world.nodes[self.1].send(world.now, id, message).is_ok();
        world.drain();
        if is_sent { Poll::Ready(()) } else { Poll::Pending }
    }

    fn poll_receive(&mut self, _: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<bool> {
        let mut world = self.0.borrow_mut();
        match world.inboxes[self.1].pop_front() {
            Some(message) => {
                *into = message;
                Poll::Ready(true)
            }
            None if world.is_over[self.1] => Poll::Ready(false),
            None => Poll::Pending,
        }
    }
}

/// What each station sends in virtual time.
fn virtually(carrier: CarrierKind, profile: &Profile, spoken: Spoken) -> [Vec<Vec<u8>>; 2] {
    let world = Rc::new(RefCell::new(World::new(carrier, profile)));
    let end = Instant::from_nanos(3_600_000_000_000);
    // On XNS a name is there at once.
    world.borrow_mut().drain();
    while world.borrow().claimed != [true; 2] {
        assert!(world.borrow_mut().advance(end));
    }
    {
        let world = &mut *world.borrow_mut();
        world.nodes[0].open(world.now, Peer::Name(name(1)));
    }
    while world.borrow().sessions[0].is_none() {
        assert!(world.borrow_mut().advance(end));
    }
    let mut calling = pin!(call(VirtualPort(Rc::clone(&world), 0), spoken));
    // Straight on IPX it is the first request that opens the session at the server.
    let mut answering = pin!(async {
        let is_called = || world.borrow().sessions[1].is_some();
        poll_fn(|_| if is_called() { Poll::Ready(()) } else { Poll::Pending }).await;
        answer(VirtualPort(Rc::clone(&world), 1), spoken).await;
    });
    let mut cx = Context::from_waker(Waker::noop());
    let mut poll = |future: &mut Pin<&mut dyn Future<Output = ()>>| future.as_mut().poll(&mut cx);
    loop {
        let _ = poll(&mut (answering.as_mut() as Pin<&mut dyn Future<Output = ()>>));
        if poll(&mut (calling.as_mut() as Pin<&mut dyn Future<Output = ()>>)).is_ready() {
            break;
        }
        assert!(world.borrow_mut().advance(end), "nothing happens any more");
    }
    let world = &mut *world.borrow_mut();
    let (id, _) = world.sessions[0].unwrap();
    world.nodes[0].close(world.now, id);
    let end = world.now.plus_nanos(1_000_000_000);
    while world.advance(end) {}
    std::mem::take(&mut world.sent)
}

/// What each station sends over real interfaces, and the longest time without a frame meanwhile.
fn really(
    carrier: CarrierKind,
    profile: &Profile,
    spoken: Spoken,
) -> ([Vec<Vec<u8>>; 2], Duration) {
    let cable = Cable::with_macs(MACS);
    let plan = |end: usize| WiredPlan {
        name: Some(name(end)),
        profile: *profile,
        listens: end == 1,
        ..WiredPlan::new(place(["left", "right"][end]), carrier)
    };
    super::run(async {
        let (left, right) =
            (WiredNode::begin(&plan(0)).unwrap(), WiredNode::begin(&plan(1)).unwrap());
        left.ready().await.unwrap();
        right.ready().await.unwrap();
        let answering = async { answer(right.accept().await.unwrap().0, spoken).await };
        let calling = async {
            call(left.call(Peer::Name(name(1))).await.unwrap(), spoken).await;
            tokio::time::sleep(Duration::from_secs(1)).await;
        };
        // Straight on IPX nothing tells the server that the session is over.
        let serving = async {
            answering.await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = serving => {}
            () = calling => {}
        }
    });
    let log = std::mem::take(&mut *cable.log.lock().unwrap());
    let mut sent = [Vec::new(), Vec::new()];
    let mut stall = Duration::ZERO;
    let is_link = |frame: &[u8]| frame[0] & 1 == 0;
    for pair in log.windows(2).filter(|pair| is_link(&pair[0].2) && is_link(&pair[1].2)) {
        stall = stall.max(pair[1].0 - pair[0].0);
    }
    for (_, end, frame) in log {
        sent[end].push(frame);
    }
    (sent, stall)
}

#[test]
fn the_same_script_gives_the_same_frames_on_both_clocks() {
    let rows = [(WINDOWS_NT, Dialect::Nt), (IBM, Dialect::Core), (DOS, Dialect::LanMan1)];
    let rows = rows.map(|(profile, dialect)| (profile, Spoken::Smb(dialect)));
    let test = "nbf::scripted::the_same_script_gives_the_same_frames_on_both_clocks";
    compare(test, CarrierKind::Nbf, &rows);
}

#[test]
fn the_same_script_over_direct_ipx_gives_the_same_frames_on_both_clocks() {
    let test =
        "nbf::scripted::the_same_script_over_direct_ipx_gives_the_same_frames_on_both_clocks";
    // By the second of these dialects reads and writes are multiplexed.
    let rows = [Dialect::LanMan2, Dialect::Nt].map(|dialect| (WINDOWS_9X, Spoken::Smb(dialect)));
    compare(test, CarrierKind::Ipx, &rows);
}

#[test]
fn the_same_script_over_netbios_over_ipx_gives_the_same_frames_on_both_clocks() {
    let rows = [(WINDOWS_NT, Dialect::Nt), (WINDOWS_9X, Dialect::Core)];
    let rows = rows.map(|(profile, dialect)| (profile, Spoken::Smb(dialect)));
    let test =
        "nbf::scripted::the_same_script_over_netbios_over_ipx_gives_the_same_frames_on_both_clocks";
    compare(test, CarrierKind::Nbipx, &rows);
}

#[test]
fn the_same_script_on_xns_gives_the_same_frames_on_both_clocks() {
    let test = "nbf::scripted::the_same_script_on_xns_gives_the_same_frames_on_both_clocks";
    compare(test, CarrierKind::Spp, &[(DOS, Spoken::Smb(Dialect::Core))]);
}

#[test]
fn the_same_script_by_netware_gives_the_same_frames_on_both_clocks() {
    let test = "nbf::scripted::the_same_script_by_netware_gives_the_same_frames_on_both_clocks";
    let rows = [false, true].map(|bursts| (WINDOWS_NT, Spoken::NetWare { bursts }));
    compare(test, CarrierKind::Ncp, &rows);
}

/// Run the script on both clocks; `test` is the path of the test that asks for it.
fn compare(test: &str, carrier: CarrierKind, rows: &[(Profile, Spoken)]) {
    if runs_outside(test) {
        return;
    }
    let compared =
        |sent| all_without_clock(if carrier == CarrierKind::Ncp { of_netware(sent) } else { sent });
    for &(profile, spoken) in rows {
        let expected = compared(virtually(carrier, &profile, spoken));
        assert!(expected.iter().all(|frames| frames.len() > 35));
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (found, stall) = really(carrier, &profile, spoken);
            let found = compared(found);
            // Timers run out where this machine stands still: then both clocks saw different things.
            if stall > STALL && attempts < ATTEMPTS {
                continue;
            }
            let what = format!("{carrier:?} {} {spoken:?}, longest stall {stall:?}", profile.name);
            for end in 0..2 {
                let (found, expected) = (&found[end], &expected[end]);
                let at = found.iter().zip(expected).position(|(found, expected)| found != expected);
                let shown = at.map(|at| (at, &found[at], &expected[at]));
                assert_eq!(shown, None, "{what}: station {end}");
                assert_eq!(found.len(), expected.len(), "{what}: station {end}");
            }
            break;
        }
    }
}
