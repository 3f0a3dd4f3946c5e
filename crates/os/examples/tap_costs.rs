//! CPU time of the system calls for a frame: reading it from a TAP, and writing it to one (Linux, root):
//! `cargo build --release --package lanlab-os --example tap_costs` and `unshare --net
//! target/release/examples/tap_costs`.
//!
//! A write runs the receiving side of the host's network stack, up to its socket, before it returns. The
//! parts alternate, so that other load affects all of them.

use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Command;
use std::time::Duration;

use lanlab_messages::SetUpHosts;
use lanlab_os::{
    HostPlan, Interest, Port, PortKind, PortPlan, Readiness, make_ports, set_up_hosts,
    thread_cpu_ns,
};

const ROUNDS: usize = 2_000;
/// Frames between two readings of the clock: fewer than the interface's queue holds.
const BATCH: usize = 128;
const INTERFACE: &str = "wire0";
const HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1));
const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2));
const HOST_MAC: [u8; 6] = [2, 0x77, 0, 0, 0, 1];
const PEER_MAC: [u8; 6] = [2, 0x77, 0, 0, 0, 2];
const NOBODYS_MAC: [u8; 6] = [2, 0x77, 0, 0, 0, 3];
const SOURCE_PORT: u16 = 5201;
const DRAINED_PORT: u16 = 5202;
const WAITED_PORT: u16 = 5203;
const LAST: &[u8] = b"last";
const MESSAGE: &[u8; 18] = &[7; 18];

struct Part {
    name: &'static str,
    times_ns: Vec<f64>,
}

impl Part {
    fn new(name: &'static str) -> Self {
        Self { name, times_ns: Vec::with_capacity(ROUNDS) }
    }

    fn time(&mut self, mut call: impl FnMut()) {
        let before_ns = thread_cpu_ns();
        (0..BATCH).for_each(|_| call());
        self.times_ns.push((thread_cpu_ns() - before_ns) as f64 / BATCH as f64);
    }

    fn print(&mut self) {
        self.times_ns.sort_by(f64::total_cmp);
        let at = |share: f64| self.times_ns[(self.times_ns.len() as f64 * share) as usize];
        println!("{:52} {:6.0} {:6.0} {:6.0}", self.name, at(0.05), at(0.5), at(0.95));
    }
}

fn socket(port: u16) -> std::io::Result<UdpSocket> {
    UdpSocket::bind(SocketAddr::new(HOST, port))
}

/// The frame that answers `frame`: swapping addresses and ports keeps the checksums valid.
fn answer(frame: &[u8], to_mac: [u8; 6], to_port: u16) -> Vec<u8> {
    let mut answer = frame.to_vec();
    answer[..6].copy_from_slice(&to_mac);
    answer[6..12].copy_from_slice(&PEER_MAC);
    answer[26..30].copy_from_slice(&frame[30..34]);
    answer[30..34].copy_from_slice(&frame[26..30]);
    answer[34..36].copy_from_slice(&frame[36..38]);
    answer[36..38].copy_from_slice(&to_port.to_be_bytes());
    // No checksum (RFC 768), because the port differs.
    answer[40..42].fill(0);
    answer
}

fn read_all(tap: &Port, into: &mut [u8]) {
    while tap.receive(into).expect("a frame").is_some() {}
}

fn drain(socket: &UdpSocket, into: &mut [u8]) -> usize {
    let mut messages = 0;
    loop {
        match socket.recv(into) {
            Ok(_) => messages += 1,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return messages,
            Err(error) => panic!("{error}"),
        }
    }
}

fn ip(arguments: &[&str]) {
    assert!(Command::new("ip").args(arguments).status().expect("`ip` of iproute2").success());
}

fn main() -> std::io::Result<()> {
    if lanlab_os::interfaces()?.keys().any(|name| name != "lo") {
        return Err(Error::other("run it in a network namespace of its own: unshare --net"));
    }
    // The interface would send frames of its own.
    std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")?;
    let namespace_pid = std::process::id();
    let plan = PortPlan { namespace_pid, interface: INTERFACE.to_owned(), mac: HOST_MAC };
    let (tap, _queue) = make_ports(&[plan], PortKind::Tap)?.remove(0);
    let host = |mac, address: IpAddr| HostPlan {
        namespace_pid,
        interface: INTERFACE.to_owned(),
        mac,
        addresses: vec![(address, 24)],
    };
    let settings =
        SetUpHosts { hosts: Vec::new(), mtu_bytes: 1500, queue_frames: 500, segments: None };
    set_up_hosts(&[host(HOST_MAC, HOST)], &settings)?;
    ip(&["neigh", "replace", &PEER.to_string(), "lladdr", "02:77:00:00:00:02", "dev", INTERFACE]);

    let mut into = [0; 1518];
    let source = socket(SOURCE_PORT)?;
    source.connect(SocketAddr::new(PEER, SOURCE_PORT))?;
    let drained = socket(DRAINED_PORT)?;
    drained.set_nonblocking(true)?;
    let waited = socket(WAITED_PORT)?;
    let waiting = std::thread::spawn(move || {
        let mut into = [0; 64];
        while waited.recv(&mut into).is_ok_and(|length| into[..length] != *LAST) {}
    });
    read_all(&tap, &mut into);
    source.send(MESSAGE)?;
    let length = loop {
        match tap.receive(&mut into)? {
            Some(length) if length == 14 + 28 + MESSAGE.len() => break length,
            _ => {}
        }
    };
    let frame = into[..length].to_vec();
    let to_drained = answer(&frame, HOST_MAC, DRAINED_PORT);
    let to_waited = answer(&frame, HOST_MAC, WAITED_PORT);
    let to_nobody = answer(&frame, NOBODYS_MAC, DRAINED_PORT);
    let mut readiness = Readiness::new(2)?;
    readiness.watch(&tap, 0, Interest::Read)?;

    let mut clock = Part::new("clock_gettime, without a system call");
    let mut empty = Part::new("clock_gettime of the thread, an almost empty call");
    let mut read = Part::new("read of a frame of 60 bytes");
    let mut read_none = Part::new("read, no frame there");
    let mut wait_ready = Part::new("epoll_pwait2, a frame is there");
    let mut wait_none = Part::new("epoll_pwait2 of 0 ns, no frame there");
    let mut wait_sleep = Part::new("epoll_pwait2 of 5 µs, no frame there");
    let mut write = Part::new("write to a socket that is read later");
    let mut write_waited = Part::new("write to a socket that a thread waits for");
    let mut write_nobody = Part::new("write of a frame for another host");
    let mut write_down = Part::new("write, the interface is down");
    for round in 0..ROUNDS {
        clock.time(|| {
            lanlab_os::monotonic();
        });
        empty.time(|| {
            thread_cpu_ns();
        });
        read_all(&tap, &mut into);
        for _ in 0..BATCH {
            source.send(MESSAGE)?;
        }
        wait_ready.time(|| assert_eq!(readiness.wait(Duration::ZERO).expect("ready").count(), 1));
        read.time(|| assert_eq!(tap.receive(&mut into).expect("a frame"), Some(length)));
        read_none.time(|| assert_eq!(tap.receive(&mut into).expect("none"), None));
        wait_none.time(|| assert_eq!(readiness.wait(Duration::ZERO).expect("none").count(), 0));
        if round % 16 == 0 {
            let short = Duration::from_micros(5);
            wait_sleep.time(|| assert_eq!(readiness.wait(short).expect("none").count(), 0));
        }
        write.time(|| assert!(tap.send(&to_drained).expect("taken")));
        assert_eq!(drain(&drained, &mut into), BATCH);
        write_waited.time(|| assert!(tap.send(&to_waited).expect("taken")));
        write_nobody.time(|| assert!(tap.send(&to_nobody).expect("taken")));
        assert_eq!(drain(&drained, &mut into), 0);
    }
    ip(&["link", "set", INTERFACE, "down"]);
    for _ in 0..ROUNDS {
        write_down.time(|| assert!(!tap.send(&to_drained).expect("refused")));
    }
    UdpSocket::bind("127.0.0.1:0")?.send_to(LAST, SocketAddr::new(HOST, WAITED_PORT))?;
    waiting.join().expect("it ends");
    println!("{:52} {:>6} {:>6} {:>6}", "thread processor time, ns a call", "p5", "p50", "p95");
    for part in [
        &mut clock,
        &mut empty,
        &mut read,
        &mut read_none,
        &mut wait_ready,
        &mut wait_none,
        &mut wait_sleep,
        &mut write,
        &mut write_waited,
        &mut write_nobody,
        &mut write_down,
    ] {
        part.print();
    }
    Ok(())
}
