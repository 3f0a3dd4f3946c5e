//! Two nodes with their threads, in real time: no message is left behind, by the thread or by a program.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;

use lanlab_os::{LinkDescriptor, RawLinkPlace, monotonic};
use lanlab_stack::node::{CarrierKind, Peer};
use lanlab_stack::profile::{Profile, WINDOWS_NT};
use lanlab_units::Instant;
use lanlab_wire::netbios_name::{Name, suffix};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::{FrameLink, WiredNode, WiredPlan, WiredPort};

#[derive(Debug)]
struct End {
    socket: UdpSocket,
    mac: [u8; 6],
}

impl FrameLink for End {
    fn mac(&self) -> [u8; 6] {
        self.mac
    }

    fn interface(&self) -> &'static str {
        "test"
    }

    fn now(&self) -> Instant {
        monotonic()
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match self.socket.recv(into) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        Ok(self.socket.send(frame).is_ok())
    }

    fn new_drops(&mut self) -> u64 {
        0
    }
}

fn name(text: &str) -> Name {
    Name::new(text, suffix::SERVER).unwrap()
}

fn node(socket: UdpSocket, mac: u8, own: &str) -> Arc<WiredNode> {
    let mut profile: Profile = WINDOWS_NT;
    profile.query_interval_ns = 10_000_000;
    let place = RawLinkPlace::Interface("test".to_owned());
    let plan = WiredPlan::new(place, CarrierKind::Nbf);
    let plan = WiredPlan { name: Some(name(own)), profile, listens: true, ..plan };
    at(&plan, socket, mac).unwrap()
}

fn at(plan: &WiredPlan, socket: UdpSocket, mac: u8) -> io::Result<Arc<WiredNode>> {
    let descriptor = LinkDescriptor::of(&socket)?;
    let end = End { socket, mac: [2, 0, 0, 0, 0, mac] };
    WiredNode::at(plan, Box::new(end), descriptor)
}

pub fn unconnected(plan: &WiredPlan, socket: UdpSocket) -> io::Result<Arc<WiredNode>> {
    socket.set_nonblocking(true)?;
    at(plan, socket, 9)
}

struct Pair {
    here: Arc<WiredNode>,
    answers: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Pair {
    fn new() -> Self {
        let [here, there] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        for (end, other) in [(&here, &there), (&there, &here)] {
            end.connect(other.local_addr().unwrap()).unwrap();
            end.set_nonblocking(true).unwrap();
        }
        let (here, there) = (node(here, 1, "HERE"), node(there, 2, "THERE"));
        let (over, is_over) = oneshot::channel();
        let answers = std::thread::spawn(move || {
            run(async {
                tokio::select! {
                    () = answer_all(&there) => panic!("the link has ended"),
                    ended = is_over => ended.unwrap(),
                }
            });
        });
        run(here.ready()).unwrap();
        Self { here, answers: Some((over, answers)) }
    }

    fn call(&self) -> WiredPort {
        // The other node may get its name a little later.
        (0..100).find_map(|_| run(self.here.call(Peer::Name(name("THERE")))).ok()).unwrap()
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if let Some((over, answers)) = self.answers.take() {
            // If the thread has already ended, joining it shows why.
            let _ = over.send(());
            assert!(std::thread::panicking() || answers.join().is_ok());
        }
    }
}

async fn answer_all(node: &Arc<WiredNode>) {
    node.ready().await.unwrap();
    while let Ok((mut port, _)) = node.accept().await {
        tokio::spawn(async move {
            let mut message = Vec::new();
            while receive(&mut port, &mut message).await.is_ok() {
                send(&mut port, &message).await;
            }
        });
    }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_mins(1), work).await.unwrap() })
}

async fn receive(port: &mut WiredPort, into: &mut Vec<u8>) -> io::Result<()> {
    poll_fn(|cx| port.poll_receive(cx, into)).await
}

async fn send(port: &mut WiredPort, message: &[u8]) {
    poll_fn(|cx| port.poll_send(cx, [message, &[]])).await.unwrap();
}

async fn echoed(port: &mut WiredPort, message: &[u8]) {
    send(port, message).await;
    let mut answer = Vec::new();
    receive(port, &mut answer).await.unwrap();
    assert!(answer == message, "{} octets of {}", answer.len(), message.len());
}

async fn wait_once(port: &mut WiredPort) {
    poll_fn(|cx| {
        assert!(port.poll_receive(cx, &mut Vec::new()).is_pending());
        Poll::Ready(())
    })
    .await;
}

/// As [`wait_once`], on a free link, which the program then takes over.
async fn give_up(port: &mut WiredPort) {
    let before = port.link_takes();
    wait_once(port).await;
    // More than once if a frame arrives meanwhile.
    assert!(port.link_takes() > before);
}

#[test]
fn a_waiting_program_drives_the_link_until_its_message_arrives() {
    let pair = Pair::new();
    let mut port = pair.call();
    run(async {
        give_up(&mut port).await;
        echoed(&mut port, b"hello").await;
        assert!(!port.has_link());
    });
}

#[test]
fn a_cancelled_wait_withholds_no_frames() {
    let pair = Pair::new();
    let (mut first, mut second) = (pair.call(), pair.call());
    run(async {
        give_up(&mut first).await;
        echoed(&mut second, b"hello").await;
        assert!(!first.has_link());
        echoed(&mut first, b"again").await;
    });
}

#[test]
fn a_busy_program_withholds_no_frames_from_others() {
    let pair = Pair::new();
    let (mut first, mut second) = (pair.call(), pair.call());
    let (waits, has_begun) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    let busy = std::thread::spawn(move || {
        run(async {
            give_up(&mut first).await;
            waits.send(()).unwrap();
            is_done.recv_timeout(Duration::from_mins(1)).unwrap();
            echoed(&mut first, b"late").await;
        });
    });
    has_begun.recv().unwrap();
    run(echoed(&mut second, b"hello"));
    done.send(()).unwrap();
    busy.join().unwrap();
}

#[test]
fn closing_a_session_releases_the_link() {
    let pair = Pair::new();
    let (mut first, mut second) = (pair.call(), pair.call());
    run(async {
        give_up(&mut first).await;
        drop(first);
        give_up(&mut second).await;
        echoed(&mut second, b"hello").await;
    });
}

#[test]
fn a_finished_runtime_releases_the_link() {
    let pair = Pair::new();
    let mut port = pair.call();
    run(give_up(&mut port));
    run(echoed(&mut port, b"hello"));
}

#[test]
fn messages_of_many_programs_arrive_whole_and_in_order() {
    let pair = Pair::new();
    let programs: Vec<_> = (0..4_usize)
        .map(|program| {
            let mut port = pair.call();
            std::thread::spawn(move || {
                run(async {
                    for number in 0..150_usize {
                        let length = (program * 977 + number * 613) % 4000 + 1;
                        let message: Vec<u8> =
                            (0..length).map(|at| (at * 7 + number + program) as u8).collect();
                        if number % 3 == program % 3 {
                            wait_once(&mut port).await;
                        }
                        if number % 5 == 0 {
                            tokio::task::yield_now().await;
                        }
                        echoed(&mut port, &message).await;
                    }
                });
            })
        })
        .collect();
    for program in programs {
        program.join().unwrap();
    }
}
