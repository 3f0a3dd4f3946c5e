//! Round trips over `NetBEUI` and those of a kernel UDP echo on the same link, in one run.
//!
//! `bench/thread_hop.py` starts both ends, each in a network namespace of its own.

use std::future::poll_fn;
use std::net::UdpSocket;
use std::time::Instant;

use lanlab_connections::wired::{WiredNode, WiredPlan, WiredPort};
use lanlab_os::RawLinkPlace;
use lanlab_stack::node::{CarrierKind, Peer};
use lanlab_wire::netbios_name::{Name, suffix};

const PORT: u16 = 7000;
/// Round trips of one kind before those of the other.
const BLOCK: usize = 100;
const MESSAGE: [u8; 64] = [7; 64];

fn name(text: &str) -> Name {
    Name::new(text, suffix::SERVER).expect("a valid name")
}

fn plan(interface: &str, own: &str, listens: bool) -> WiredPlan {
    let place = RawLinkPlace::Interface(interface.to_owned());
    WiredPlan { name: Some(name(own)), listens, ..WiredPlan::new(place, CarrierKind::Nbf) }
}

async fn receive(port: &mut WiredPort, into: &mut Vec<u8>) -> bool {
    poll_fn(|cx| port.poll_receive(cx, into)).await.is_ok()
}

async fn answer(interface: &str, address: &str) {
    let socket = UdpSocket::bind((address, PORT)).expect("a socket");
    std::thread::spawn(move || {
        let mut buffer = [0; 2048];
        while let Ok((length, peer)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..length], peer);
        }
    });
    let node = WiredNode::begin(&plan(interface, "ECHO", true)).expect("a link");
    node.ready().await.expect("a name");
    println!("ready");
    let (mut port, _) = node.accept().await.expect("a call");
    let mut message = Vec::new();
    while receive(&mut port, &mut message).await {
        let sent = poll_fn(|cx| port.poll_send(cx, [&message, &[]])).await;
        if sent.is_err() {
            return;
        }
    }
}

async fn ask(interface: &str, address: &str, blocks: usize) {
    let node = WiredNode::begin(&plan(interface, "ASKER", false)).expect("a link");
    node.ready().await.expect("a name");
    let mut port = node.call(Peer::Name(name("ECHO"))).await.expect("a session");
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    socket.connect((address, PORT)).expect("an address");
    let (mut udp_ns, mut nbf_ns) = (Vec::new(), Vec::new());
    let (mut buffer, mut message) = ([0; 2048], Vec::new());
    for _ in 0..blocks {
        for _ in 0..BLOCK {
            let start = Instant::now();
            socket.send(&MESSAGE).expect("sent");
            socket.recv(&mut buffer).expect("received");
            udp_ns.push(start.elapsed().as_nanos());
        }
        for _ in 0..BLOCK {
            let start = Instant::now();
            poll_fn(|cx| port.poll_send(cx, [&MESSAGE, &[]])).await.expect("sent");
            assert!(receive(&mut port, &mut message).await, "the session ended");
            nbf_ns.push(start.elapsed().as_nanos());
        }
    }
    for (what, times) in [("udp", &mut udp_ns), ("nbf", &mut nbf_ns)] {
        times.sort_unstable();
        let at = |share: usize| times[times.len() * share / 100] / 1000;
        println!("{what}: p10 {} µs, p50 {} µs, p90 {} µs", at(10), at(50), at(90));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["answer", interface, address] => runtime.block_on(answer(interface, address)),
        ["ask", interface, address, blocks] => {
            runtime.block_on(ask(interface, address, blocks.parse().expect("a number")));
        }
        _ => eprintln!("thread_hop answer|ask INTERFACE ADDRESS [BLOCKS]"),
    }
}
